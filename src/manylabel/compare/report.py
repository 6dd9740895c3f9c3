"""Write the folder of a report: tables, plots, and one page with everything."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from manylabel.compare.cells import plain
from manylabel.compare.data_files import to_csv, to_json
from manylabel.compare.latex import to_latex
from manylabel.compare.page import to_html
from manylabel.compare.plots import Plot, plots_of
from manylabel.compare.results import Results
from manylabel.compare.tables import to_markdown
from manylabel.exceptions import MissingExtraError

__all__ = ["write_report", "write_text"]


def write_report(results: Results, out: Path) -> list[Path]:
    """Write the report and return the paths of its files.

    Without Matplotlib, the report has no plots.
    """
    plots = _plots(results)
    files: dict[str, str | bytes] = {
        "index.html": to_html(results, plots),
        "results.md": to_markdown(results),
        "results.tex": to_latex(results),
        "results.csv": to_csv(results),
        "results.json": json.dumps(plain(to_json(results)), indent=1, ensure_ascii=False) + "\n",
    }
    for corpus, drawn in plots.items():
        for plot in drawn:
            files[f"plots/{_file_name(corpus)}-{plot.name}.svg"] = plot.svg
            files[f"plots/{_file_name(corpus)}-{plot.name}.pdf"] = plot.pdf
    return [write_text(out / name, content) for name, content in files.items()]


def _plots(results: Results) -> dict[str, list[Plot]]:
    try:
        return {problem.name: plots_of(results, problem) for problem in results.plan.problems}
    except MissingExtraError:
        return {}


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name)


def write_text(path: Path, content: str | bytes) -> Path:
    """Write a file; it appears under its name when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_bytes(content.encode() if isinstance(content, str) else content)
    os.replace(part, path)
    return path
