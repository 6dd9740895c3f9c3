"""Exact neighbour search, and classifiers made of neighbours."""

from manylabel.neighbors.brknn import BRkNN
from manylabel.neighbors.entropy import EntropySelector
from manylabel.neighbors.iblr import IBLR
from manylabel.neighbors.index import NeighborIndex, Neighbors
from manylabel.neighbors.lcif import LCIF, FeatureKNN, InstanceKNN
from manylabel.neighbors.mlknn import MLkNN

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
