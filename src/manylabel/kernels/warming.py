"""Compile kernels before they are needed, in parallel processes.

``signatures.json`` lists the argument types of kernels in three sets: kernels that the default
model needs with few documents, those that it also needs with more, and all others. Under "commands"
it has the names of the kernels that each command uses. ``tools/kernel_signatures.py`` writes it.

One process compiles all kernels of a module, because they share functions.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from importlib import import_module
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from typing import Any

from manylabel.kernels import machine_code
from manylabel.kernels.compile import KERNELS, Kernel

__all__ = ["SETS", "missing", "missing_for", "n_known", "warm"]

#: The kernels that the default model uses with a small corpus; with any corpus; and all others.
SETS = ("small", "usual", "others")
_ARRAY = re.compile(r"([a-z])(\d+)\[(\d+)([CFA])(\??)\]")

Job = tuple[str, str]


@cache
def _read() -> dict[str, Any]:
    text = Path(__file__).with_name("signatures.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def _listed() -> dict[str, dict[str, list[Job]]]:
    """The kernels and their argument types by set and module, the slowest to compile first."""
    return {name: _read()[name] for name in SETS}


def missing_for(command: str) -> set[str] | None:
    """The kernels that a command must compile with the default model; None if it is not listed.

    Examples
    --------
    >>> missing_for("doctor") is None
    True
    """
    names = _read()["commands"].get(command)
    if names is None:
        return None
    jobs = (job for jobs in _listed()["small"].values() for job in jobs)
    return {name for name, types in jobs if name in names and not machine_code.is_kept(name, types)}


def n_known(*sets: str) -> int:
    """The number of listed kernels, counting each combination of argument types."""
    return sum(len(jobs) for name in sets for jobs in _listed()[name].values())


def missing(*sets: str) -> list[list[Job]]:
    """The kernels of some sets that are not compiled, grouped by module.

    Examples
    --------
    >>> all(len(jobs) > 0 for jobs in missing("small"))
    True
    """
    groups: dict[str, list[Job]] = {}
    for name in sets:
        for file, jobs in _listed()[name].items():
            left = [job for job in jobs if not machine_code.is_kept(*job)]
            if left:
                groups.setdefault(file, []).extend(left)
    return list(groups.values())


def warm(
    groups: list[list[Job]], processes: int | None = None, tell: Callable[[int], None] | None = None
) -> int:
    """Compile kernels in parallel processes; return their number.

    Parameters
    ----------
    groups : list of lists
        As returned by `missing`.
    processes : int, optional
        Maximum number of processes; the number of cores by default.
    tell : callable, optional
        Called with the number of compiled kernels after each module.
    """
    n_processes = min(processes or os.cpu_count() or 1, len(groups))
    if not n_processes:
        return 0
    # The fork server imports Numba once; the processes are forked from it.
    method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
    context = get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload(["manylabel.kernels.warming_start"])
    n_done = 0
    with ProcessPoolExecutor(n_processes, mp_context=context) as pool:
        for done in as_completed([pool.submit(compile_all, jobs) for jobs in groups]):
            n_done += done.result()
            if tell is not None:
                tell(n_done)
    return n_done


def compile_all(jobs: list[Job]) -> int:
    """Compile some kernels, one after another; return their number."""
    for name, signature in jobs:
        kernel = kernel_of(name)
        if len(types_of(signature)) != kernel.function.__code__.co_argcount:
            continue  # the list is outdated; the kernel is compiled when it is called
        with machine_code.turn(name, signature) as waited:
            if not (waited and machine_code.is_kept(name, signature)):
                kernel.compiled(signature, lambda: types_of(signature))  # noqa: B023
    return len(jobs)


def kernel_of(name: str) -> Kernel:
    """A kernel by its name, "module.function"."""
    import_module(f"manylabel.kernels.{name.partition('.')[0]}")
    return KERNELS[name]


def types_of(signature: str) -> tuple[Any, ...]:
    """The Numba types of arguments from a signature, as `compile.described` writes it."""
    types, end = _members(signature, 0)
    if end != len(signature):
        raise ValueError(f"invalid signature: {signature!r}")
    return types


def _members(text: str, at: int) -> tuple[tuple[Any, ...], int]:
    """Parse the types up to the closing bracket or the end, and return where that is."""
    members = []
    while at < len(text) and text[at] != ")":
        one, at = _one(text, at)
        members.append(one)
        at += 2 if text.startswith(", ", at) else 0
    return tuple(members), at


def _one(text: str, at: int) -> tuple[Any, int]:
    """Parse the type at a position, and return where it ends."""
    import numpy as np
    from numba import from_dtype, typeof, types

    if match := _ARRAY.match(text, at):
        kind, size, n_dimensions, layout, unaligned = match.groups()
        order: Any = layout
        dtype = from_dtype(np.dtype(f"{kind}{size}"))
        array = types.Array(dtype, int(n_dimensions), order, aligned=not unaligned)
        return array, match.end()
    name = re.compile(r"[\w.]*").match(text, at)
    assert name is not None
    if text[name.end() : name.end() + 1] == "(":
        members, end = _members(text, name.end() + 1)
        module, _, cls = name.group().rpartition(".")
        named = getattr(import_module(module), cls) if module else None
        return types.BaseTuple.from_types(members, named), end + 1
    number = {"int": int, "float": float, "bool": bool}.get(name.group())
    return typeof((number or getattr(np, name.group()))(0)), name.end()
