"""What every process of the command line does first."""

from __future__ import annotations

import gc

from manylabel.lazy_modules import defer

__all__ = ["prepare"]


def prepare() -> None:
    """Defer imports that are rarely needed, and collect garbage less often.

    Imports make many objects that stay; collecting garbage among them took an eighth of the time
    of a short command.
    """
    defer()
    gc.set_threshold(100_000, 50, 100)
