"""Run the unfinished cells of a plan, each in its own process."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from manylabel.compare.cells import Cell, cells_of, is_finished, job_of, read_cell, write_json
from manylabel.compare.data import prepare
from manylabel.compare.plan import Plan
from manylabel.compare.results import Results
from manylabel.exceptions import StoreError
from manylabel.store.locks import exclusive
from manylabel.validation import check_whole

__all__ = ["Watcher", "run"]


class Watcher:
    """Gets notified of progress; this one ignores it."""

    def plan(self, total: int, finished: int) -> None:
        """The number of cells, and how many are already finished."""

    def phase(self, cell: Cell, phase: str) -> None:
        """A cell enters a phase."""

    def preparing(self, name: str) -> None:
        """A corpus is being read."""

    def done(self, cell: Cell, error: str | None) -> None:
        """A cell has finished or, with an error, failed."""


@dataclass
class _Processes:
    """The running processes, so that none outlives an interruption."""

    running: set[subprocess.Popen[str]] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)
    stopped: bool = False

    def stop(self) -> None:
        with self.lock:
            self.stopped = True
            for process in self.running:
                process.terminate()


def run(
    plan: Plan,
    out: Path,
    *,
    parallel: int = 1,
    fresh: bool = False,
    watcher: Watcher | None = None,
    cluster: str | None = None,
    spool: str | None = None,
    collect: bool = False,
) -> Results:
    """Run the unfinished cells, and collect all results.

    Parameters
    ----------
    plan : Plan
    out : Path
        A folder; finished cells are in its folder ``cells``.
    parallel : int
        The number of cells to run at a time; more than one distorts the times.
    fresh : bool
        Run finished cells again.
    watcher : Watcher, optional
    cluster : str, optional
        The address of a Dask scheduler whose workers train and predict.
    spool : str, optional
        As `manylabel.distributed.use` takes it; by default a folder in ``out``.
    collect : bool
        Run nothing; unfinished cells have no result.

    Returns
    -------
    Results
        A failed cell has a reason instead of a result.
    """
    check_whole("parallel", parallel, 1)
    watcher = watcher or Watcher()
    folder = out / "cells"
    folder.mkdir(parents=True, exist_ok=True)
    cells = cells_of(plan)
    if fresh:
        for cell in cells:
            (folder / f"{cell.key}.json").unlink(missing_ok=True)
    pending = [cell for cell in cells if not collect and not is_finished(folder, cell.key)]
    watcher.plan(len(cells), len(cells) - len(pending))
    reasons: dict[str, str] = {}
    for corpus_key, group in groupby(pending, key=lambda cell: cell.problem_key):
        run_now = list(group)
        with _work_folder(out) as work:
            watcher.preparing(run_now[0].problem.heading)
            description = prepare(run_now[0].problem, run_now[0].split, work, n_jobs=plan.n_jobs)
            write_json(folder / f"corpus-{corpus_key}.json", description)
            # Always closed, so that no process outlives the folder it reads from.
            with closing(
                _run_all(run_now, plan, folder, work, parallel, watcher, (cluster, spool))
            ) as ended:
                for cell, error in ended:
                    if error is not None:
                        reasons[cell.key] = error
                    watcher.done(cell, error)
    runs = {
        cell.key: read_cell(folder, cell.key)
        for cell in cells
        if cell.key not in reasons and is_finished(folder, cell.key)
    }
    described = {key: folder / f"corpus-{key}.json" for key in {cell.problem_key for cell in cells}}
    corpora = {
        key: json.loads(path.read_text(encoding="utf-8"))
        for key, path in described.items()
        if path.exists()
    }
    return Results(plan, cells, runs, reasons, corpora)


@contextmanager
def _work_folder(out: Path) -> Iterator[Path]:
    """Make a folder for one corpus, and remove those that killed comparisons left behind."""
    with ExitStack() as held:
        with exclusive(out):
            for left in out.glob("work-*"):
                try:
                    # A running comparison holds the lock of its folder.
                    with exclusive(left, patience=0):
                        shutil.rmtree(left, ignore_errors=True)
                except (StoreError, OSError):
                    continue
            work = Path(held.enter_context(tempfile.TemporaryDirectory(dir=out, prefix="work-")))
            held.enter_context(exclusive(work))
        yield work


def _run_all(
    cells: list[Cell],
    plan: Plan,
    folder: Path,
    work: Path,
    parallel: int,
    watcher: Watcher,
    cluster: tuple[str | None, str | None],
) -> Generator[tuple[Cell, str | None], None, None]:
    """Run the cells of one corpus, and yield each with its error, in order."""
    processes = _Processes()
    with ThreadPoolExecutor(parallel) as pool:
        futures = [
            (
                cell,
                pool.submit(_run_one, cell, plan, folder, work, watcher.phase, processes, cluster),
            )
            for cell in cells
        ]
        try:
            for cell, future in futures:
                yield cell, future.result()
        except BaseException:
            processes.stop()
            pool.shutdown(cancel_futures=True)
            raise


def _run_one(
    cell: Cell,
    plan: Plan,
    folder: Path,
    work: Path,
    tell: Callable[[Cell, str], None],
    processes: _Processes,
    cluster: tuple[str | None, str | None],
) -> str | None:
    """Run a cell in a process; returns a sentence if it failed."""
    job = work / f"{cell.key}.job.json"
    write_json(job, job_of(cell, plan, folder, work) | {"cluster": cluster[0], "spool": cluster[1]})
    log = folder / f"{cell.key}.log"
    error: str | None = None
    with open(log, "w", encoding="utf-8") as messages, processes.lock:
        if processes.stopped:
            return "interrupted."
        process = subprocess.Popen(  # noqa: S603 - our own module, and no shell
            [sys.executable, "-m", "manylabel.compare.worker", str(job)],
            stdout=subprocess.PIPE,
            stderr=messages,
            stdin=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        processes.running.add(process)
    assert process.stdout is not None
    with process.stdout:
        for line in process.stdout:
            message: dict[str, Any] = json.loads(line)
            if "phase" in message:
                tell(cell, message["phase"])
            error = message.get("error", error)
    code = process.wait()
    with processes.lock:
        processes.running.discard(process)
    if code == 0:
        log.unlink(missing_ok=True)
        return None
    if error is None and code < 0:
        return f"the process was killed by signal {-code}; 9 usually means too little memory."
    last = log.read_text(encoding="utf-8").strip().splitlines()[-1:]
    return error or f"the process failed with code {code}: {''.join(last) or 'no message'}"
