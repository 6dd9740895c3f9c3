"""Turn each match of a label's name in a text into numeric clues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.parallel import run_blocks
from manylabel.validation import pointers, trusted_csr
from manylabel.vocabulary.label_names import PREFERRED, LabelNames
from manylabel.vocabulary.matching import Matches, Tokens

__all__ = ["CLUES", "Found", "find_in_tokens", "find_labels"]

#: Name of each clue -> how reasons describe it.
CLUES: dict[str, str] = {
    "name": "its name is in the text",
    "rest": "the name is inflected",
    "often": "how often it occurs",
    "first": "it occurs in the first sentence",
    "early": "how early it occurs",
    "spread": "it occurs in several places",
    "covered": "it is part of a longer name",
    "gap": "another word interrupts it",
    "length": "how long the text is",
    "rivals": "how many other names are in the text",
    "words": "how many words it has",
    "letters": "how long it is",
    "ambiguous": "other labels have the same name",
    "qualified": "it needs a qualifier to be clear",
    "context": "its qualifier is in the text",
    "common": "it consists of very common words",
    "alternative": "it is an alternative name",
    "related": "related labels are in the text",
    "vocabulary": "how rare its words are among names",
}
_PLACE = {name: position for position, name in enumerate(CLUES)}
#: The number of letters by which word endings differ is capped at this.
_MAX_REST = 5
#: Texts per block.
BLOCK = 2_048


@dataclass(frozen=True)
class Found:
    """Labels whose names occur in texts.

    Parameters
    ----------
    pattern : csr_array of shape (n_documents, n_labels), int8
        Ones where a label's name occurs in a text.
    clues : ndarray of shape (n_found, n_clues)
        A row for each entry of ``pattern``; columns as in ``CLUES``.
    best : ndarray of int64
        For each entry, the index of the clearest match in ``matches``.
    matches : Matches
    """

    pattern: sparse.csr_array
    clues: NDArray[np.float64]
    best: NDArray[np.int64]
    matches: Matches


def find_labels(named: LabelNames, texts: Sequence[str], n_jobs: int | None = None) -> Found:
    """Find labels by their names, with the clues for each.

    Examples
    --------
    >>> named = LabelNames(["cats", "dogs"], [0, 1], [0, 0], 2, "english")
    >>> find_labels(named, ["A cat.", "Birds"]).pattern.toarray().tolist()
    [[1, 0], [0, 0]]
    """
    if len(texts) <= BLOCK:
        return find_in_tokens(named, named.matcher.tokens(texts))
    starts = range(0, len(texts), BLOCK)
    blocks: dict[int, Found] = {}

    def work(first: int, last: int) -> None:
        for block in range(first, last):
            some = list(texts[starts[block] : starts[block] + BLOCK])
            blocks[block] = find_in_tokens(named, named.matcher.tokens(some))

    run_blocks(work, len(starts), 1, n_jobs)
    return _joined([blocks[block] for block in range(len(starts))])


def _joined(parts: list[Found]) -> Found:
    """Join the results of consecutive blocks of texts."""
    matches = [part.matches for part in parts]
    texts = np.cumsum([0] + [part.pattern.shape[0] for part in parts])
    before = np.cumsum([0] + [len(each) for each in matches])
    values = {
        each.name: np.concatenate([getattr(one, each.name) for one in matches])
        for each in fields(Matches)
    }
    values["documents"] = np.concatenate(
        [one.documents + first for one, first in zip(matches, texts, strict=False)]
    )
    return Found(
        sparse.csr_array(sparse.vstack([part.pattern for part in parts], "csr")),
        np.concatenate([part.clues for part in parts]),
        np.concatenate([part.best + first for part, first in zip(parts, before, strict=False)]),
        Matches(**values),
    )


def find_in_tokens(named: LabelNames, tokens: Tokens) -> Found:
    """Find labels by their whole names in one block of texts."""
    matcher = named.matcher
    matches = matcher.find(tokens)
    n_labels, n_texts = named.n_labels, tokens.bounds.size - 1
    labels = named.columns[matches.names]
    keys = matches.documents * n_labels + labels
    alternative = named.kinds[matches.names] != PREFERRED
    words = matcher.depths_of(matches.names)
    # The clearest match of a label comes first.
    order = np.lexsort(
        (matches.starts, -words, alternative, matches.rest, matches.gaps, matches.covered, keys)
    )
    keys = keys[order]
    is_first = np.ones(keys.size, np.bool_)
    is_first[1:] = keys[1:] != keys[:-1]
    heads = np.flatnonzero(is_first)
    best = order[heads]
    if not heads.size:
        empty = sparse.csr_array((n_texts, n_labels), dtype=np.int8)
        return Found(empty, np.empty((0, len(CLUES))), best, matches)
    documents, columns = keys[heads] // n_labels, keys[heads] % n_labels
    sizes = np.bincount(documents, minlength=n_texts)
    ones = np.ones(heads.size, np.int8)
    pattern = trusted_csr(ones, columns.astype(np.int32), pointers(sizes), (n_texts, n_labels))
    # Two names of a label that match at the same word are one occurrence.
    occurrences = _distinct(is_first.cumsum() - 1, matches.starts[order], heads.size)
    starts = np.minimum.reduceat(matches.starts[order], heads)
    stops = np.maximum.reduceat(matches.stops[order], heads)
    lengths = np.maximum(matches.lengths[documents], 1)
    names = matches.names[best]
    covered = matches.covered[best]
    n_clear = np.bincount(documents, weights=~covered, minlength=n_texts)
    rest = np.minimum(matches.rest[best], _MAX_REST)
    clues = np.zeros((heads.size, len(CLUES)))
    values = {
        "name": 1.0,
        "rest": rest / _MAX_REST,
        "often": np.log(occurrences),
        "first": matches.passages[best] == 0,
        "early": -np.log1p(starts) / 3,
        "spread": (stops - starts - words[best]) / lengths,
        "covered": covered,
        "gap": matches.gaps[best] > 0,
        "length": np.log(lengths) / 3,
        "rivals": np.log1p(np.maximum(n_clear[documents] - ~covered, 0)) / 3,
        "words": np.log(words[best]),
        "letters": np.log1p(named.letters[names]) - 2,
        "ambiguous": np.log(named.ambiguity[names]),
        "qualified": matcher.context_ptr[names + 1] > matcher.context_ptr[names],
        "context": _in_context(named, tokens, documents, names),
        "common": named.is_common[names],
        "alternative": alternative[best],
        "related": _with_relatives(named, documents, columns),
        "vocabulary": np.log(named.spread[names]) / 3,
    }
    for name, value in values.items():
        clues[:, _PLACE[name]] = value
    return Found(pattern, clues, best, matches)


def _distinct(
    groups: NDArray[np.int64], values: NDArray[np.int64], n_groups: int
) -> NDArray[np.int64]:
    """The number of distinct values in each group."""
    order = np.lexsort((values, groups))
    groups, values = groups[order], values[order]
    is_new = np.ones(groups.size, np.bool_)
    is_new[1:] = (groups[1:] != groups[:-1]) | (values[1:] != values[:-1])
    return np.bincount(groups[is_new], minlength=n_groups)


def _in_context(
    named: LabelNames, tokens: Tokens, documents: NDArray[np.int64], names: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether a word of each name's qualifier occurs in the text."""
    matcher = named.matcher
    is_there = np.zeros(names.size, np.bool_)
    starts, terms, bounds = matcher.context_ptr, matcher.context_terms, tokens.bounds
    there: set[int] = set()
    last = -1
    for position in np.flatnonzero(starts[names + 1] > starts[names]).tolist():
        if documents[position] != last:
            last = documents[position]
            there = set(tokens.terms[bounds[last] : bounds[last + 1]].tolist())
        name = names[position]
        is_there[position] = not there.isdisjoint(terms[starts[name] : starts[name + 1]].tolist())
    return is_there


def _with_relatives(
    named: LabelNames, documents: NDArray[np.int64], columns: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether a related label was found in the same text."""
    related = named.related
    begins = related.indptr[columns].astype(np.int64)
    sizes = related.indptr[columns + 1] - begins
    places = np.arange(sizes.sum()) + np.repeat(begins - (np.cumsum(sizes) - sizes), sizes)
    near = np.repeat(documents, sizes) * related.shape[1] + related.indices[places]
    return np.isin(documents * related.shape[1] + columns, near)
