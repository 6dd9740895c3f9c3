"""Exact neighbour search, and classifiers made of neighbours."""

from typing import TYPE_CHECKING, Any

from manylabel.neighbors.brknn import BRkNN
from manylabel.neighbors.iblr import IBLR
from manylabel.neighbors.index import NeighborIndex, Neighbors
from manylabel.neighbors.lcif import LCIF, FeatureKNN, InstanceKNN
from manylabel.neighbors.mlknn import MLkNN

if TYPE_CHECKING:
    from manylabel.neighbors.entropy import EntropySelector

__all__ = [
    "IBLR",
    "LCIF",
    "BRkNN",
    "EntropySelector",
    "FeatureKNN",
    "InstanceKNN",
    "MLkNN",
    "NeighborIndex",
    "Neighbors",
]


def __getattr__(name: str) -> Any:
    # scikit-learn's selectors take a while to import, and few people select features.
    if name == "EntropySelector":
        from manylabel.neighbors.entropy import EntropySelector

        return EntropySelector
    raise AttributeError(f"module 'manylabel.neighbors' has no attribute {name!r}")
