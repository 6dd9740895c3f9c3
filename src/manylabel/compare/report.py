"""The folder of a report: tables for people and programs, plots, and one page with everything."""

from __future__ import annotations

import json
import os
from pathlib import Path

from manylabel.compare.cells import plain
from manylabel.compare.results import Results
from manylabel.compare.tables import to_csv, to_json, to_markdown

__all__ = ["write_report", "write_text"]


def write_report(results: Results, out: Path) -> list[Path]:
    """Write the report and say which files it has."""
    files = {
        "results.md": to_markdown(results),
        "results.csv": to_csv(results),
        "results.json": json.dumps(plain(to_json(results)), indent=1, ensure_ascii=False) + "\n",
    }
    return [write_text(out / name, content) for name, content in files.items()]


def write_text(path: Path, content: str) -> Path:
    """Write a file that appears under its name when it is complete."""
    part = path.with_name(path.name + ".part")
    part.write_text(content, encoding="utf-8")
    os.replace(part, path)
    return path
