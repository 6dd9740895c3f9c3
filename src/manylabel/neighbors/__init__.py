"""Exact neighbour search, and classifiers made of neighbours."""

from manylabel.neighbors.index import NeighborIndex, Neighbors
from manylabel.neighbors.lcif import LCIF, FeatureKNN, InstanceKNN

__all__ = ["LCIF", "FeatureKNN", "InstanceKNN", "NeighborIndex", "Neighbors"]
