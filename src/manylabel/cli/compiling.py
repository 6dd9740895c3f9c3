"""How far the kernels are that a command compiles, once after an installation."""

from __future__ import annotations

import time
from collections.abc import Sequence

from manylabel.cli.output import note

__all__ = ["Compiling"]

#: The kernels that commands use with the default model on the bundled corpus; others use fewer.
USUAL = {"train": 32, "predict": 12, "explain": 12}
#: Of commands that were not counted, most of which train.
_OTHERWISE = 32
#: Seconds between two lines.
_PAUSE = 3.0


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
            f"Compiling kernels, once after an installation or update: {place} of {total}",
            self._quiet,
        )
