"""Dictionaries of blocks of texts, merged into one: on a cluster in a tree.

Blocks number their strings independently. Merging numbers all strings in the order in which they
appear first, so the result does not depend on how the blocks were grouped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from manylabel.parallel import current_place, map_items

__all__ = ["Dictionary", "Merger", "merge_in_tree"]

#: Dictionaries that a task of a cluster merges into one.
FAN = 8
#: The numbers of a block's strings in the merged dictionaries.
Positions = tuple[NDArray[np.int32], ...]


@dataclass
class Dictionary:
    """Distinct strings and numbers that add up when dictionaries are merged.

    Parameters
    ----------
    names : sequence of str
    counts : ndarray of shape (n_kinds, n_names)
    """

    names: Sequence[str]
    counts: NDArray[np.int64]


class Merger:
    """Merges dictionaries, one after the other.

    Examples
    --------
    >>> merger = Merger()
    >>> merger.add(Dictionary(["ice", "ship"], np.array([[1, 2]]))).tolist()
    [0, 1]
    >>> merger.add(Dictionary(["sea", "ice"], np.array([[5, 5]]))).tolist()
    [2, 0]
    >>> merger.finish()
    Dictionary(names=['ice', 'ship', 'sea'], counts=array([[6, 2, 5]]))
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._parts: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = []

    def add(self, dictionary: Dictionary) -> NDArray[np.int32]:
        """Add a dictionary, and return the number of each of its strings."""
        numbers = self._numbers
        positions = np.array(
            [numbers.setdefault(name, len(numbers)) for name in dictionary.names], np.int32
        )
        self._parts.append((positions, dictionary.counts))
        return positions

    def finish(self) -> Dictionary:
        """The merged dictionary."""
        n_kinds = self._parts[0][1].shape[0] if self._parts else 0
        counts = np.zeros((n_kinds, len(self._numbers)), np.int64)
        for positions, more in self._parts:
            counts[:, positions] += more
        return Dictionary(list(self._numbers), counts)


def merge_in_tree(
    blocks: Iterable[tuple[Dictionary, ...]], n_placed: int
) -> tuple[list[Dictionary], list[Positions]]:
    """Merge the first dictionaries of all blocks, the second ones, and so on.

    A cluster merges a few blocks per task, then a few of the results, up to a single one, so that
    this process reads no string of a block.

    Parameters
    ----------
    blocks : iterable of tuple of Dictionary
    n_placed : int
        Return positions for this many dictionaries of each block.

    Returns
    -------
    merged : list of Dictionary
        Empty if there are no blocks.
    positions : list of tuple of ndarray
        For each block and dictionary the number of each string in the merged one.
    """
    if current_place() is None:
        return _merged(blocks, n_placed)
    levels: list[list[Positions]] = []
    while not levels or len(levels[-1]) > FAN:
        found = list(map_items(_merge, (n_placed,), _groups(blocks)))
        blocks = [tuple(merged) for merged, _ in found]
        levels.append([tuple(each) for _, positions in found for each in positions])
    if not found:
        return [], []
    whole = levels.pop()
    for positions in reversed(levels):
        whole = [
            tuple(up[own] for up, own in zip(whole[block // FAN], each, strict=True))
            for block, each in enumerate(positions)
        ]
    return found[0][0], whole


def _groups(
    blocks: Iterable[tuple[Dictionary, ...]],
) -> Iterator[tuple[tuple[Dictionary, ...], ...]]:
    """Consecutive blocks, a few at a time."""
    remaining = iter(blocks)
    while group := tuple(islice(remaining, FAN)):
        yield group


def _merge(
    n_placed: int, *blocks: tuple[Dictionary, ...]
) -> tuple[list[Dictionary], list[Positions]]:
    """Merge a few blocks: a task."""
    return _merged(blocks, n_placed)


def _merged(
    blocks: Iterable[tuple[Dictionary, ...]], n_placed: int
) -> tuple[list[Dictionary], list[Positions]]:
    mergers: list[Merger] = []
    positions: list[Positions] = []
    for block in blocks:
        mergers = mergers or [Merger() for _ in block]
        places = [merger.add(dictionary) for merger, dictionary in zip(mergers, block, strict=True)]
        positions.append(tuple(places[:n_placed]))
    return [merger.finish() for merger in mergers], positions
