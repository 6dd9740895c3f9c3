"""What workers do: open the inputs, compute, save the result."""

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

#: Inputs that a worker keeps open; they are memory-mapped files, so they cost no memory.
_OPEN = 64


class Call(NamedTuple):
    """One task, in built-in types.

    Parameters
    ----------
    module, name : str
        Of the function.
    arguments : tuple
        A Path, also in a tuple, stands for the object saved there.
    result : Path
        Where to save the result.
    version : str
        The client's version of manylabel.
    """

    module: str
    name: str
    arguments: tuple[Any, ...]
    result: Path
    version: str = __version__


class Receipt(NamedTuple):
    """A worker's report on a finished task.

    Parameters
    ----------
    seconds, cpu_seconds : float
        Wall-clock time and processor time.
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
    """Run the call with these fields, save its result, and return the fields of a receipt."""
    call = Call(*parts)
    if call.version != __version__:
        raise ClusterError(
            f"the worker {_worker_name()} has manylabel {__version__}, and the client has "
            f"{call.version}; install the same version everywhere."
        )
    start, cpu_start = time.perf_counter(), time.thread_time()
    if not call.result.exists():
        result = call_by_name(call.module, call.name, *map(_argument, call.arguments))
        keep(result, call.result)
    seconds, cpu_seconds = time.perf_counter() - start, time.thread_time() - cpu_start
    return tuple(Receipt(seconds, cpu_seconds, _worker_name(), peak_memory()))


def _argument(given: Any) -> Any:
    """The object that a path stands for; anything else stands for itself."""
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
