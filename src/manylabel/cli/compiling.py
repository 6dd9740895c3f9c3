"""Compile kernels, once after an installation, and report progress."""

from __future__ import annotations

import subprocess  # nosec B404
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from threading import Thread

from manylabel.cli.output import counted, note

__all__ = ["Compiling", "compile_in_background", "compile_missing"]

_ONCE = "Compiling kernels, once after an installation or update"
#: Minimum seconds between two progress lines.
_PAUSE = 3.0
#: What a training imports that takes long, for the first time after an installation most of all.
_FOR_TRAINING = ("manylabel.tagger.tagger", "manylabel.ensemble.ensemble", "scipy.optimize")


#: Background processes; kept so that Python does not warn about them.
_started: list[subprocess.Popen[bytes]] = []


def compile_in_background() -> None:
    """Compile missing kernels in another process, while this one works."""
    from manylabel.kernels import machine_code, warming

    if machine_code.is_possible() and warming.missing("small", "usual"):
        command = [sys.executable, "-m", "manylabel.cli", "warm", "--quiet"]
        silent = subprocess.DEVNULL
        started = subprocess.Popen(  # noqa: S603  # nosec B603
            command, stdin=silent, stdout=silent, stderr=silent
        )
        _started.append(started)


class Compiling:
    """A callback for each kernel that is about to be compiled; prints progress now and then.

    Parameters
    ----------
    arguments : sequence of str
        What follows ``manylabel``. Kernels are compiled without access to the command's options, so
        this looks for ``--quiet`` itself.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self._quiet = bool({"--quiet", "-q"} & set(arguments))
        self._command = next((name for name in arguments if not name.startswith("-")), "")
        self._missing: set[str] | None = None
        self._n_started = 0
        self._printed_at: float | None = None

    def __call__(self, kernel: str) -> None:
        """Print progress, unless the last line is only a moment old."""
        from manylabel.kernels import warming

        if not self._n_started:
            self._missing = warming.missing_for(self._command)
        self._n_started += 1
        if self._missing is not None and kernel not in self._missing:
            self._missing = None  # not among the counted ones, so the total is unknown
        now = time.monotonic()
        if self._printed_at is not None and now - self._printed_at < _PAUSE:
            return
        self._printed_at = now
        of_total = "" if self._missing is None else f" of {len(self._missing)}"
        note(f"{_ONCE}: {self._n_started}{of_total}", self._quiet)


def compile_missing(
    sets: Sequence[str] = ("small",),
    processes: int | None = None,
    quiet: bool = False,
    is_asked_for: bool = False,
    will_train: bool = False,
) -> int:
    """Compile missing kernels in several processes; returns the number of kernels.

    If the command will train, modules are imported at the same time: one core would otherwise have
    nothing to do while Numba starts.
    """
    from manylabel.kernels import machine_code, warming

    # Numba's own cache has no index, so looking into it takes seconds.
    if not (machine_code.is_possible() or is_asked_for):
        return 0
    groups = warming.missing(*sets)
    total = sum(map(len, groups))
    if total:
        note(f"{_ONCE}: {counted(total, 'kernel')} ...", quiet)

    def tell(n_done: int) -> None:
        if n_done < total:
            note(f"{_ONCE}: {n_done} of {total}", quiet)

    importing = Thread(target=_import_for_training, daemon=True)
    if total and will_train:
        importing.start()
    n_compiled = warming.warm(groups, processes, tell)
    if importing.is_alive():
        importing.join()
    return n_compiled


def _import_for_training() -> None:
    for name in _FOR_TRAINING:
        import_module(name)
