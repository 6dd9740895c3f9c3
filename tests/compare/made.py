"""Results without running anything: answers made up, measured as the processes measure them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from manylabel.compare import Plan, Problem, Results, Row
from manylabel.compare.cells import Cell, Finished, plain
from manylabel.compare.worker import _curves, _measure
from manylabel.metrics.registry import Inputs

TRAIN = (np.random.default_rng(9).random((200, 12)) < np.linspace(0.02, 0.5, 12)).astype(int)


def finished(skill: float, seed: int, plan: Plan, with_scores: bool = True) -> Finished:
    """The cell of a model that is right as often as its skill says."""
    rng = np.random.default_rng(3)
    truth = (rng.random((50, 12)) < np.linspace(0.02, 0.5, 12)).astype(int)
    noise = np.random.default_rng(seed).random(truth.shape)
    scores = skill * truth + (1 - skill) * noise
    given = Inputs(truth, scores if with_scores else None, (scores > 0.6).astype(int), TRAIN)
    measures, parts = _measure(given, plan.names_measured())
    record = {
        "seconds": {"load": 0.1, "train": 2.0 * skill, "predict": 0.5, "measure": 0.1},
        "memory": {"start": 1e8, "trained": 2e8, "peak": 3e8},
        "settings": {"k": 3, "name": "<i>"},
        "measures": measures,
        "curves": _curves(given),
        "machine": {"python": "3"},
    }
    return Finished(plain(record), parts)


def made_results(plan: Plan, skills: dict[str, float], failed: dict[str, str]) -> Results:
    """Results of a plan whose rows have these skills."""
    cells, found, reasons = [], {}, {}
    for problem in plan.problems:
        for row in plan.rows_of(problem):
            for seed in plan.seeds_of(problem):
                cell = Cell(problem, problem.name, row, seed, f"{problem.name}/{row.title}/{seed}")
                cells.append(cell)
                if row.title in failed:
                    reasons[cell.key] = failed[row.title]
                else:
                    with_scores = row.title != "sets only"
                    found[cell.key] = finished(skills[row.title], seed, plan, with_scores)
    corpus = {
        "documents": [200, 50],
        "features": 9,
        "labels": 12,
        "cardinality": 3.0,
        "frequencies": TRAIN.sum(axis=0).tolist(),
    }
    return Results(plan, cells, found, reasons, {p.name: corpus for p in plan.problems})


def made_plan(**changes) -> Plan:
    """Two corpora, four models, and a published number or two."""
    problems = (Problem("one", "a", "b", title="One & <Only>"), Problem("two", "a", "b"))
    rows = tuple(Row(title, "lcif") for title in ("good", "<b>bad</b>", "sets only", "broken"))
    plan = Plan(
        "A title with <script>alert(1)</script>",
        problems,
        rows,
        metrics=("p@1", "micro-f1", "hamming-loss"),
        published={
            ("one", "good"): {"p@1": 0.9, "micro-f1": 0.1, "train-seconds": 7},
            ("one", "Elsewhere"): {"p@1": 0.5},
        },
        source="A paper (2000), table 1",
        notes=("A note | with a bar.",),
    )
    return replace(plan, **changes)


SKILLS = {"good": 0.9, "<b>bad</b>": 0.3, "sets only": 0.5}
FAILED = {"broken": "it broke | badly"}
