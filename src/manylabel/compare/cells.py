"""Cells: one row on one problem with one seed, and its result.

A finished cell is two files, arrays first and then JSON, each appearing under its name when it is
complete. The name is a hash of everything that the result depends on, so a cell whose files exist
need not run again.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manylabel import __version__
from manylabel.compare.data import digest, problem_key
from manylabel.compare.estimators import source_of
from manylabel.compare.plan import Plan, Problem, Row

__all__ = [
    "Cell",
    "Finished",
    "cells_of",
    "is_finished",
    "job_of",
    "plain",
    "read_cell",
    "write_cell",
    "write_json",
]

#: Increase this when the definition of a measure changes, so that finished cells run again.
_MEASURES = 2
#: Arrays of label counts have this before the measure in their file.
_COUNTS = "counts/"


@dataclass(frozen=True)
class Cell:
    """One run: a row on a problem, with a seed."""

    problem: Problem
    problem_key: str
    row: Row
    seed: int
    key: str

    @property
    def split(self) -> int | None:
        """The number of the random split; None if train and test are given."""
        return self.seed if self.problem.is_split else None

    @property
    def title(self) -> str:
        """A title for the progress bar."""
        run = f"fold {self.seed + 1}" if self.problem.folds else f"seed {self.seed}"
        return f"{self.problem.name}, {self.row.title}, {run}"


@dataclass(frozen=True)
class Finished:
    """The result of a cell."""

    record: dict[str, Any]
    #: Measure -> numerator and denominator of each document or label.
    units: dict[str, NDArray[np.float64]]
    #: Measure that the model was tuned for -> documents of each label, in three rows: correctly
    #: predicted, predicted, true. Empty for other models, and in older cells.
    counts: dict[str, NDArray[np.int64]] = field(default_factory=dict)

    @property
    def measures(self) -> dict[str, float]:
        """Values by name; NaN if a measure is undefined."""
        return {
            name: math.nan if value is None else value
            for name, value in self.record["measures"].items()
        }


def cells_of(plan: Plan) -> list[Cell]:
    """Every cell of a plan, problem by problem, seed by seed."""
    cells = []
    shared = [plan.names_measured(), plan.top, plan.n_jobs, _MEASURES, __version__]
    for problem in plan.problems:
        rows = [(row, row.depends_on_seed, _identity(row)) for row in plan.rows_of(problem)]
        seeds = plan.seeds_of(problem)
        splits: list[int | None] = list(seeds) if problem.is_split else [None]
        corpora = {split: problem_key(problem, split) for split in splits}
        for seed in seeds:
            corpus = corpora[seed if problem.is_split else None]
            for row, varies, identity in rows:
                if seed == 0 or varies or problem.is_split:
                    key = digest([corpus, identity, seed, *shared])
                    cells.append(Cell(problem, corpus, row, seed, key))
    return cells


def _identity(row: Row) -> list[Any]:
    """Everything about a row except its title."""
    source = hashlib.sha256(source_of(row)).hexdigest()
    # The parameters of a preset may change while its name stays.
    made = None if row.preset is None else repr(sorted(row.make().get_params().items()))
    tuning = [list(row.tuned_for), row.grid, row.chooses]
    return [row.model, dict(row.parameters), row.preset, made, *tuning, source]


def job_of(cell: Cell, plan: Plan, folder: Path, corpus: Path) -> dict[str, Any]:
    """The job of the process that runs a cell, as data for JSON."""
    return {
        "row": asdict(cell.row),
        "seed": cell.seed,
        "n_jobs": plan.n_jobs,
        "metrics": plan.names_measured(),
        "top": plan.top,
        "corpus": str(corpus),
        "folder": str(folder),
        "key": cell.key,
    }


def is_finished(folder: Path, key: str) -> bool:
    """Whether a cell has a result."""
    return (folder / f"{key}.json").exists()


def read_cell(folder: Path, key: str) -> Finished:
    """Read a finished cell."""
    record = json.loads((folder / f"{key}.json").read_text(encoding="utf-8"))
    with np.load(folder / f"{key}.npz", allow_pickle=False) as arrays:
        counts = {
            name.removeprefix(_COUNTS): arrays[name].astype(np.int64)
            for name in arrays.files
            if name.startswith(_COUNTS)
        }
        units = {
            name: arrays[name].astype(np.float64)
            for name in arrays.files
            if not name.startswith(_COUNTS)
        }
    return Finished(record, units, counts)


def write_cell(folder: Path, key: str, finished: Finished) -> None:
    """Write a finished cell: arrays first, so that the JSON file means it is complete."""
    arrays = folder / f"{key}.npz.part"
    with open(arrays, "wb") as stream:
        kept: Any = {name: values.astype(np.float32) for name, values in finished.units.items()}
        kept |= {_COUNTS + name: values for name, values in finished.counts.items()}
        np.savez_compressed(stream, **kept)
    os.replace(arrays, folder / f"{key}.npz")
    write_json(folder / f"{key}.json", finished.record)


def write_json(path: Path, value: Any) -> None:
    """Write JSON; the file appears when it is complete. NaN becomes null."""
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_text(json.dumps(plain(value), indent=1, allow_nan=False), encoding="utf-8")
    os.replace(unfinished, path)


def plain(value: Any) -> Any:
    """Convert a value to types that JSON has; NaN becomes null."""
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int | bool | None) else str(value)
