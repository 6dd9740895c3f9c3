"""Run the papers' presets; write ``docs/results.md``, which names every table and figure.

    python docs/make_results.py [--presets NAME ...] [--corpora NAME ...] [--seeds N] [--jobs N]
    python docs/make_results.py --collect

Pictures of the figures go to ``docs/images``. Runs that are finished in the output folder are not
repeated; it also has each preset's page with plots. The examples of topic models,
``docs/models/topics-examples.md``, run and resume like a preset, under the name
``rubin-examples``. Once everything is finished, the table of ``docs/benchmarks/tables.md`` is
written, too.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

from manylabel.cli.compare_progress import watching
from manylabel.compare import PRESETS, make_preset, run
from manylabel.compare.data import features
from manylabel.compare.figures import figure_sections
from manylabel.compare.inventory import future_table, inventory_table
from manylabel.compare.presets import data_folder
from manylabel.compare.presets.corpora import problem as corpus_problem
from manylabel.compare.report import write_report, write_text
from manylabel.compare.results import Results
from manylabel.compare.searching import search_tables
from manylabel.compare.summary import highlight_table, results_page
from manylabel.compare.topics_examples import example_findings
from manylabel.compare.topics_page import examples_page

PAGE = Path(__file__).parent / "results.md"
IMAGES = Path(__file__).parent / "images"
EXAMPLES_PAGE = Path(__file__).parent / "models" / "topics-examples.md"
SUMMARY = Path(__file__).parent / "benchmarks" / "tables.md"
#: The presets of the papers.
PAPERS = tuple(name for name in PRESETS if name != "xmc")
#: The name of the examples of topic models, and their corpus.
EXAMPLES, LAWS = "rubin-examples", "eurlex57k"
#: The lines before and after the table of results in the summary.
MARKS = ("<!-- Made by `make reproduce`. -->\n", "\n<!-- Until here. -->")


def main() -> None:
    """Run the presets one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("reproduction"))
    parser.add_argument("--data")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    names = [*PAPERS, EXAMPLES]
    parser.add_argument("--presets", nargs="+", choices=names, default=names)
    parser.add_argument("--corpora", nargs="+")
    parser.add_argument("--seeds", type=int, help="fewer than the presets have")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--collect", action="store_true", help="run nothing, write the pages")
    what.add_argument("--run-only", action="store_true", help="run, and write no page")
    arguments = parser.parse_args()
    data = data_folder(arguments.data)
    by_preset = {}
    for name in PAPERS:
        plan = replace(make_preset(name, data), n_jobs=arguments.jobs)
        plan = replace(plan, seeds=min(plan.seeds, arguments.seeds or plan.seeds))
        for problem in plan.problems:
            wanted = problem.name in (arguments.corpora or [problem.name])
            if wanted and name in arguments.presets and not arguments.collect:
                with watching(quiet=False) as watcher:
                    run(replace(plan, problems=(problem,)), arguments.out / name, watcher=watcher)
        by_preset[name] = run(plan, arguments.out / name, collect=True)
        if by_preset[name].finished and not arguments.run_only:
            write_report(by_preset[name], arguments.out / name)
    wanted = EXAMPLES in arguments.presets and LAWS in (arguments.corpora or [LAWS])
    collect = arguments.collect or not wanted
    shown = _write_examples(data, arguments.out / "examples", arguments.jobs, collect)
    if arguments.run_only:
        return
    _write_page(by_preset, arguments.out, arguments.collect, arguments.corpora, shown)
    if all(len(results.finished) == len(results.cells) for results in by_preset.values()):
        before, rest = SUMMARY.read_text("utf-8").split(MARKS[0])
        after = rest.split(MARKS[1], 1)[1]
        table = highlight_table(dict(reversed(by_preset.items())))
        write_text(SUMMARY, before + table.join(MARKS) + after)


def _write_examples(data: Path, out: Path, n_jobs: int, collect: bool) -> str:
    """Write the page with examples of topic models, and return their status."""
    laws = corpus_problem(data, LAWS)
    if not Path(laws.train).exists():
        return "not run yet"
    findings = example_findings(laws, out, n_jobs, collect)
    if findings is None:
        return "not run yet"
    write_text(EXAMPLES_PAGE, examples_page(findings))
    return f"shown for {laws.heading}"


def _write_page(
    by_preset: dict[str, Results],
    out: Path,
    collect: bool,
    corpora: list[str] | None,
    examples: str,
) -> None:
    """The page that names every table and figure, also those that were not run."""
    problems = by_preset["lcif-table-2"].plan.problems
    if corpora and not collect:
        wanted = tuple(problem for problem in problems if problem.name in corpora)
        search_tables(wanted, out / "searches", features)
    searches, status = search_tables(problems, out / "searches", features, collect or bool(corpora))
    inventory = inventory_table(by_preset, status, examples)
    figures = {}
    for name, results in by_preset.items():
        figures[name], pictures = figure_sections(name, results)
        for file, picture in pictures.items():
            write_text(IMAGES / file, picture)
    write_text(PAGE, results_page(by_preset, searches, inventory, future_table(), figures))


if __name__ == "__main__":
    main()
