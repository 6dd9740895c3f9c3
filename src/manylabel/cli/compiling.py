"""How far the kernels are that a command compiles, once after an installation."""

from __future__ import annotations

import subprocess  # nosec B404
import sys
import time
from collections.abc import Sequence

from manylabel.cli.output import counted, note

__all__ = ["Compiling", "compile_in_background", "compile_missing"]

_ONCE = "Compiling kernels, once after an installation or update"
#: Seconds between two lines.
_PAUSE = 3.0


#: Processes that this one has started and does not wait for.
_started: list[subprocess.Popen[bytes]] = []


def compile_in_background() -> None:
    """Let another process compile what is not, while this one works."""
    from manylabel.kernels import machine_code, warming

    if machine_code.is_possible() and warming.missing("small", "usual"):
        command = [sys.executable, "-m", "manylabel.cli", "warm", "--quiet"]
        silent = subprocess.DEVNULL
        started = subprocess.Popen(  # noqa: S603  # nosec B603
            command, stdin=silent, stdout=silent, stderr=silent
        )
        _started.append(started)


class Compiling:
    """Is told of each kernel that is about to be compiled, and says now and then how far it is.

    Parameters
    ----------
    arguments : sequence of str
        What follows ``manylabel``. Kernels know no options, so that this asks them itself.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self._quiet = bool({"--quiet", "-q"} & set(arguments))
        self._command = next((name for name in arguments if not name.startswith("-")), "")
        self._missing: set[str] | None = None
        self._n_told = 0
        self._said: float | None = None

    def __call__(self, kernel: str) -> None:
        """Say so, unless it was said a moment ago."""
        from manylabel.kernels import warming

        if not self._n_told:
            self._missing = warming.missing_for(self._command)
        self._n_told += 1
        if self._missing is not None and kernel not in self._missing:
            self._missing = None  # another model, or other sizes, than those that were counted
        now = time.monotonic()
        if self._said is not None and now - self._said < _PAUSE:
            return
        self._said = now
        of_total = "" if self._missing is None else f" of {len(self._missing)}"
        note(f"{_ONCE}: {self._n_told}{of_total}", self._quiet)


def compile_missing(
    sets: Sequence[str] = ("small",),
    processes: int | None = None,
    quiet: bool = False,
    is_asked_for: bool = False,
) -> int:
    """Compile what is not, in several processes side by side; the number of kernels."""
    from manylabel.kernels import machine_code, warming

    # Numba's own cache does not say what is in it, so that looking takes seconds.
    if not (machine_code.is_possible() or is_asked_for):
        return 0
    groups = warming.missing(*sets)
    total = sum(map(len, groups))
    if total:
        note(f"{_ONCE}: {counted(total, 'kernel')} ...", quiet)

    def tell(n_done: int) -> None:
        if n_done < total:
            note(f"{_ONCE}: {n_done} of {total}", quiet)

    return warming.warm(groups, processes, tell)
