"""How much time training may take."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from manylabel.exceptions import ParameterError

__all__ = ["EFFORTS", "check_effort", "is_within"]

#: From the least to the most.
EFFORTS = ("quick", "normal", "best")


def check_effort(effort: Any) -> None:
    """Refuse an unknown effort."""
    if effort in EFFORTS:
        return
    near = get_close_matches(str(effort), EFFORTS, n=1)
    hint = f", did you mean {near[0]}?" if near else "."
    raise ParameterError(f"`effort` must be quick, normal or best; got {effort!r}{hint}")


def is_within(needed: str, effort: str) -> bool:
    """Whether an effort is at least the needed one."""
    return EFFORTS.index(needed) <= EFFORTS.index(effort)
