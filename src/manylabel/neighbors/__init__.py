"""Exact neighbour search, and classifiers made of neighbours."""

from manylabel.neighbors.index import NeighborIndex, Neighbors

__all__ = ["NeighborIndex", "Neighbors"]
