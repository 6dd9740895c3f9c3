"""Labels whose names stand in a text: as candidates, and as a score with reasons."""

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

#: Labels with at least that many documents are in the next group.
_FREQUENCIES = np.array([1, 2, 5, 20, 100, 500])
_N_GROUPS = _FREQUENCIES.size + 1
#: How many candidates it is worth what is usual.
_USUAL = 50.0
#: Matches from which the weights of clues are learned, beside those of held-out documents.
_ENOUGH = 200_000


def found_in(documents: Documents, named: LabelNames, n_jobs: int | None = None) -> Found | None:
    """The labels whose names stand in documents; None where there are no texts.

    Found once: sources and scorers of the same documents share it.
    """
    if documents.texts is None:
        return None
    known = documents.cache.get("names")
    if known is None or known[0] is not named or known[1] != named.n_labels:
        matched = find_labels(named, documents.texts, n_jobs)
        documents.cache["names"] = known = named, named.n_labels, matched
    return known[2]


class NameSource(CandidateSource):
    """Proposes labels whose names stand in a document, with training documents or without."""

    name = "names"
    #: Labels of a document, at most.
    limit: ClassVar[int] = 50

    def __init__(self) -> None:
        self.named: LabelNames | None = None

    def wants(self, training: Training) -> bool:
        """Whether labels have names, and documents texts."""
        return isinstance(training.vocabulary, LabelNames) and training.documents.texts is not None

    def fit(self, training: Training) -> None:
        """Remember the names."""
        self.named = training.vocabulary

    def propose(
        self,
        documents: Documents,
        leave_out: NDArray[np.int64] | None = None,
        n_jobs: int | None = None,
    ) -> Candidates:
        """The labels of the source; of many, those that most speaks for."""
        assert self.named is not None
        worth = self._worth(documents, n_jobs)
        if worth is None:
            return Candidates(
                sparse.csr_array((len(documents), self.named.n_labels), dtype=np.int8)
            )
        if worth.nnz and np.diff(worth.indptr).max() > self.limit:
            worth = keep_top(worth, self.limit)
        ones = np.ones(worth.nnz, np.int8)
        # What was found is kept for the scorer, so its order must not change.
        parts = ones, worth.indices.copy(), worth.indptr.copy()
        pattern = sparse.csr_array(parts, shape=worth.shape)
        pattern.sort_indices()
        return Candidates(pattern)

    def _worth(self, documents: Documents, n_jobs: int | None) -> sparse.csr_array | None:
        """How much speaks for each label whose name stands in documents; None if none does."""
        assert self.named is not None
        matched = found_in(documents, self.named, n_jobs)
        if matched is None:
            return None
        values = matched.clues @ DEFAULT_WEIGHTS[:N_STATIC]
        pattern = matched.pattern
        return sparse.csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)

    def grow(self, n_labels: int) -> None:
        """Make room for labels that appear later; they have no names."""
        if self.named is not None:
            self.named.grow(n_labels)


class NameScorer(Scorer):
    """How much speaks for a label that its name stands in the text.

    The score is the log-odds of a label whose name stands there, less those of one whose name does
    not: a weighted sum of what is known of the match (where, how often, how clear, how long) and of
    the label (how often documents with its name have the label). There is one weight for each such
    clue, none for single labels, and little data leaves the weights near those that other
    vocabularies have.
    """

    name = "names"
    effort = "quick"
    title = "its name in the text"
    sentence = "A name of the label stands in the text."
    learns_at_once = True
    judges_bare_labels = True
    reads_incomplete = True
    #: What people read of each clue, and its weight where there is nothing to learn from.
    titles: ClassVar[dict[str, str]] = LEARNED
    defaults: ClassVar[NDArray[np.float64]] = DEFAULT_WEIGHTS

    def __init__(self) -> None:
        self.weights, self.shift = self.defaults.copy(), np.full(_N_GROUPS, UNNAMED)
        self.hits = self.matched = self.counts = np.empty(0, np.int64)
        self.named: LabelNames | None = None

    def wants(self, training: Training) -> bool:
        """Whether labels have names, and documents texts."""
        return isinstance(training.vocabulary, LabelNames) and training.documents.texts is not None

    def fit(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> NDArray[np.float64]:
        """Count how names and labels go together; learn what clues are worth."""
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
        # Every document can teach, for what it adds to counts is taken off; a sample is enough.
        used = kept[rows] | (rows % max(1, -(-rows.size // _ENOUGH)) == 0)
        used &= _known(matched, Y, training.incomplete)
        rows, labels = rows[used], matched.pattern.indices[used]
        truth = (values_at(Y, matched.pattern) > 0)[used]
        design = self.design(matched.clues[used], labels, truth)
        # The second half is scored by what the first teaches, and the other way round.
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
        """The labels of which something stands in documents, with a row of clues for each."""
        return found_in(documents, named, n_jobs)

    def _unnamed(
        self, is_named: NDArray[np.bool_], Y: sparse.csr_array, held: Candidates
    ) -> NDArray[np.float64]:
        """The log-odds of candidates whose names are not in the text, by how common they are."""
        truth = values_at(Y, held.pattern) > 0
        groups = _group(self.counts[held.labels] - truth)[~is_named]
        n_true = np.bincount(groups, weights=truth[~is_named], minlength=_N_GROUPS)
        n_false = np.bincount(groups, minlength=_N_GROUPS) - n_true
        # Drawn to what they usually are, where there are few.
        return np.log((n_true + _USUAL * np.exp(UNNAMED)) / (n_false + _USUAL))

    def _count(
        self,
        found: Found,
        Y: sparse.csr_array,
        sign: int,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        """Take documents in, or out."""
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
        """All clues of labels that were found; with ``truth``, as if their documents were new."""
        hits, matched, counts = self.hits[labels], self.matched[labels], self.counts[labels]
        if truth is not None:
            hits, matched, counts = hits - truth, matched - 1, counts - truth
        return np.concatenate([clues, learned_clues(hits, matched, counts)], axis=1)

    def score(
        self, documents: Documents, candidates: Candidates, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """The worth of each candidate's name; 0 for those whose names are not there."""
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
        """One reason: the name, its places, and below it what each clue adds."""
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
        """Where the name of an entry stands, and what people read of it."""
        return _places(text, named, found, label, int(found.best[at]))

    # Documents that come and go

    def add(
        self,
        documents: Documents,
        Y: sparse.csr_array,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        """Count how names and labels go together in more documents."""
        self._change(documents, Y, 1, incomplete)

    def remove(
        self,
        documents: Documents,
        Y: sparse.csr_array,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        """Count no more how names and labels go together in documents."""
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
        """Make room for labels that appear later."""
        more = n_labels - self.counts.size
        if more > 0:
            self.hits, self.matched, self.counts = (
                np.pad(each, (0, more)) for each in (self.hits, self.matched, self.counts)
            )


def _known(
    found: Found, Y: sparse.csr_array, incomplete: NDArray[np.bool_] | None
) -> NDArray[np.bool_]:
    """Of each label that was found, whether it is known if its document has it."""
    pattern = found.pattern
    if incomplete is None:
        return np.ones(pattern.nnz, np.bool_)
    given = values_at(Y, pattern) > 0
    return given | np.repeat(~incomplete, np.diff(pattern.indptr))


def _group(counts: Any) -> Any:
    """The group of labels by how many documents they have."""
    return np.searchsorted(_FREQUENCIES, counts, side="right")


def _at(
    candidates: Candidates,
    rows: NDArray[np.int64],
    labels: NDArray[np.int32],
    values: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Values of (row, label) pairs in the order of candidates, 0 where there is none."""
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
    """Where a label's names stand in a text, and what people read of the clearest."""
    matches = found.matches
    words = named.matcher.spans(text)
    mine = np.flatnonzero(named.columns[matches.names] == label)
    spans = sorted(
        {(words[matches.starts[m]][0], words[matches.stops[m] - 1][1]) for m in mine.tolist()}
    )
    name = named.matcher.names[int(matches.names[best])]
    written = text[words[matches.starts[best]][0] : words[matches.stops[best] - 1][1]]
    where = "the first sentence" if matches.passages[best] == 0 else "the text"
    said = f"Its name *{name}* stands in {where}"
    if written.casefold() != name.casefold():
        said += f", as *{written}*"
    return tuple(spans), said + "."
