"""The process that runs one cell: ``python -m manylabel.compare.worker JOB.json``.

In a separate process, peak memory is that of one model, and no model slows down the next. The
process announces each phase, and an error as one sentence, as lines of JSON on standard output.
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
from manylabel.compare.units import label_counts, units
from manylabel.exceptions import ManylabelError
from manylabel.metrics import get_measure
from manylabel.metrics.registry import Inputs
from manylabel.progress import peak_memory

__all__ = ["main", "run_job"]

#: Documents of the untimed run that loads kernels.
_WARM_UP_DOCUMENTS = 40


class _Clock:
    """Times phases, and announces each when it begins.

    CPU time does not depend on what else runs on the machine, but counts all threads.
    """

    def __init__(self, cpu: bool) -> None:
        self.seconds: dict[str, float] = {}
        self._now = time.process_time if cpu else time.perf_counter
        #: Seconds as reported per second by the clock, in the last phase.
        self._rate = 1.0

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        _tell({"phase": name})
        start, began = self._now(), time.perf_counter()
        yield
        took = self._now() - start
        self._rate = took / max(time.perf_counter() - began, 1e-9)
        self._add(name, took)

    def add_part(self, name: str, seconds: float) -> None:
        """Add a part of the last phase, given in seconds by the clock."""
        self._add(name, seconds * self._rate)

    def _add(self, name: str, seconds: float) -> None:
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds


def run_job(job: dict[str, Any]) -> None:
    """Train, predict, measure, and write the finished cell."""
    clock = _Clock(cpu=job["n_jobs"] == 1 and job.get("cluster") is None)
    row = Row(**job["row"])
    with clock.phase("load"):
        data = load(Path(job["corpus"]))
    if row.is_ours:
        with clock.phase("compile"):
            _warm_up(*_few(row, job, data))
    memory = {"start": peak_memory()}
    measures: dict[str, float] = {}
    measured: dict[str, Any] = {}
    counts: dict[str, Any] = {}
    curves: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for estimator, names in _estimators(row, job, data):
        with clock.phase("train"):
            estimator.fit(data.X_train, data.Y_train)
        clock.add_part("tune", tuning_seconds(estimator))
        memory["trained"] = peak_memory()
        with clock.phase("predict"):
            scores, labels = answers(estimator, data.X_test, job["top"])
        memory["peak"] = peak_memory()
        with clock.phase("measure"):
            given = Inputs(data.Y_test, scores, labels, data.Y_train)
            values, compared = _measure(given, names)
            curves = curves or _curves(given)
        if row.tuned_for and given.labels is not None:
            counts[names[0]] = label_counts(given)
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
    write_cell(Path(job["folder"]), job["key"], Finished(record, measured, counts))


def _cluster_of(job: dict[str, Any]) -> contextlib.AbstractContextManager[Any]:
    """The cluster to run a job on, with its files beside the corpus."""
    if job.get("cluster") is None:
        return contextlib.nullcontext()
    from manylabel.distributed import connect

    beside, spool = Path(job["corpus"]) / "spool", job.get("spool")
    return connect(job["cluster"], f"dask:{beside}" if spool == "dask" else spool or beside)


def _estimators(row: Row, job: dict[str, Any], data: Data) -> Iterator[tuple[Any, list[str]]]:
    """The estimators to fit, each with the measures to report for it."""
    if not row.tuned_for:
        yield make_estimator(row, job["seed"], job["n_jobs"]), job["metrics"]
        return
    if row.chooses is not None:
        from manylabel.compare.choosing import Choice, ChosenFor

        model = make_estimator(row, job["seed"], job["n_jobs"])
        choice = Choice(model, row.grid or {}, tuple(row.tuned_for), row.chooses, data)
        others = [name for name in job["metrics"] if name not in row.tuned_for]
        for position, measure in enumerate(row.tuned_for):
            yield ChosenFor(choice, measure), [measure, *others] if position == 0 else [measure]
        return
    for position, measure in enumerate(row.tuned_for):
        others = [name for name in job["metrics"] if name not in row.tuned_for]
        search = make_search(row, measure, job["seed"], job["n_jobs"], data.X_test.shape[0])
        yield search, [measure, *others] if position == 0 else [measure]


def _few(row: Row, job: dict[str, Any], data: Data) -> tuple[Any, Data]:
    """The first estimator of a row, and a few documents for it."""
    n = slice(0, min(_WARM_UP_DOCUMENTS, data.X_train.shape[0]))
    few = Data(data.X_train[n], data.Y_train[n], data.X_test[:2], data.Y_test[:2])
    return next(_estimators(row, job, few))[0], few


def _warm_up(estimator: Any, few: Data) -> None:
    """Load compiled kernels by running on a few documents; errors do not matter here."""
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers(estimator.fit(few.X_train, few.Y_train), few.X_test, None)


def _measure(given: Inputs, names: list[str]) -> tuple[dict[str, float], dict[str, Any]]:
    """Compute measures, and their units for paired tests."""
    chosen = [measure for name in names if given.has((measure := get_measure(name)).needs)]
    values = {measure.name: measure.compute(given) for measure in chosen}
    compared = {name: own for name in values if (own := units(given, name)) is not None}
    # The plot of label frequencies always needs this one.
    if (by_label := units(given, "label-average-precision")) is not None:
        compared.setdefault("label-average-precision", by_label)
    return values, compared


def _curves(given: Inputs) -> dict[str, Any]:
    if given.scores is None:
        return {}
    judged = given.judged("document")
    return {"precision-recall": precision_recall(judged), "calibration": calibration(judged)}


def _machine() -> dict[str, str]:
    packages = ("manylabel", "numpy", "scipy", "scikit-learn", "numba")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}


def _tell(what: dict[str, Any]) -> None:
    os.write(_channel, json.dumps(what).encode() + b"\n")


def _redirect_output() -> int:
    """Redirect standard output to standard error, and return a handle to the original.

    Models may print from compiled code, which ignores ``sys.stdout``.
    """
    original = os.dup(1)
    os.dup2(2, 1)
    return original


#: The file descriptor for phases and errors.
_channel = 1


def main(arguments: list[str]) -> int:
    """Run the job that a file describes."""
    global _channel
    job = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    _channel = _redirect_output()
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
