"""Exact neighbour search, and classifiers based on neighbours."""

from typing import TYPE_CHECKING

from manylabel.public import lazy_exports

if TYPE_CHECKING:
    from manylabel.neighbors.brknn import BRkNN
    from manylabel.neighbors.dense import DenseIndex
    from manylabel.neighbors.entropy import EntropySelector
    from manylabel.neighbors.iblr import IBLR
    from manylabel.neighbors.index import NeighborIndex
    from manylabel.neighbors.lcif import LCIF, FeatureKNN, InstanceKNN
    from manylabel.neighbors.mlknn import MLkNN
    from manylabel.neighbors.strategies import Neighbors

__all__ = [
    "IBLR",
    "LCIF",
    "BRkNN",
    "DenseIndex",
    "EntropySelector",
    "FeatureKNN",
    "InstanceKNN",
    "MLkNN",
    "NeighborIndex",
    "Neighbors",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "IBLR": "manylabel.neighbors.iblr",
        "LCIF": "manylabel.neighbors.lcif",
        "BRkNN": "manylabel.neighbors.brknn",
        "DenseIndex": "manylabel.neighbors.dense",
        "EntropySelector": "manylabel.neighbors.entropy",
        "FeatureKNN": "manylabel.neighbors.lcif",
        "InstanceKNN": "manylabel.neighbors.lcif",
        "MLkNN": "manylabel.neighbors.mlknn",
        "NeighborIndex": "manylabel.neighbors.index",
        "Neighbors": "manylabel.neighbors.strategies",
    },
)
