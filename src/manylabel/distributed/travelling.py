"""Functions that are sent by value, so that the receiver need not have manylabel.

A scheduler unpacks every message, and should not have to import what only workers need.
"""

from __future__ import annotations

from pathlib import Path
from types import FunctionType
from typing import Any

__all__ = ["by_value", "call_by_name", "itself", "report"]


def by_value(function: Any) -> Any:
    """Copy a function that uses nothing of its module, so that it can be sent without it."""
    copy = FunctionType(function.__code__, {"__builtins__": __builtins__}, function.__name__)
    copy.__module__ = "__main__"
    return copy


def call_by_name(module: str, name: str, *arguments: Any) -> Any:
    """Call a function of a module."""
    from importlib import import_module

    return getattr(import_module(module), name)(*arguments)


def itself(data: bytes) -> bytes:
    """Return the argument: a task that Dask repeats if the worker with the bytes dies."""
    return data


def report(probe: Path | None) -> tuple[str | None, str | None]:
    """The version of manylabel and the content of a file; None for what does not exist."""
    try:
        from manylabel import __version__ as version
    except ImportError:
        return None, None
    if probe is None:
        return version, None
    try:
        return version, probe.read_text(encoding="utf-8")
    except OSError:
        return version, None
