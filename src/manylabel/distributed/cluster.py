"""A Dask cluster as a place where blocks run."""

from __future__ import annotations

import secrets
import shutil
import threading
import time
import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from manylabel.distributed.spool import Spool, digest_of, name_of_job
from manylabel.distributed.tasks import Call, Receipt
from manylabel.distributed.travelling import by_value, call_by_name
from manylabel.exceptions import ClusterError
from manylabel.parallel import Callback

__all__ = ["Cluster", "FatalTaskError", "Finished"]

#: Seconds between looks at a cluster that says nothing.
_LOOK = 2.0
#: Tasks under way for each thread of the cluster, where the items are a stream.
_AHEAD = 4
_PLAIN = (bool, int, float, str, type(None))


class FatalTaskError(ClusterError):
    """A task that no worker survives."""


class Finished(NamedTuple):
    """What became of a task.

    Parameters
    ----------
    result : object
    receipt : Receipt or None
        What its worker said; None if the result was there already.
    error : Exception or None
        Why there is no result.
    """

    result: Any
    receipt: Receipt | None
    error: Exception | None = None


class _Task(NamedTuple):
    """A task that was handed in; without a future if its result was there."""

    call: Call
    future: Any


class Cluster:
    """Runs pure functions of immutable files on the workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
    spool : Spool
        A folder that the client and all workers see.
    shard_rows : int
        An index of more rows is divided into shards of that size.
    max_tasks : int
        Into at most so many blocks work is divided, where their size does not matter.
    patience : float
        Seconds without any worker after which it is given up.

    Attributes
    ----------
    receipts : list of Receipt
        What workers said of the tasks that they finished.
    """

    def __init__(
        self,
        client: Any,
        spool: Spool,
        *,
        shard_rows: int = 1 << 20,
        max_tasks: int = 256,
        patience: float = 60.0,
    ) -> None:
        self.client, self.spool = client, spool
        self.shard_rows, self.max_tasks, self.patience = shard_rows, max_tasks, patience
        self.address = str(client.scheduler.address)
        self.receipts: list[Receipt] = []
        # A key that a scheduler has seen before would stand for what it was then.
        self._token = secrets.token_hex(4)
        self._remote = by_value(call_by_name)
        # By identity, for things that are known never to change: a look at them is spared.
        self._places: dict[int, Path] = {}
        # Jobs of several threads may share inputs.
        self._uses: Counter[Path] = Counter()
        self._lock = threading.RLock()

    def map_blocks(
        self,
        task: Callable[..., Any],
        shared: tuple[Any, ...],
        n_rows: int,
        block: int,
        callback: Callback | None = None,
        fixed: bool = False,
    ) -> Iterator[Any]:
        """Results of blocks in their order; see `manylabel.parallel.map_blocks`."""
        if not fixed:
            # Not by the number of workers: another run with more of them finds the same blocks.
            block *= -(-n_rows // (block * self.max_tasks)) or 1
        ranges = [(start, min(start + block, n_rows)) for start in range(0, n_rows, block)]
        results = self.run(task, shared, ranges)
        return _counted(results, [stop for _, stop in ranges], n_rows, callback)

    def run(
        self,
        task: Callable[..., Any],
        shared: tuple[Any, ...],
        items: Iterable[tuple[Any, ...]],
        keep_going: bool = False,
    ) -> Iterator[Finished]:
        """Results of ``task(*shared, *item)`` in the order of the items.

        A Path that is shared is a model's folder and stands for the model. All items of a sequence
        are handed in at once; of others, only a few at a time. With ``keep_going`` a task that
        fails is reported like the others, unless the cluster is lost.
        """
        with self._lock:
            given = tuple(map(self._given, shared))
            used = list(_places_in(given))
            self._uses.update(used)
        job = name_of_job(task.__module__, task.__qualname__, *_names(given))
        known = self.spool.finished(job)
        tasks = (self._submit(task, given, item, job, known) for item in items)
        if isinstance(items, Sequence):
            return self._collect(deque(tasks), iter(()), 0, used, keep_going)
        ahead = _AHEAD * max(1, self.n_threads)
        return self._collect(deque(), tasks, ahead, used, keep_going)

    def put_aside(self, work: Any, thing: Any) -> None:
        """Keep how far some work has come, if there can be another run."""
        if self.spool.lasting:
            self.spool.put_aside(self._put(work).name, thing)

    def recall(self, work: Any) -> Any:
        """How far an earlier run has come with the same work."""
        return self.spool.recall(self._put(work).name)

    @property
    def n_threads(self) -> int:
        """How many tasks can run at a time."""
        return sum(self._workers().values())

    def _given(self, thing: Any) -> Any:
        """An argument as it is sent: itself if it is small, or where it lies."""
        if isinstance(thing, _PLAIN):
            return thing
        if isinstance(thing, Path):
            return self.spool.put_folder(thing)
        if type(thing) is tuple and all(getattr(each, "immutable", False) for each in thing):
            return tuple(map(self._put, thing))
        return self._put(thing)

    def _put(self, thing: Any) -> Path:
        """The place of a thing that tasks share."""
        place = self._places.get(id(thing))
        if place is None:
            place = self.spool.put(thing)
            if getattr(thing, "immutable", False):
                self._remember(thing, place)
        return place

    def _let_go(self, used: list[Path]) -> None:
        """A job is done with its inputs; those that nobody else needs or will know again go."""
        with self._lock:
            self._uses.subtract(used)
            known = set(self._places.values())
            self.spool.drop(path for path in used if self._uses[path] <= 0 and path not in known)

    def _remember(self, thing: Any, place: Path) -> None:
        """Know a thing again as long as it lives; one that is transient leaves nothing behind."""
        self._places[id(thing)] = place
        weakref.finalize(thing, self._places.pop, id(thing), None)
        if getattr(thing, "transient", False):
            weakref.finalize(thing, shutil.rmtree, place, ignore_errors=True)

    def _submit(
        self,
        task: Callable[..., Any],
        shared: tuple[Any, ...],
        item: tuple[Any, ...],
        job: str,
        known: set[str],
    ) -> _Task:
        """Hand a task in, unless its result is there."""
        plain = all(isinstance(each, int) for each in item)
        name = "-".join(map(str, item)) if plain else digest_of(item)
        sent = tuple(each if isinstance(each, list) else self._given(each) for each in item)
        place = self.spool.place_of_result(job, name)
        call = Call(task.__module__, task.__qualname__, (*shared, *sent), place)
        return _Task(call, None if name in known else self._start(call))

    def _start(self, call: Call) -> Any:
        key = f"{call.name}-{self._token}-{secrets.token_hex(8)}"
        return self.client.submit(
            self._remote, "manylabel.distributed.tasks", "run_call", *call, key=key, pure=False
        )

    def _collect(
        self,
        waiting: deque[_Task],
        more: Iterator[_Task],
        ahead: int,
        used: list[Path],
        keep_going: bool,
    ) -> Iterator[Finished]:
        """Results in order; an error of the items comes after what was there before it."""
        failure: Exception | None = None
        try:
            while True:
                try:
                    while failure is None and len(waiting) < ahead:
                        waiting.append(next(more))
                except StopIteration:
                    ahead = 0
                except Exception as error:
                    failure = error
                if not waiting:
                    break
                finished = self._finish(waiting.popleft())
                if finished.error is not None and not keep_going:
                    raise finished.error
                yield finished
        finally:
            for task in waiting:
                if task.future is not None:
                    task.future.cancel()
            self._let_go(used)
        if failure is not None:
            raise failure

    def _finish(self, task: _Task) -> Finished:
        """Wait for a task and take its result."""
        call, future = task
        receipt, result = None, None
        if future is None:
            result = self.spool.result(call.result)
        if result is None:
            future = future or self._start(call)
            self._wait(future)
            if future.status == "error":
                return Finished(None, None, _explained(future.exception(), call))
            receipt = Receipt(*future.result())
            self.receipts.append(receipt)
            result = self.spool.result(call.result)
            if result is None:
                raise ClusterError(
                    f"what a worker wrote cannot be read in {call.result}; the client and all "
                    "workers must see the same folder."
                )
        if getattr(result, "immutable", False):
            self._remember(result, call.result)
        else:
            self.spool.drop([call.result])
        return Finished(result, receipt)

    def _wait(self, future: Any) -> None:
        """Wait until a task is finished or has failed, as long as there is hope."""
        from distributed import CancelledError

        alone_since: float | None = None
        while True:
            try:
                future.exception(timeout=_LOOK)
                break
            except TimeoutError:
                if self._workers():
                    alone_since = None
                    continue
                alone_since = alone_since or time.monotonic()
                if time.monotonic() - alone_since > self.patience:
                    raise ClusterError(
                        f"no worker is left at {self.address}; start some, and run the same again."
                        f"{self._kept}"
                    ) from None
            except (CancelledError, OSError):
                raise self._lost() from None
        if future.status not in ("finished", "error"):
            raise self._lost()

    def _workers(self) -> dict[str, int]:
        """Threads of each worker."""
        if self.client.status != "running":
            raise self._lost()
        try:
            return dict(self.client.nthreads())
        except OSError:
            raise self._lost() from None

    def _lost(self) -> ClusterError:
        return ClusterError(
            f"the scheduler at {self.address} cannot be reached any more; start it and its "
            f"workers, and run the same again.{self._kept}"
        )

    @property
    def _kept(self) -> str:
        """What becomes of the work so far."""
        folder = self.spool.folder
        return f" What is finished is kept in {folder}." if self.spool.lasting else ""


def _places_in(given: Any) -> Iterator[Path]:
    """The places among arguments."""
    for each in given:
        if isinstance(each, tuple):
            yield from _places_in(each)
        elif isinstance(each, Path):
            yield each


def _names(given: tuple[Any, ...]) -> Iterator[str]:
    """What makes a job another one: the contents of files, and plain values."""
    for each in given:
        if isinstance(each, tuple):
            yield from _names(each)
        else:
            yield f"{each.parent.name}/{each.name}" if isinstance(each, Path) else repr(each)


def _counted(
    finished: Iterator[Finished], stops: list[int], n_rows: int, callback: Callback | None
) -> Iterator[Any]:
    """The results, and a word about each."""
    for (result, _, _), stop in zip(finished, stops, strict=True):
        if callback is not None:
            callback(stop, n_rows)
        yield result


def _explained(error: Exception, call: Call) -> Exception:
    """The error of a task, as a sentence where it is the cluster's."""
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        return FatalTaskError(
            f"every worker that took a part of `{call.name}` ended without a word, which "
            "is usually a lack of memory; give workers more memory or fewer threads."
        )
    if isinstance(error, ModuleNotFoundError) and "manylabel" in str(error):
        return ClusterError(
            "a worker has no manylabel; install the same version everywhere, and run the same "
            "again."
        )
    return error
