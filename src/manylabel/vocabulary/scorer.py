"""Propose and score labels whose names occur in a text."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.evidence import Reason
from manylabel.predictions import keep_top, values_at
from manylabel.scoring import Candidates, CandidateSource, Documents, Scorer, Training
from manylabel.vocabulary.clues import Found, find_labels
from manylabel.vocabulary.label_names import LabelNames
from manylabel.vocabulary.weights import (
    DEFAULT_WEIGHTS,
    LEARNED,
    N_STATIC,
    UNNAMED,
    fit_weights,
    learned_clues,
)

__all__ = ["NameScorer", "NameSource", "found_in"]

#: A label is in a higher group from this number of training documents on.
_FREQUENCIES = np.array([1, 2, 5, 20, 100, 500])
_N_GROUPS = _FREQUENCIES.size + 1
#: Weight of the prior log-odds of unnamed candidates, in candidates.
_PRIOR_CANDIDATES = 50.0
#: Matches from which the weights of clues are learned, besides those of held-out documents.
_SAMPLE = 200_000


def found_in(documents: Documents, named: LabelNames, n_jobs: int | None = None) -> Found | None:
    """The labels whose names occur in documents; None if there are no texts.

    The result is cached, because sources and scorers share it.
    """
    if documents.texts is None:
        return None
    known = documents.cache.get("names")
    if known is None or known[0] is not named or known[1] != named.n_labels:
        matched = find_labels(named, documents.texts, n_jobs)
        documents.cache["names"] = known = named, named.n_labels, matched
    return known[2]


class NameSource(CandidateSource):
    """Proposes labels whose names occur in a document, even labels without training documents."""

    name = "names"
    #: Maximum labels per document.
    limit: ClassVar[int] = 50

    def __init__(self) -> None:
        self.named: LabelNames | None = None

    def wants(self, training: Training) -> bool:
        """Whether labels have names and documents have texts."""
        return isinstance(training.vocabulary, LabelNames) and training.documents.texts is not None

    def fit(self, training: Training) -> None:
        """Store the names."""
        self.named = training.vocabulary

    def propose(
        self,
        documents: Documents,
        leave_out: NDArray[np.int64] | None = None,
        n_jobs: int | None = None,
    ) -> Candidates:
        """Propose the labels that were found, up to the limit those with the best scores."""
        assert self.named is not None
        scores = self._untrained_scores(documents, n_jobs)
        if scores is None:
            return Candidates(
                sparse.csr_array((len(documents), self.named.n_labels), dtype=np.int8)
            )
        if scores.nnz and np.diff(scores.indptr).max() > self.limit:
            scores = keep_top(scores, self.limit)
        ones = np.ones(scores.nnz, np.int8)
        # The scorer reads the cached matches later, so their order must not change.
        parts = ones, scores.indices.copy(), scores.indptr.copy()
        pattern = sparse.csr_array(parts, shape=scores.shape)
        pattern.sort_indices()
        return Candidates(pattern)

    def _untrained_scores(
        self, documents: Documents, n_jobs: int | None
    ) -> sparse.csr_array | None:
        """Score labels found in documents by default weights; None if there are no texts."""
        assert self.named is not None
        matched = found_in(documents, self.named, n_jobs)
        if matched is None:
            return None
        values = matched.clues @ DEFAULT_WEIGHTS[:N_STATIC]
        pattern = matched.pattern
        return sparse.csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)

    def grow(self, n_labels: int) -> None:
        """Add labels that appear later; they have no names."""
        if self.named is not None:
            self.named.grow(n_labels)


class NameScorer(Scorer):
    """Scores labels whose names occur in the text.

    The score is the log-odds of a label whose name is in the text, minus those of one whose name
    is not. It is a weighted sum of clues about the match (where, how often, how clear, how long)
    and about the label (how often documents with its name have the label). Labels share the weights
    of clues. With little data, weights stay near defaults learned from other vocabularies.
    """

    name = "names"
    effort = "quick"
    title = "its name in the text"
    sentence = "A name of the label is in the text."
    learns_at_once = True
    judges_bare_labels = True
    reads_incomplete = True
    #: How reasons describe each clue, and its weight without training data.
    titles: ClassVar[dict[str, str]] = LEARNED
    defaults: ClassVar[NDArray[np.float64]] = DEFAULT_WEIGHTS

    def __init__(self) -> None:
        self.weights, self.shift = self.defaults.copy(), np.full(_N_GROUPS, UNNAMED)
        self.hits = self.matched = self.counts = np.empty(0, np.int64)
        self.named: LabelNames | None = None

    def wants(self, training: Training) -> bool:
        """Whether labels have names and documents have texts."""
        return isinstance(training.vocabulary, LabelNames) and training.documents.texts is not None

    def fit(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> NDArray[np.float64]:
        """Count how often a name in the text comes with the label; learn the weights of clues."""
        documents, Y = training.documents, training.Y
        self.named = training.vocabulary
        self.hits = self.matched = self.counts = np.zeros(Y.shape[1], np.int64)
        matched = self._look(documents, training.vocabulary, training.n_jobs)
        if matched is None:
            return np.zeros(len(held))
        self._count(matched, Y, 1, training.incomplete)
        rows = np.repeat(np.arange(len(documents)), np.diff(matched.pattern.indptr))
        kept = np.zeros(len(documents), np.bool_)
        kept[training.held] = True
        # All documents are usable, because `design` subtracts each from its own counts; a sample is
        # enough.
        used = kept[rows] | (rows % max(1, -(-rows.size // _SAMPLE)) == 0)
        used &= _known(matched, Y, training.incomplete)
        rows, labels = rows[used], matched.pattern.indices[used]
        truth = (values_at(Y, matched.pattern) > 0)[used]
        design = self.design(matched.clues[used], labels, truth)
        # Each half is scored by weights learned on the other.
        side, mine = rows % 2, kept[rows]
        values = np.empty(truth.size)
        for half in (0, 1):
            learn = side != half
            values[~learn] = design[~learn] @ self._weighed(design[learn], truth[learn])
        self.weights = self._weighed(design, truth)
        at = (np.cumsum(kept) - 1)[rows[mine]], labels[mine]
        self.shift = self._unnamed(_at(held, *at, np.ones(at[0].size)) > 0, Y[training.held], held)
        shift = self.shift[_group(self.counts[at[1]] - truth[mine])]
        return _at(held, *at, values[mine] - shift)

    def _weighed(
        self, design: NDArray[np.float64], truth: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        return fit_weights(design, truth, self.defaults)

    def _look(
        self, documents: Documents, named: LabelNames, n_jobs: int | None = None
    ) -> Found | None:
        """The labels that were found in documents, with a row of clues for each."""
        return found_in(documents, named, n_jobs)

    def _unnamed(
        self, is_named: NDArray[np.bool_], Y: sparse.csr_array, held: Candidates
    ) -> NDArray[np.float64]:
        """Log-odds of candidates whose names are not in the text, by frequency group."""
        truth = values_at(Y, held.pattern) > 0
        groups = _group(self.counts[held.labels] - truth)[~is_named]
        n_true = np.bincount(groups, weights=truth[~is_named], minlength=_N_GROUPS)
        n_false = np.bincount(groups, minlength=_N_GROUPS) - n_true
        # Smoothed towards the prior.
        return np.log(
            (n_true + _PRIOR_CANDIDATES * np.exp(UNNAMED)) / (n_false + _PRIOR_CANDIDATES)
        )

    def _count(
        self,
        found: Found,
        Y: sparse.csr_array,
        sign: int,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        """Add documents to the counts, or subtract them."""
        n_labels = Y.shape[1]
        pattern = found.pattern
        true = values_at(Y, pattern) > 0
        matched = pattern.indices[_known(found, Y, incomplete)]
        self.matched = self.matched + sign * np.bincount(matched, minlength=n_labels)
        self.hits = self.hits + sign * np.bincount(pattern.indices[true], minlength=n_labels)
        self.counts = self.counts + sign * np.bincount(Y.indices, minlength=n_labels)

    def design(
        self,
        clues: NDArray[np.float64],
        labels: NDArray[Any],
        truth: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.float64]:
        """All clues of found labels; with ``truth``, without the document's own counts."""
        hits, matched, counts = self.hits[labels], self.matched[labels], self.counts[labels]
        if truth is not None:
            hits, matched, counts = hits - truth, matched - 1, counts - truth
        return np.concatenate([clues, learned_clues(hits, matched, counts)], axis=1)

    def score(
        self, documents: Documents, candidates: Candidates, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Score each candidate by its name; 0 if the name is not in the text."""
        matched = self._found(documents, candidates, n_jobs)
        if matched is None:
            return np.zeros(len(candidates))
        pattern = matched.pattern
        rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
        values = self.design(matched.clues, pattern.indices) @ self.weights
        values -= self.shift[_group(self.counts[pattern.indices])]
        return _at(candidates, rows, pattern.indices, values)

    def _found(
        self, documents: Documents, candidates: Candidates, n_jobs: int | None = None
    ) -> Found | None:
        if not isinstance(candidates.vocabulary, LabelNames):
            return None
        return self._look(documents, candidates.vocabulary, n_jobs)

    def reasons(self, documents: Documents, candidates: Candidates, place: int) -> list[Reason]:
        """One reason: the name and where it occurs, and below it the share of each clue."""
        matched = self._found(documents, candidates, 1)
        if matched is None:
            return []
        label = int(candidates.labels[place])
        at = int(np.searchsorted(matched.pattern.indices, label))
        if at == matched.pattern.nnz or matched.pattern.indices[at] != label:
            return []
        assert documents.texts is not None
        named = candidates.vocabulary
        shares = self.design(matched.clues[[at]], np.array([label]))[0] * self.weights
        shares[0] -= self.shift[_group(self.counts[label])]
        below = tuple(
            Reason(clue, float(share), title=title)
            for (clue, title), share in zip(self.titles.items(), shares, strict=True)
            if share
        )
        spans, sentence = self._said(documents.texts[0], named, matched, label, at)
        return [
            Reason(
                "name",
                float(shares.sum()),
                reasons=below,
                title=self.title,
                sentence=sentence,
                spans=spans,
            )
        ]

    def _said(
        self, text: str, named: LabelNames, found: Found, label: int, at: int
    ) -> tuple[tuple[tuple[int, int], ...], str]:
        """Where the name of an entry occurs, and a sentence about it."""
        return _places(text, named, found, label, int(found.best[at]))

    # Updates

    def add(
        self,
        documents: Documents,
        Y: sparse.csr_array,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        """Add documents to the counts of names and labels."""
        self._change(documents, Y, 1, incomplete)

    def remove(
        self,
        documents: Documents,
        Y: sparse.csr_array,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        """Subtract documents from the counts of names and labels."""
        self._change(documents, Y, -1, incomplete)

    def _change(
        self,
        documents: Documents,
        Y: sparse.csr_array,
        sign: int,
        incomplete: NDArray[np.bool_] | None,
    ) -> None:
        self.grow(Y.shape[1])
        matched = None if self.named is None else self._look(documents, self.named)
        if matched is not None:
            self._count(matched, Y, sign, incomplete)

    def grow(self, n_labels: int) -> None:
        """Extend the counts for labels that appear later."""
        more = n_labels - self.counts.size
        if more > 0:
            self.hits, self.matched, self.counts = (
                np.pad(each, (0, more)) for each in (self.hits, self.matched, self.counts)
            )


def _known(
    found: Found, Y: sparse.csr_array, incomplete: NDArray[np.bool_] | None
) -> NDArray[np.bool_]:
    """Whether it is known, for each found label, if the document has it."""
    pattern = found.pattern
    if incomplete is None:
        return np.ones(pattern.nnz, np.bool_)
    given = values_at(Y, pattern) > 0
    return given | np.repeat(~incomplete, np.diff(pattern.indptr))


def _group(counts: Any) -> Any:
    """The frequency groups of labels with these numbers of documents."""
    return np.searchsorted(_FREQUENCIES, counts, side="right")


def _at(
    candidates: Candidates,
    rows: NDArray[np.int64],
    labels: NDArray[np.int32],
    values: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Values of (row, label) pairs in the order of candidates; 0 for other candidates."""
    width = candidates.pattern.shape[1]
    keys = candidates.rows * width + candidates.labels
    wanted = rows.astype(np.int64) * width + labels
    places = np.searchsorted(keys, wanted)
    there = places < keys.size
    there[there] = keys[places[there]] == wanted[there]
    scores = np.zeros(keys.size)
    scores[places[there]] = values[there]
    return scores


def _places(
    text: str, named: LabelNames, found: Found, label: int, best: int
) -> tuple[tuple[tuple[int, int], ...], str]:
    """Where a label's names occur in a text, and a sentence about the clearest match."""
    matches = found.matches
    words = named.matcher.spans(text)
    mine = np.flatnonzero(named.columns[matches.names] == label)
    spans = sorted(
        {(words[matches.starts[m]][0], words[matches.stops[m] - 1][1]) for m in mine.tolist()}
    )
    name = named.matcher.names[int(matches.names[best])]
    written = text[words[matches.starts[best]][0] : words[matches.stops[best] - 1][1]]
    where = "the first sentence" if matches.passages[best] == 0 else "the text"
    sentence = f"Its name *{name}* is in {where}"
    if written.casefold() != name.casefold():
        sentence += f", as *{written}*"
    return tuple(spans), sentence + "."
