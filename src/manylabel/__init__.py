"""Tag documents with thousands of labels, on an ordinary CPU, in seconds, and show exactly why.

Names are imported on first use, so ``import manylabel`` is quick.
"""

from __future__ import annotations

from manylabel.public import lazy_exports

__version__ = "0.1.0"

# Public name -> the package that exports it.
_EXPORTS = {
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
    "OneVsRestSVM": "manylabel.linear",
    "PfastreXML": "manylabel.trees",
    "PriorLDA": "manylabel.topics",
    "SubsetLLDA": "manylabel.topics",
    "SubsetSVM": "manylabel.linear",
    "Tagger": "manylabel.tagger",
    "Tuner": "manylabel.selection",
    "Weighting": "manylabel.text",
    "evaluate": "manylabel.metrics",
    "load": "manylabel.store",
    "read": "manylabel.corpus",
    "save": "manylabel.store",
}

__all__ = [*_EXPORTS, "__version__"]

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS, "__version__")
