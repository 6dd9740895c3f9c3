"""The results as data: CSV and JSON."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

from manylabel.compare.plan import Problem
from manylabel.compare.results import Line, Results
from manylabel.compare.significance import SENTENCE
from manylabel.compare.tables import describe

__all__ = ["to_csv", "to_json"]


def to_csv(results: Results) -> str:
    """The results as CSV: one line per measure of each run, including times and memory."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["corpus", "model", "seed", "measure", "value"])
    for cell in results.cells:
        if cell.key not in results.finished:
            continue
        run = results.finished[cell.key]
        start = [cell.problem.name, cell.row.title, cell.seed]
        for name, value in run.measures.items():
            writer.writerow([*start, name, "" if math.isnan(value) else repr(value)])
        for phase, took in run.record["seconds"].items():
            writer.writerow([*start, f"{phase}-seconds", f"{took:.4f}"])
        writer.writerow([*start, "peak-bytes", run.record["memory"]["peak"]])
    return stream.getvalue()


def to_json(results: Results) -> dict[str, Any]:
    """The results as data for JSON: everything that tables and plots show."""
    plan = results.plan
    return {
        "title": plan.title,
        "metrics": list(plan.metrics),
        "seeds": plan.seeds,
        "threads": plan.n_jobs,
        "source": plan.source,
        "notes": plan.sentences(),
        "test": SENTENCE,
        "command": results.command,
        "date": results.date,
        "corpora": {
            problem.name: {
                "description": describe(results, problem),
                "models": {
                    line.title: _line_json(results, problem, line)
                    for line in results.lines[problem.name]
                },
                "pairs": {
                    name: [
                        {"models": list(pair), "p-value": p_value}
                        for pair, p_value in results.pairs(problem, name).items()
                    ]
                    for name in plan.metrics
                },
            }
            for problem in plan.problems
        },
        "ranks": results.ranks,
    }


def _line_json(results: Results, problem: Problem, line: Line) -> dict[str, Any]:
    runs = results.runs(problem, line.title)
    return {
        "measures": {
            name: {
                "mean": value.mean,
                "deviation": value.deviation,
                "best": value.is_best,
                "p-value": value.p_value,
                "interval": value.interval,
            }
            for name, value in line.values.items()
        },
        "published": line.published,
        "seconds": line.seconds,
        "peak-bytes": line.memory,
        "settings": line.settings,
        "runs": line.n_runs,
        "error": line.error,
        "curves": runs[0].record["curves"] if runs else {},
    }
