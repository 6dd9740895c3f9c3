"""Run every preset that has its corpora; write ``docs/results.md`` and the table
of ``docs/benchmarks/index.md``.

    python docs/make_results.py [--presets NAME ...] [--corpora NAME ...] [--jobs N]

What is finished in the output folder does not run again; each preset's page with plots is there.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

from manylabel.cli.compare_progress import watching
from manylabel.compare import PRESETS, make_preset, run
from manylabel.compare.presets import data_folder
from manylabel.compare.report import write_report, write_text
from manylabel.compare.summary import highlight_table, summary_page

PAGE = Path(__file__).parent / "results.md"
SUMMARY = Path(__file__).parent / "benchmarks" / "index.md"
#: What stands in the summary before and after its table of results.
MARKS = ("<!-- Made by `make reproduce`. -->\n", "\n<!-- Until here. -->")


def main() -> None:
    """Run the presets one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("reproduction"))
    parser.add_argument("--data")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--presets", nargs="+", choices=PRESETS, default=list(PRESETS))
    parser.add_argument("--corpora", nargs="+")
    parser.add_argument("--seeds", type=int, help="fewer than the presets have")
    arguments = parser.parse_args()
    data = data_folder(arguments.data)
    found = {}
    left_out = {name: f"all of {name}" for name in PRESETS}
    for name in arguments.presets:
        known = [problem.name for problem in make_preset(name, data).problems]
        chosen = [corpus for corpus in known if corpus in (arguments.corpora or known)]
        if not chosen:
            continue
        plan = replace(make_preset(name, data, chosen), n_jobs=arguments.jobs)
        plan = replace(plan, seeds=min(plan.seeds, arguments.seeds or plan.seeds))
        with watching(quiet=False) as watcher:
            found[name] = run(plan, arguments.out / name, watcher=watcher)
        write_report(found[name], arguments.out / name)
        del left_out[name]
        if chosen != known:
            others = [corpus for corpus in known if corpus not in chosen]
            left_out[name] = f"{name} on {', '.join(others)}"
        write_text(PAGE, summary_page(found, list(left_out.values())))
    if not left_out:
        before, rest = SUMMARY.read_text("utf-8").split(MARKS[0])
        after = rest.split(MARKS[1], 1)[1]
        table = highlight_table(dict(reversed(found.items())))
        write_text(SUMMARY, before + table.join(MARKS) + after)


if __name__ == "__main__":
    main()
