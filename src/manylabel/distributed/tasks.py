"""The work of a worker: open the inputs, compute, save the result."""

from __future__ import annotations

import hashlib
import io
import tempfile
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from manylabel import __version__, store
from manylabel.distributed.cache import cache_of
from manylabel.distributed.depot import depot_at
from manylabel.distributed.packing import packed, unpack
from manylabel.distributed.spool import keep
from manylabel.distributed.travelling import call_by_name
from manylabel.exceptions import ClusterError
from manylabel.progress import peak_memory

__all__ = ["Call", "Receipt", "Travel", "paths_in", "run_call"]

#: Inputs that a worker keeps open; they are memory-mapped files, so they cost no memory.
_OPEN = 64


class Travel(NamedTuple):
    """How objects reach a worker that cannot access the client's folder.

    Parameters
    ----------
    root : str
        The client's folder; every path of a call starts with it.
    address : str
        The address of the depot; empty if objects go through Dask.
    limit : int
        Maximum bytes of the worker's cache.
    """

    root: str
    address: str
    limit: int


class Call(NamedTuple):
    """One task, in built-in types.

    Parameters
    ----------
    module, name : str
        The function to call.
    arguments : tuple
        A Path, also in a tuple, stands for the object saved there.
    result : Path
        Where to save the result.
    version : str
        The client's version of manylabel.
    travel : tuple, optional
        The fields of a `Travel`, if client and worker share no folder.
    """

    module: str
    name: str
    arguments: tuple[Any, ...]
    result: Path
    version: str = __version__
    travel: tuple[str, str, int] | None = None


class Receipt(NamedTuple):
    """A worker's report on a finished task.

    Parameters
    ----------
    seconds, cpu_seconds : float
        Wall-clock time and CPU time.
    worker : str
        Its address.
    peak_memory : int or None
        The worker's peak memory so far in bytes, memory-mapped files included.
    """

    seconds: float
    cpu_seconds: float
    worker: str
    peak_memory: int | None


def run_call(*parts: Any) -> tuple[Any, ...]:
    """Run the call with these fields, save its result, and return the fields of a receipt.

    If objects go through Dask, the numbers of chunks of each input follow, and then the chunks; the
    packed result is the last item of the answer.
    """
    n_fields = len(Call._fields)
    call = Call(*parts[:n_fields])
    if call.version != __version__:
        raise ClusterError(
            f"the worker {_worker_name()} has manylabel {__version__}, but the client has "
            f"{call.version}; install the same version everywhere."
        )
    start, cpu_start = time.perf_counter(), time.thread_time()
    answer: tuple[bytes, ...] = ()
    if call.travel is not None:
        answer = _run_apart(call, Travel(*call.travel), *parts[n_fields:])
    elif not call.result.exists():
        result = call_by_name(call.module, call.name, *map(_argument, call.arguments))
        keep(result, call.result)
    seconds, cpu_seconds = time.perf_counter() - start, time.thread_time() - cpu_start
    return (*Receipt(seconds, cpu_seconds, _worker_name(), peak_memory()), *answer)


def _run_apart(
    call: Call, travel: Travel, counts: list[int] | None = None, *chunks: bytes
) -> tuple[bytes, ...]:
    """Run a call whose inputs must be fetched, and send its result."""
    paths = list(paths_in(call.arguments))
    keys = {path: path.relative_to(travel.root).as_posix() for path in paths}
    target = call.result.relative_to(travel.root).as_posix()
    if travel.address and depot_at(travel.address).has(target):
        return ()
    name = hashlib.sha256(f"{travel.address} {travel.root}".encode()).hexdigest()[:16]
    cache = cache_of(name, travel.limit)
    remaining = iter(chunks)
    copies: dict[Path, Path] = {}
    for number, path in enumerate(paths):
        mine = [next(remaining) for _ in range(counts[number])] if counts is not None else []

        def fetch(local: Path, key: str = keys[path], mine: list[bytes] = mine) -> None:
            if travel.address:
                depot_at(travel.address).get(key, local)
            else:
                data = b"".join(mine)
                unpack(io.BytesIO(data), len(data), local)

        copies[path] = cache.get(keys[path], fetch, set(keys.values()))

    def given(thing: Any) -> Any:
        if isinstance(thing, tuple):
            return tuple(map(given, thing))
        return copies[thing] if isinstance(thing, Path) else thing

    result = call_by_name(
        call.module, call.name, *(_argument(given(each)) for each in call.arguments)
    )
    with tempfile.TemporaryDirectory(prefix="manylabel-") as folder:
        saved = Path(folder) / "result"
        keep(result, saved)
        if not travel.address:
            return (packed(saved),)
        depot_at(travel.address).put(target, saved)
    return ()


def paths_in(given: Any) -> Iterator[Path]:
    """Find the paths among arguments."""
    for each in given:
        if isinstance(each, tuple):
            yield from paths_in(each)
        elif isinstance(each, Path):
            yield each


def _argument(given: Any) -> Any:
    """Load the object of a path; anything else stays as it is."""
    if isinstance(given, tuple):
        return tuple(map(_argument, given))
    return _opened(given) if isinstance(given, Path) else given


@lru_cache(_OPEN)
def _opened(path: Path) -> Any:
    return store.load(path, verify=False)


def _worker_name() -> str:
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:
        return "here"
