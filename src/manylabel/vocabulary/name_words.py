"""Find and score labels whose names share words with a text, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.parallel import run_blocks
from manylabel.predictions import keep_top, values_at
from manylabel.scoring import Candidates, Documents, Training
from manylabel.store.strings import StringArray
from manylabel.vocabulary.label_names import PREFERRED, LabelNames
from manylabel.vocabulary.scorer import NameScorer, NameSource

__all__ = ["NameWordScorer", "NameWordSource", "Rarity", "Shared", "share_labels"]

#: Words that are in more names than this propose no label; of the others, only the first of a text.
MOST_NAMES, MOST_TERMS = 300, 40
#: Maximum labels per document that the scorer sees.
_SCORED = 100
#: Texts per block.
_BLOCK = 1_024
#: Weight, in texts, of the frequency of a word among names as a prior of its frequency in texts.
_PRIOR_TEXTS = 500.0
#: Clue -> how reasons describe it, and its weight without training data (maximum likelihood on
#: 10,000 training titles of YSO-Finna, rounded).
_CLUES: dict[str, tuple[str, float]] = {
    "word": ("a word of its name is in the text", -4.5),
    "share": ("how much of its name is in the text", 0.5),
    "most": ("nearly all of its name is in the text", 0.9),
    "whole": ("every word of its name is in the text", -0.6),
    "weight": ("how rare these words are", 5.0),
    "size": ("how rare all its words are", -2.5),
    "words": ("how many words it has", -0.3),
    "length": ("how long the text is", -0.3),
    "alternative": ("it is an alternative name", -1.0),
    "rate": ("how often documents with these words have the label", 0.2),
    "matched": ("how many documents have a word of the name", -1.2),
    "documents": ("how many documents have the label", 0.1),
    "seen": ("documents have the label", 0.4),
}


class Rarity:
    """How rare the words of names are in texts.

    Parameters
    ----------
    terms : StringArray
    heard : ndarray
        The number of texts with each term.
    n_texts : int
    """

    def __init__(self, terms: StringArray, heard: NDArray[np.int64], n_texts: int) -> None:
        self.terms, self.heard, self.n_texts = terms, heard, n_texts

    def of(self, named: LabelNames) -> NDArray[np.float64]:
        """The weight of each term of a matcher, cached."""
        known = self.__dict__.get("_of")
        if known is None or known[0] is not named.matcher:
            matcher = named.matcher
            heard = self.heard
            if matcher.terms is not self.terms and matcher.terms != self.terms:
                place = {term: number for number, term in enumerate(self.terms)}
                numbers = np.array([place.get(term, -1) for term in matcher.terms], np.int64)
                heard = np.where(numbers >= 0, np.append(self.heard, 0)[numbers], 0)
            n_names = np.diff(matcher.term_names[0])
            usual = (n_names + 1) / (len(matcher.names) + 1)
            weights = np.log(
                (self.n_texts + _PRIOR_TEXTS) / (heard + _PRIOR_TEXTS * np.minimum(usual, 1))
            )
            known = self.__dict__["_of"] = matcher, np.maximum(weights, 0.01)
        return known[1]

    def _store_state(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}


@dataclass(frozen=True)
class Shared:
    """Labels that share words with texts.

    Parameters
    ----------
    pattern : csr_array of shape (n_documents, n_labels), int8
    clues : ndarray of shape (n_found, n_clues)
        A row for each entry of ``pattern``.
    names : ndarray of int64
        For each entry, the name that shares most with the text.
    best : csr_array
        An untrained score of each entry.
    """

    pattern: sparse.csr_array
    clues: NDArray[np.float64]
    names: NDArray[np.int64]
    best: sparse.csr_array


def share_labels(
    named: LabelNames, rarity: NDArray[np.float64], texts: Sequence[str], n_jobs: int | None = None
) -> Shared:
    """Find labels that share words with texts, with the clues for each.

    Examples
    --------
    >>> named = LabelNames(["piano music", "dogs"], [0, 1], [0, 0], 2, "english")
    >>> shared = share_labels(named, np.ones(3), ["Songs for the piano"])
    >>> shared.pattern.toarray().tolist(), shared.clues[0, 1].tolist()
    ([[1, 0]], 0.5)
    """
    starts = range(0, len(texts), _BLOCK)
    blocks: dict[int, Shared] = {}

    def work(first: int, last: int) -> None:
        for block in range(first, last):
            blocks[block] = _share(named, rarity, texts[starts[block] : starts[block] + _BLOCK])

    if len(texts) <= _BLOCK:
        return _share(named, rarity, texts)
    run_blocks(work, len(starts), 1, n_jobs)
    parts = [blocks[block] for block in range(len(starts))]
    return Shared(
        sparse.csr_array(sparse.vstack([part.pattern for part in parts], "csr")),
        np.concatenate([part.clues for part in parts]),
        np.concatenate([part.names for part in parts]),
        sparse.csr_array(sparse.vstack([part.best for part in parts], "csr")),
    )


def _share(named: LabelNames, rarity: NDArray[np.float64], texts: Sequence[str]) -> Shared:
    """Find labels that share words with one block of texts."""
    from manylabel.kernels.vocabulary_words import share_words

    matcher = named.matcher
    tokens = matcher.tokens(texts)
    counts, labels, names, common, total = share_words(
        tokens.terms,
        tokens.bounds,
        MOST_NAMES,
        MOST_TERMS,
        *matcher.term_names,
        matcher.name_ptr,
        matcher.name_terms,
        named.columns,
        rarity,
        named.n_labels,
    )
    shape = len(texts), named.n_labels
    ptr = np.concatenate([[0], np.cumsum(counts)])
    rows = np.repeat(np.arange(len(texts)), counts)
    order = np.lexsort((labels, rows))
    labels, names, common, total = labels[order], names[order], common[order], total[order]
    share = common / total
    place = sparse.csr_array((np.arange(1, labels.size + 1), labels, ptr), shape=shape)
    best = sparse.csr_array((share + 1e-2 * common, labels, ptr), shape=shape)
    if labels.size and counts.max() > _SCORED:
        best = keep_top(best, _SCORED)
        best.sort_indices()
        kept = values_at(place, best).astype(np.int64) - 1
        names, common, total, share = names[kept], common[kept], total[kept], share[kept]
    pattern = sparse.csr_array((np.ones(best.nnz, np.int8), best.indices, best.indptr), shape=shape)
    lengths = np.maximum(np.diff(tokens.bounds), 1)
    clues = np.column_stack(
        [
            np.ones(best.nnz),
            share,
            share**2,
            share > 0.999,
            common / 10,
            total / 10,
            np.log(np.maximum(matcher.depths_of(names), 1)),
            np.repeat(np.log(lengths) / 3, np.diff(best.indptr)),
            named.kinds[names] != PREFERRED,
        ]
    )
    return Shared(pattern, clues, names, best)


def shared_in(
    documents: Documents, named: LabelNames, rarity: Rarity, n_jobs: int | None = None
) -> Shared | None:
    """The labels that share words with documents, cached; None if there are no texts."""
    if documents.texts is None:
        return None
    known = documents.cache.get("name words")
    if known is None or known[0] is not named or known[1] != named.n_labels:
        shared = share_labels(named, rarity.of(named), documents.texts, n_jobs)
        documents.cache["name words"] = known = named, named.n_labels, shared
    return known[2]


def _heard(training: Training) -> Rarity:
    """Count the training texts that contain each word of names."""
    documents, matcher = training.documents, training.vocabulary.matcher
    known = documents.cache.get("heard")
    if known is None or known.terms is not matcher.terms:
        heard = np.zeros(len(matcher.terms), np.int64)
        assert documents.texts is not None
        for start in range(0, len(documents), _BLOCK):
            tokens = matcher.tokens(documents.texts[start : start + _BLOCK])
            rows = np.repeat(np.arange(tokens.bounds.size - 1), np.diff(tokens.bounds))
            pairs = np.unique(rows * (heard.size + 1) + tokens.terms + 1) % (heard.size + 1)
            heard += np.bincount(pairs, minlength=heard.size + 1)[1:]
        documents.cache["heard"] = known = Rarity(matcher.terms, heard, len(documents))
    return known


class NameWordSource(NameSource):
    """Proposes labels that share rare words with a document."""

    name = "name words"
    limit: ClassVar[int] = 30

    def __init__(self) -> None:
        super().__init__()
        self.rarity: Rarity | None = None

    def fit(self, training: Training) -> None:
        """Store the names, and learn how rare their words are."""
        super().fit(training)
        self.rarity = _heard(training)

    def _untrained_scores(
        self, documents: Documents, n_jobs: int | None
    ) -> sparse.csr_array | None:
        """An untrained score of each label that shares words with documents."""
        assert self.named is not None
        assert self.rarity is not None
        shared = shared_in(documents, self.named, self.rarity, n_jobs)
        return None if shared is None else shared.best


class NameWordScorer(NameScorer):
    """Scores labels by the words of their names that occur in the text, in any order.

    The score is a weighted sum, as in :class:`NameScorer`, which requires the whole name.
    """

    name = "name words"
    effort = "normal"
    title = "words of its name"
    sentence = "Words of the label's name are in the text."
    titles: ClassVar[dict[str, str]] = {clue: title for clue, (title, _) in _CLUES.items()}
    defaults: ClassVar[NDArray[np.float64]] = np.array([worth for _, worth in _CLUES.values()])

    def __init__(self) -> None:
        super().__init__()
        self.rarity: Rarity | None = None

    def fit(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> NDArray[np.float64]:
        """Learn how rare words are, then the weights of clues."""
        if self.wants(training):
            self.rarity = _heard(training)
        return super().fit(training, candidates, held)

    def _look(  # type: ignore[override]
        self, documents: Documents, named: LabelNames, n_jobs: int | None = None
    ) -> Shared | None:
        if self.rarity is None:
            return None
        return shared_in(documents, named, self.rarity, n_jobs)

    def _said(  # type: ignore[override]
        self, text: str, named: LabelNames, found: Shared, label: int, at: int
    ) -> tuple[tuple[tuple[int, int], ...], str]:
        """Where words of the name occur, and a sentence about them."""
        matcher, name = named.matcher, int(found.names[at])
        mine = matcher.name_terms[matcher.name_ptr[name] : matcher.name_ptr[name + 1]]
        terms = matcher.tokens([text]).terms
        words = matcher.spans(text)
        spans = tuple(words[place] for place in np.flatnonzero(np.isin(terms, mine)).tolist())
        written = list(dict.fromkeys(text[start:stop] for start, stop in spans))
        listed = ", ".join(f"*{word}*" for word in written)
        verb = "is" if len(written) == 1 else "are"
        return spans, f"Of its name *{matcher.names[name]}*, {listed} {verb} in the text."
