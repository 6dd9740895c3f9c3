"""The names of the labels in the columns of a label matrix."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.text.stop_words import LANGUAGES
from manylabel.text.words import word_rules
from manylabel.vocabulary.matching import NameMatcher

__all__ = ["ALTERNATIVE", "HIDDEN", "PREFERRED", "LabelNames"]

#: Kinds of names.
PREFERRED, ALTERNATIVE, HIDDEN = 0, 1, 2


class LabelNames:
    """Names of labels by column, and the relations between labels.

    Parameters
    ----------
    names : iterable of str
    columns : array of int
        The label of each name, by its column.
    kinds : array of int
        PREFERRED, ALTERNATIVE or HIDDEN.
    n_labels : int
    language : str or None
        Full name of the language for stemming and stop words.
    related : csr_array of shape (n_labels, n_labels), optional
        Ones between labels that are broader, narrower or related.

    Examples
    --------
    >>> named = LabelNames(["cats", "felines", "dogs"], [0, 0, 1], [0, 1, 0], 2, "english")
    >>> matches = named.matcher.find(["Two cats and a dog"])
    >>> named.columns[matches.names].tolist()
    [0, 1]
    """

    def __init__(
        self,
        names: Iterable[str],
        columns: Any,
        kinds: Any,
        n_labels: int,
        language: str | None = None,
        related: sparse.csr_array | None = None,
    ) -> None:
        self.matcher = NameMatcher(names, language)
        self.columns = np.asarray(columns, np.int64)
        self.kinds = np.asarray(kinds, np.int8)
        self.n_labels, self.language = n_labels, language
        self.related = sparse.csr_array((n_labels, n_labels), dtype=np.int8)
        if related is not None:
            self.related = related

    @cached_property
    def ambiguity(self) -> NDArray[np.int64]:
        """For each name, the number of labels that have a name with the same terms."""
        matcher = self.matcher
        sizes = np.diff(matcher.node_ptr)
        node = np.repeat(np.arange(sizes.size), sizes)
        pairs = np.unique(node * self.n_labels + self.columns[matcher.names_by_node])
        n_labels = np.bincount(pairs // self.n_labels, minlength=sizes.size)
        n_meanings = np.ones(self.columns.size, np.int64)
        n_meanings[matcher.names_by_node] = n_labels[node]
        return n_meanings

    @cached_property
    def is_common(self) -> NDArray[np.bool_]:
        """Which names consist of stop words only."""
        matcher = self.matcher
        words = matcher.words.tolist()
        has_list = self.language in LANGUAGES
        stops = word_rules(True, self.language if has_list else None, None).terms(words)
        is_word = np.array([not term for term in stops], np.bool_)
        lengths = np.diff(matcher.name_ptr)
        each = np.repeat(np.arange(lengths.size), lengths)
        n_stops = np.bincount(each, weights=is_word[matcher.name_words], minlength=lengths.size)
        return (n_stops == lengths) & (lengths > 0)

    @cached_property
    def letters(self) -> NDArray[np.int64]:
        """The total length of the words of each name."""
        matcher = self.matcher
        sizes = np.array([len(word) for word in matcher.words], np.int64)
        lengths = np.diff(matcher.name_ptr)
        each = np.repeat(np.arange(lengths.size), lengths)
        return np.bincount(each, weights=sizes[matcher.name_words], minlength=lengths.size).astype(
            np.int64
        )

    @cached_property
    def spread(self) -> NDArray[np.int64]:
        """For each name, the number of names that contain its rarest word."""
        matcher = self.matcher
        lengths = np.diff(matcher.name_ptr)
        each = np.repeat(np.arange(lengths.size), lengths)
        pairs = np.unique(each * len(matcher.terms) + matcher.name_terms)
        in_names = np.bincount(pairs % max(len(matcher.terms), 1), minlength=len(matcher.terms))
        rarest = np.full(lengths.size, np.iinfo(np.int64).max)
        np.minimum.at(rarest, each, in_names[matcher.name_terms])
        return np.where(lengths > 0, rarest, 1)

    def grow(self, n_labels: int) -> None:
        """Add labels without names."""
        if n_labels > self.n_labels:
            self.n_labels = n_labels
            self.related = self.related.copy()
            self.related.resize((n_labels, n_labels))
