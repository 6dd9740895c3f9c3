"""The process that runs one cell: ``python -m manylabel.compare.worker JOB.json``.

A process of its own makes peak memory a model's own, and keeps one model from slowing the next.
Each phase is announced on standard output as a line of JSON; so is an error, as one sentence.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import sys
import time
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from manylabel.compare.adapter import answers, settings_of, tuning_seconds
from manylabel.compare.cells import Finished, write_cell
from manylabel.compare.curves import calibration, precision_recall
from manylabel.compare.data import Data, load
from manylabel.compare.estimators import make_estimator, make_search
from manylabel.compare.plan import Row
from manylabel.compare.units import units
from manylabel.exceptions import ManylabelError
from manylabel.metrics import get_measure
from manylabel.metrics.registry import Given
from manylabel.progress import peak_memory

__all__ = ["main", "run_job"]

#: Documents of the run that loads kernels and is not timed.
_FEW = 40


class _Clock:
    """Times phases and tells of each as it begins."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        _tell({"phase": name})
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def add(self, name: str, seconds: float) -> None:
        """Tell how much of the phases was something that has a name."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds


def run_job(job: dict[str, Any]) -> None:
    """Train, predict, measure, and write the finished cell."""
    clock = _Clock()
    row = Row(**job["row"])
    with clock.phase("load"):
        data = load(Path(job["corpus"]))
    if row.is_ours:
        with clock.phase("compile"):
            _warm_up(*_few(row, job, data))
    memory = {"start": peak_memory()}
    measures: dict[str, float] = {}
    measured: dict[str, Any] = {}
    curves: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for estimator, names in _estimators(row, job, data):
        with clock.phase("train"):
            estimator.fit(data.X_train, data.Y_train)
        clock.add("tune", tuning_seconds(estimator))
        memory["trained"] = peak_memory()
        with clock.phase("predict"):
            scores, labels = answers(estimator, data.X_test, job["top"])
        memory["peak"] = peak_memory()
        with clock.phase("measure"):
            given = Given(data.Y_test, scores, labels, data.Y_train)
            values, compared = _measure(given, names)
            curves = curves or _curves(given)
        measures.update(values)
        measured.update(compared)
        settings = settings or settings_of(estimator)
    record = {
        "key": job["key"],
        "row": job["row"],
        "seed": job["seed"],
        "settings": settings,
        "seconds": clock.seconds,
        "memory": memory,
        "measures": {name: measures[name] for name in job["metrics"] if name in measures},
        "curves": curves,
        "machine": _machine(),
    }
    write_cell(Path(job["folder"]), job["key"], Finished(record, measured))


def _cluster_of(job: dict[str, Any]) -> contextlib.AbstractContextManager[Any]:
    """The cluster that a job wants to run on; files for it lie beside the corpus."""
    if job.get("cluster") is None:
        return contextlib.nullcontext()
    from manylabel.distributed import connect

    beside, spool = Path(job["corpus"]) / "spool", job.get("spool")
    return connect(job["cluster"], f"dask:{beside}" if spool == "dask" else spool or beside)


def _estimators(row: Row, job: dict[str, Any], data: Data) -> Iterator[tuple[Any, list[str]]]:
    """Estimators to fit, and the measures that are reported of each."""
    if not row.tuned_for:
        yield make_estimator(row, job["seed"], job["n_jobs"]), job["metrics"]
        return
    if row.chooses is not None:
        from manylabel.compare.choosing import Choice, ChosenFor

        model = make_estimator(row, job["seed"], job["n_jobs"])
        choice = Choice(model, row.grid or {}, tuple(row.tuned_for), row.chooses, data)
        others = [name for name in job["metrics"] if name not in row.tuned_for]
        for place, measure in enumerate(row.tuned_for):
            yield ChosenFor(choice, measure), [measure, *others] if place == 0 else [measure]
        return
    for place, measure in enumerate(row.tuned_for):
        others = [name for name in job["metrics"] if name not in row.tuned_for]
        search = make_search(row, measure, job["seed"], job["n_jobs"], data.X_test.shape[0])
        yield search, [measure, *others] if place == 0 else [measure]


def _few(row: Row, job: dict[str, Any], data: Data) -> tuple[Any, Data]:
    """A row's first estimator, and a few documents for it."""
    n = slice(0, min(_FEW, data.X_train.shape[0]))
    few = Data(data.X_train[n], data.Y_train[n], data.X_test[:2], data.Y_test[:2])
    return next(_estimators(row, job, few))[0], few


def _warm_up(estimator: Any, few: Data) -> None:
    """Load compiled kernels on a few documents; whatever goes wrong there is no result."""
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers(estimator.fit(few.X_train, few.Y_train), few.X_test, None)


def _measure(given: Given, names: list[str]) -> tuple[dict[str, float], dict[str, Any]]:
    """Values, and the units that a paired test compares."""
    chosen = [measure for name in names if given.has((measure := get_measure(name)).needs)]
    values = {measure.name: measure.compute(given) for measure in chosen}
    compared = {name: own for name in values if (own := units(given, name)) is not None}
    # For the plot of label frequencies, whatever else is measured.
    if (by_label := units(given, "label-average-precision")) is not None:
        compared.setdefault("label-average-precision", by_label)
    return values, compared


def _curves(given: Given) -> dict[str, Any]:
    if given.scores is None:
        return {}
    judged = given.judged("document")
    return {"precision-recall": precision_recall(judged), "calibration": calibration(judged)}


def _machine() -> dict[str, str]:
    packages = ("manylabel", "numpy", "scipy", "scikit-learn", "numba")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}


def _tell(what: dict[str, Any]) -> None:
    os.write(_told, json.dumps(what).encode() + b"\n")


def _speak_alone() -> int:
    """A private handle to standard output: whatever models print becomes messages.

    Some print from compiled code, which knows nothing of ``sys.stdout``.
    """
    told = os.dup(1)
    os.dup2(2, 1)
    return told


#: Where phases and errors are told.
_told = 1


def main(arguments: list[str]) -> int:
    """Run the job that a file describes."""
    global _told
    job = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    _told = _speak_alone()
    try:
        with _cluster_of(job):
            run_job(job)
    except Exception as error:
        if not isinstance(error, ManylabelError):
            import traceback

            traceback.print_exc()
        prefix = "" if isinstance(error, ManylabelError) else f"{type(error).__name__}: "
        _tell({"error": f"{prefix}{error}"})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
