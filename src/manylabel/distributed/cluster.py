"""Run blocks on a Dask cluster."""

from __future__ import annotations

import io
import secrets
import threading
import time
import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from manylabel.distributed.packing import packed, unpack
from manylabel.distributed.spool import Spool, digest_of, name_of_job
from manylabel.distributed.tasks import Call, Receipt, paths_in
from manylabel.distributed.travelling import by_value, call_by_name, itself
from manylabel.exceptions import ClusterError, StoreError
from manylabel.parallel import Callback

__all__ = ["Cluster", "FatalTaskError", "Finished"]

#: Seconds between checks of a silent cluster.
_POLL = 2.0
#: Submitted tasks per thread of the cluster, if the items are a stream.
_AHEAD = 4
#: Bytes per task that hands out part of an object; Dask warns about tasks above ten million.
_CHUNK = 8 << 20
_PLAIN = (bool, int, float, str, type(None))


class FatalTaskError(ClusterError):
    """A task that kills every worker that runs it."""


class Finished(NamedTuple):
    """The outcome of a task.

    Parameters
    ----------
    result : object
    receipt : Receipt or None
        The worker's report; None if the result existed already.
    error : Exception or None
        The error, if there is no result.
    """

    result: Any
    receipt: Receipt | None
    error: Exception | None = None


class _Job(NamedTuple):
    """Tasks that have a function and shared arguments in common."""

    task: Callable[..., Any]
    shared: tuple[Any, ...]
    name: str
    known: set[str]


class _Task(NamedTuple):
    """A submitted task; without a call and a future if its result existed already."""

    job: _Job
    item: tuple[Any, ...]
    path: Path
    call: Call | None = None
    future: Any = None
    #: The inputs that only this task needs.
    own: tuple[Path, ...] = ()


class Cluster:
    """Runs pure functions of immutable files on the workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
    spool : Spool
        Where the client and all workers exchange objects.
    shard_rows : int
        An index with more rows is divided into shards of this size.
    max_tasks : int
        Maximum blocks per job, if the size of a block does not affect the result.
    patience : float
        Give up after this many seconds without any worker.
    worker_cache : int
        Maximum bytes of fetched objects per worker, if it cannot access the spool's folder.

    Attributes
    ----------
    sees_files : bool
        Whether workers access the same files as this process.
    receipts : list of Receipt
        The workers' reports on finished tasks.
    """

    def __init__(
        self,
        client: Any,
        spool: Spool,
        *,
        shard_rows: int = 1 << 20,
        max_tasks: int = 256,
        patience: float = 60.0,
        worker_cache: int = 8 << 30,
    ) -> None:
        self.client, self.spool = client, spool
        self.sees_files = spool.depot is None and not spool.handed
        self._travel: tuple[str, str, int] | None = None
        if not self.sees_files:
            address = spool.depot.address if spool.depot is not None else ""
            self._travel = (str(spool.folder), address, worker_cache)
        self.shard_rows, self.max_tasks, self.patience = shard_rows, max_tasks, patience
        self.address = str(client.scheduler.address)
        self.receipts: list[Receipt] = []
        # Makes keys unique: for a known key, a scheduler would return the old result.
        self._token = secrets.token_hex(4)
        self._remote, self._itself = by_value(call_by_name), by_value(itself)
        #: Futures of the bytes of objects that Dask hands out.
        self._chunks: dict[Path, list[Any]] = {}
        # Paths of immutable objects by identity, so that they are hashed only once.
        self._paths: dict[int, Path] = {}
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
        """Yield the results of blocks, in order; see `manylabel.parallel.map_blocks`."""
        if not fixed:
            # Independent of the number of workers, so that a later run finds the same blocks.
            block *= -(-n_rows // (block * self.max_tasks)) or 1
        ranges = [(start, min(start + block, n_rows)) for start in range(0, n_rows, block)]
        results = self.run(task, shared, ranges)
        return _counted(results, [stop for _, stop in ranges], n_rows, callback)

    def map_items(
        self,
        task: Callable[..., Any],
        shared: tuple[Any, ...],
        items: Iterable[tuple[Any, ...]],
    ) -> Iterator[Any]:
        """Yield the results for items, in order; see `manylabel.parallel.map_items`."""
        for finished in self.run(task, shared, items):
            yield finished.result

    def run(
        self,
        task: Callable[..., Any],
        shared: tuple[Any, ...],
        items: Iterable[tuple[Any, ...]],
        keep_going: bool = False,
    ) -> Iterator[Finished]:
        """Yield the results of ``task(*shared, *item)``, in the order of the items.

        A Path in ``shared`` is a model folder and stands for the model. The items of a sequence are
        submitted all at once, those of another iterable a few at a time. With ``keep_going``, a
        failed task yields its error, unless the cluster is lost.
        """
        with self._lock:
            given = tuple(map(self._given, shared))
            used = list(paths_in(given))
            self._uses.update(used)
        name = name_of_job(task.__module__, task.__qualname__, *_names(given))
        job = _Job(task, given, name, self.spool.finished(name))
        tasks = (self._submit(job, item) for item in items)
        if isinstance(items, Sequence):
            return self._collect(deque(tasks), iter(()), 0, used, keep_going)
        ahead = _AHEAD * max(1, self.n_threads)
        return self._collect(deque(), tasks, ahead, used, keep_going)

    def save_progress(self, work: Any, state: Any) -> None:
        """Save a checkpoint of some work, if the spool outlasts this run."""
        if self.spool.lasting:
            self.spool.save_progress(self._put(work).name, state)

    def load_progress(self, work: Any) -> Any:
        """The last checkpoint of the same work; None if there is none."""
        return self.spool.load_progress(self._put(work).name)

    @property
    def scratch(self) -> Path:
        """A folder of this process with room for large temporary files."""
        return self.spool.folder

    @property
    def n_threads(self) -> int:
        """The number of tasks that can run at a time."""
        return sum(self._workers().values())

    def _given(self, thing: Any) -> Any:
        """An argument as sent to workers: itself if it is small, or its path in the spool."""
        if isinstance(thing, _PLAIN):
            return thing
        if isinstance(thing, Path):
            return self.spool.put_folder(thing)
        if type(thing) is tuple and all(getattr(each, "immutable", False) for each in thing):
            return tuple(map(self._put, thing))
        return self._put(thing)

    def _put(self, thing: Any) -> Path:
        """Save an object that tasks share, and return its path."""
        path = self._paths.get(id(thing))
        if path is None:
            path = self.spool.put(thing)
            if getattr(thing, "immutable", False):
                self._remember(thing, path)
        return path

    def _release(self, used: Iterable[Path], for_good: bool = False) -> None:
        """Drop inputs that no other job uses and no object refers to.

        Parameters
        ----------
        used : iterable of Path
        for_good : bool
            Drop them even if results are kept for a later run, which does not need them.
        """
        with self._lock:
            self._uses.subtract(used)
            known = set(self._paths.values())
            unused = {path for path in used if self._uses[path] <= 0 and path not in known}
            for path in unused:
                del self._uses[path]
            self._forget(unused)
            if for_good:
                for path in unused:
                    self.spool.discard(path)
            else:
                self.spool.drop(unused)

    def _forget(self, paths: Iterable[Path]) -> None:
        """Let the workers drop the bytes of these objects."""
        for path in paths:
            self._chunks.pop(path, None)

    def _remember(self, thing: Any, path: Path) -> None:
        """Remember the path of an object while it lives; then remove transient files."""
        self._paths[id(thing)] = path
        weakref.finalize(thing, self._paths.pop, id(thing), None)
        if getattr(thing, "transient", False):
            weakref.finalize(thing, self._discard, path)

    def _discard(self, path: Path) -> None:
        """Remove the files of a transient object, even from a lasting spool."""
        self._forget([path])
        self.spool.discard(path)

    def _submit(self, job: _Job, item: tuple[Any, ...]) -> _Task:
        """Submit a task, unless its result exists."""
        plain = all(isinstance(each, int) for each in item)
        name = "-".join(map(str, item)) if plain else digest_of(item)
        task = _Task(job, item, self.spool.path_of_result(job.name, name))
        return task if name in job.known else self._started(task)

    def _started(self, task: _Task) -> _Task:
        """Save what only this task needs, and submit it."""
        job = task.job
        with self._lock:
            sent = tuple(
                each if isinstance(each, list) else self._given(each) for each in task.item
            )
            own = tuple(paths_in(sent))
            self._uses.update(own)
        call = Call(
            job.task.__module__,
            job.task.__qualname__,
            (*job.shared, *sent),
            task.path,
            travel=self._travel,
        )
        return task._replace(call=call, future=self._start(call), own=own)

    def _start(self, call: Call) -> Any:
        key = f"{call.name}-{self._token}-{secrets.token_hex(8)}"
        handed = self._hand_out(call) if self.spool.handed else ()
        return self._sent(
            self._remote, "manylabel.distributed.tasks", "run_call", *call, *handed, key=key
        )

    def _sent(self, task: Any, *arguments: Any, key: str) -> Any:
        """The future of a task that is sent to the scheduler."""
        from distributed.client import ClosedClientError

        try:
            return self.client.submit(task, *arguments, key=key, pure=False)
        except (ClosedClientError, OSError):
            raise self.lost() from None

    def _hand_out(self, call: Call) -> tuple[Any, ...]:
        """The numbers of chunks of a call's inputs, and the chunks, each a separate task."""
        paths = list(paths_in(call.arguments))
        with self._lock:
            for path in paths:
                if path not in self._chunks:
                    data = packed(path)
                    self._chunks[path] = [
                        self._sent(
                            self._itself,
                            data[start : start + _CHUNK],
                            key=f"bytes-{self._token}-{secrets.token_hex(8)}",
                        )
                        for start in range(0, len(data), _CHUNK)
                    ]
            chunks = [self._chunks[path] for path in paths]
        return [len(each) for each in chunks], *(future for each in chunks for future in each)

    def _collect(
        self,
        waiting: deque[_Task],
        more: Iterator[_Task],
        ahead: int,
        used: list[Path],
        keep_going: bool,
    ) -> Iterator[Finished]:
        """Yield results in order; an error in ``more`` is raised after the results before it."""
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
                    self._release(task.own, for_good=True)
            self._release(used)
        if failure is not None:
            raise failure

    def _finish(self, task: _Task) -> Finished:
        """Wait for a task and take its result."""
        receipt, result = None, None
        if task.future is None:
            result = self.spool.result(task.path)
        if result is None:
            started = task if task.future is not None else self._started(task)
            assert started.call is not None
            self._wait(started.future)
            if started.future.status == "error":
                error = _explained(started.future.exception(), started.call)
                self._release(started.own, for_good=True)
                return Finished(None, None, error)
            receipt = self._take(started.future, started.call)
            self.receipts.append(receipt)
            result = self.spool.result(task.path)
            if result is None:
                raise ClusterError(
                    f"the result of a worker cannot be read from {task.path}; give a spool that "
                    "the client and all workers can access."
                )
            self._release(started.own, for_good=True)
        if getattr(result, "immutable", False):
            self._remember(result, task.path)
        else:
            self.spool.drop([task.path])
        return Finished(result, receipt)

    def _take(self, future: Any, call: Call) -> Receipt:
        """Take the receipt of a finished task, and save the result if it came with it."""
        from distributed import CancelledError

        try:
            answer = future.result()
        except (CancelledError, OSError):
            raise self.lost() from None
        n_fields = len(Receipt._fields)
        for data in answer[n_fields:]:
            try:
                unpack(io.BytesIO(data), len(data), call.result)
            except StoreError as error:
                raise ClusterError(
                    f"a result was damaged on its way ({error}); run the same command again."
                    f"{self._kept}"
                ) from None
        return Receipt(*answer[:n_fields])

    def _wait(self, future: Any) -> None:
        """Wait until a task finishes or fails; raise an error if the cluster is lost."""
        from distributed import CancelledError

        alone_since: float | None = None
        while True:
            try:
                future.exception(timeout=_POLL)
                break
            except TimeoutError:
                if self._workers():
                    alone_since = None
                    continue
                alone_since = alone_since or time.monotonic()
                if time.monotonic() - alone_since > self.patience:
                    raise ClusterError(
                        f"the cluster at {self.address} has no workers left; start some, and run "
                        f"the same command again.{self._kept}"
                    ) from None
            except (CancelledError, OSError):
                raise self.lost() from None
        if future.status not in ("finished", "error"):
            raise self.lost()

    def _workers(self) -> dict[str, int]:
        """The number of threads of each worker."""
        if self.client.status != "running":
            raise self.lost()
        try:
            return dict(self.client.nthreads())
        except OSError:
            raise self.lost() from None

    def lost(self) -> ClusterError:
        """The error for a scheduler that cannot be reached."""
        return ClusterError(
            f"the scheduler at {self.address} can no longer be reached; start it and its "
            f"workers, and run the same command again.{self._kept}"
        )

    @property
    def _kept(self) -> str:
        """A sentence for errors that says where finished work is kept."""
        return f" Finished work is kept in {self.spool.name}." if self.spool.lasting else ""


def _names(given: tuple[Any, ...]) -> Iterator[str]:
    """The names that identify a job: hashes of its files, and its plain values."""
    for each in given:
        if isinstance(each, tuple):
            yield from _names(each)
        else:
            yield f"{each.parent.name}/{each.name}" if isinstance(each, Path) else repr(each)


def _counted(
    finished: Iterator[Finished], stops: list[int], n_rows: int, callback: Callback | None
) -> Iterator[Any]:
    """Yield results, and call back after each."""
    for (result, _, _), stop in zip(finished, stops, strict=True):
        if callback is not None:
            callback(stop, n_rows)
        yield result


def _explained(error: Exception, call: Call) -> Exception:
    """The error of a task; one clear sentence if the cluster is the cause."""
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        return FatalTaskError(
            f"every worker that ran a part of `{call.name}` died without a message, usually for "
            "lack of memory; give workers more memory or fewer threads."
        )
    if isinstance(error, ModuleNotFoundError) and "manylabel" in str(error):
        return ClusterError(
            "manylabel is not installed on a worker; install the same version everywhere, and run "
            "the same command again."
        )
    return error
