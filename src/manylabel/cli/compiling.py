"""How far the kernels are that a command compiles, once after an installation."""

from __future__ import annotations

import subprocess  # nosec B404
import sys
import time
from collections.abc import Sequence

from manylabel.cli.output import counted, note

__all__ = ["Compiling", "compile_in_background", "compile_missing"]

#: The kernels that commands use with the default model on the bundled corpus.
USUAL = {"train": 22, "predict": 5, "explain": 5}
#: Of commands that were not counted, most of which train.
_OTHERWISE = 22
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
        usual = (USUAL[name] for name in arguments if name in USUAL)
        self._total = next(usual, _OTHERWISE)
        self._said: float | None = None

    def __call__(self, kernel: str) -> None:
        """Say so, unless it was said a moment ago."""
        from manylabel.kernels import n_ready

        now = time.monotonic()
        if self._said is not None and now - self._said < _PAUSE:
            return
        self._said = now
        # What is compiled is the next one, and a model may use more than most do.
        place = n_ready() + 1
        total = max(self._total, place)
        note(
            f"{_ONCE}: {place} of {total}",
            self._quiet,
        )


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
