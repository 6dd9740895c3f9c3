"""What workers do: open what is there, compute, put the result in its place."""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from manylabel import __version__, store
from manylabel.distributed.spool import keep
from manylabel.distributed.travelling import call_by_name
from manylabel.exceptions import ClusterError
from manylabel.progress import peak_memory

__all__ = ["Call", "Receipt", "run_call"]

#: Things that a worker keeps open; they are maps of files, so this is no memory.
_OPEN = 64


class Call(NamedTuple):
    """One task, in types that every Python knows.

    Parameters
    ----------
    module, name : str
        Of the function.
    arguments : tuple
        A Path, also in a tuple, stands for what lies there.
    result : Path
        Where the result belongs.
    version : str
        Of the manylabel that asks.
    """

    module: str
    name: str
    arguments: tuple[Any, ...]
    result: Path
    version: str = __version__


class Receipt(NamedTuple):
    """What a worker says of a finished task.

    Parameters
    ----------
    seconds, cpu_seconds : float
        By the clock, and of the processor.
    worker : str
        Its address.
    peak_memory : int or None
        The most bytes that the worker has held so far, files that it maps included.
    """

    seconds: float
    cpu_seconds: float
    worker: str
    peak_memory: int | None


def run_call(*parts: Any) -> tuple[Any, ...]:
    """Run the call of these parts, and give those of a receipt; the result is on disk then."""
    call = Call(*parts)
    if call.version != __version__:
        raise ClusterError(
            f"the worker {_worker_name()} has manylabel {__version__}, and {call.version} asks; "
            "install the same version everywhere."
        )
    start, cpu_start = time.perf_counter(), time.thread_time()
    if not call.result.exists():
        found = call_by_name(call.module, call.name, *map(_argument, call.arguments))
        keep(found, call.result)
    seconds, cpu_seconds = time.perf_counter() - start, time.thread_time() - cpu_start
    return tuple(Receipt(seconds, cpu_seconds, _worker_name(), peak_memory()))


def _argument(given: Any) -> Any:
    """What a place stands for; anything else stands for itself."""
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
