"""Tag documents with thousands of labels, on an ordinary CPU, in seconds, and show exactly why.

Names are imported when they are first used, so ``import manylabel`` itself is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public name -> the module that defines it.
_HOMES = {
    "BRkNN": "manylabel.neighbors",
    "Corpus": "manylabel.corpus",
    "CountVectorizer": "manylabel.text",
    "DependencyLDA": "manylabel.topics",
    "Ensemble": "manylabel.ensemble",
    "EntropySelector": "manylabel.neighbors",
    "FastXML": "manylabel.trees",
    "FeatureKNN": "manylabel.neighbors",
    "FlatLDA": "manylabel.topics",
    "IBLR": "manylabel.neighbors",
    "InstanceKNN": "manylabel.neighbors",
    "LCIF": "manylabel.neighbors",
    "LDA": "manylabel.topics",
    "LabeledLDA": "manylabel.topics",
    "MLkNN": "manylabel.neighbors",
    "ManylabelError": "manylabel.exceptions",
    "NeighborIndex": "manylabel.neighbors",
    "NeighborSearchCV": "manylabel.selection",
    "OneVsRestSVM": "manylabel.linear",
    "PfastreXML": "manylabel.trees",
    "Predictions": "manylabel.predictions",
    "PriorLDA": "manylabel.topics",
    "SubsetLLDA": "manylabel.topics",
    "SubsetSVM": "manylabel.linear",
    "Tagger": "manylabel.tagger",
    "Weighting": "manylabel.text",
    "evaluate": "manylabel.metrics",
    "load": "manylabel.store",
    "read": "manylabel.corpus",
    "save": "manylabel.store",
}

__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'manylabel' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
