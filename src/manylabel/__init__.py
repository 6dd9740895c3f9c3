"""Tag documents with thousands of labels, on an ordinary CPU, in seconds, and show exactly why.

Names are imported when they are first used, so ``import manylabel`` itself is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name -> the module that defines it.
_HOMES = {
    "Corpus": "manylabel.corpus",
    "NeighborIndex": "manylabel.neighbors",
    "Predictions": "manylabel.predictions",
    "ManylabelError": "manylabel.exceptions",
}

__all__ = sorted([*_HOMES, "__version__"])

if TYPE_CHECKING:
    from manylabel.exceptions import ManylabelError as ManylabelError


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'manylabel' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
