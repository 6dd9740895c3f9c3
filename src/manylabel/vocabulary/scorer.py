"""Propose and score labels by their names in a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.evidence import Reason
from manylabel.parallel import run_blocks
from manylabel.predictions import values_at
from manylabel.scoring import Candidates, CandidateSource, Documents, Scorer, Training
from manylabel.vocabulary.clues import Found
from manylabel.vocabulary.label_names import LabelNames
from manylabel.vocabulary.name_clues import BLOCK, NameClues, Named, clues_in, names_in
from manylabel.vocabulary.name_counts import NameCounts, known_entries
from manylabel.vocabulary.name_words import Rarity, Shared, count_words
from manylabel.vocabulary.weights import (
    CLUE_TITLES,
    DEFAULT_WEIGHTS,
    UNNAMED,
    WHOLE,
    WORDS,
    fit_weights,
    rate,
)

__all__ = ["NameScorer", "NameSource"]

#: A label is in a higher group from this number of training documents on.
_FREQUENCIES = np.array([1, 2, 5, 20, 100, 500])
_N_GROUPS = _FREQUENCIES.size + 1
#: Weight of the prior log-odds of unnamed candidates, in candidates.
_PRIOR_CANDIDATES = 50.0
#: Documents from which the weights of clues are learned; more if more are held out.
_SAMPLE = 10_000
#: Matches from which they are learned, at most.
_LESSONS = 400_000


def _has_names(training: Training) -> bool:
    """Whether labels have names and documents have texts."""
    return isinstance(training.vocabulary, LabelNames) and training.documents.texts is not None


def _rarity_in(training: Training) -> Rarity:
    """How rare the words of names are in the training documents; counted once."""
    documents, named = training.documents, training.vocabulary
    known = documents.cache.get("rarity")
    if known is None or known.terms is not named.matcher.terms:
        assert documents.texts is not None
        documents.cache["rarity"] = known = count_words(named, documents.texts)
    return known


class NameSource(CandidateSource):
    """Proposes labels with a name, or words of a name, in the text, even labels without documents.

    *Songs for the piano* points to *piano music*, though its name is not in the text.
    """

    name = "names"
    reaches_all = False

    def __init__(self) -> None:
        self.named: LabelNames | None = None
        self.rarity: Rarity | None = None

    def wants(self, training: Training) -> bool:
        """Whether labels have names and documents have texts."""
        return _has_names(training)

    def fit(self, training: Training) -> None:
        """Store the names, and how rare their words are."""
        self.named, self.rarity = training.vocabulary, _rarity_in(training)

    def propose(
        self,
        documents: Documents,
        leave_out: NDArray[np.int64] | None = None,
        n_jobs: int | None = None,
    ) -> Candidates:
        """Propose the labels with the best clues."""
        assert self.named is not None
        assert self.rarity is not None
        looked: Named | NameClues | None
        if len(documents) <= BLOCK:
            looked = clues_in(documents, self.named, self.rarity)
        else:
            looked = names_in(documents, self.named, self.rarity, n_jobs)
        if looked is None:
            return Candidates(
                sparse.csr_array((len(documents), self.named.n_labels), dtype=np.int8)
            )
        return Candidates(looked.best)

    def grow(self, n_labels: int) -> None:
        """Add labels that appear later; they have no names."""
        if self.named is not None:
            self.named.grow(n_labels)


class NameScorer(Scorer):
    """Scores labels by their names in the text.

    The score is the log-odds of a label with a name, or words of a name, in the text, minus those
    of one without. It is a weighted sum of clues about the match (where, how often, how clear, how
    much of the name) and about the label (how often documents with its name have the label).
    Labels share the weights of clues. With little data, weights stay near defaults learned from
    other vocabularies.
    """

    name = "names"
    effort = "quick"
    title = "its name in the text"
    sentence = "A name of the label, or words of it, are in the text."
    learns_at_once = True
    scores_unused_labels = True
    reads_incomplete = True

    def __init__(self) -> None:
        self.weights, self.shift = DEFAULT_WEIGHTS.copy(), np.full(_N_GROUPS, UNNAMED)
        self.counts: NameCounts
        self.named: LabelNames | None = None
        self.rarity: Rarity | None = None

    def wants(self, training: Training) -> bool:
        """Whether labels have names and documents have texts."""
        return _has_names(training)

    def fit(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> NDArray[np.float64]:
        """Count how often a name in the text comes with the label; learn the weights of clues."""
        documents, Y = training.documents, training.Y
        self.counts = NameCounts.none(Y.shape[1])
        if not self.wants(training):
            return np.zeros(len(held))
        self.named, self.rarity = training.vocabulary, _rarity_in(training)
        looked = names_in(documents, self.named, self.rarity, training.n_jobs)
        assert looked is not None
        self.counts = NameCounts.of(looked, Y, training.incomplete)
        # Held-out documents and a sample of the others: all are usable, because `design` subtracts
        # each from its own counts.
        is_used = np.zeros(len(documents), np.bool_)
        is_used[:: max(1, -(-len(documents) // _SAMPLE))] = True
        is_used[training.held] = True
        matches = self._matches(training, held, np.flatnonzero(is_used))
        learn = matches.own & (matches.rows // 2 % max(1, -(-matches.n_own // _LESSONS)) == 0)
        # Each half is scored by weights learned on the other.
        values, side = np.empty(matches.truth.size), matches.rows % 2
        for half in (0, 1):
            weights = fit_weights(*matches.examples(learn & (side != half)))
            values[side == half] = matches.design[side == half] @ weights
        self.weights = fit_weights(*matches.examples(learn))
        mine = np.flatnonzero(matches.position >= 0)
        labels, truth = held.labels[matches.position[mine]], matches.truth[mine]
        is_named = np.zeros(len(held), np.bool_)
        is_named[matches.position[mine]] = True
        self.shift = self._unnamed(is_named, Y[training.held], held)
        scores = np.zeros(len(held))
        shift = self.shift[_group(self.counts.documents[labels] - truth)]
        scores[matches.position[mine]] = values[mine] - shift
        return scores

    def _matches(self, training: Training, held: Candidates, sample: NDArray[np.int64]) -> _Matches:
        """What names say in a sample of documents, of labels that teach or are to be scored."""
        texts, parts = training.documents.texts, []
        assert texts is not None
        number = np.full(len(texts), -1)
        number[training.held] = np.arange(training.held.size)
        for start in range(0, sample.size, BLOCK):
            some = sample[start : start + BLOCK]
            looked = self._look(_few(texts, some), training.vocabulary)
            assert looked is not None
            pattern, Y = looked.pattern, training.Y[some]
            sizes = np.diff(pattern.indptr)
            incomplete = None if training.incomplete is None else training.incomplete[some]
            # Names teach by what they propose themselves. If labels of neighbours taught, too,
            # weak matches would seem to be right because neighbours are.
            own = values_at(looked.named.best, pattern) > 0
            own &= known_entries(pattern, Y, incomplete)
            position = _positions_in(held, np.repeat(number[some], sizes), pattern.indices)
            kept = own | (position >= 0)
            labels, truth = pattern.indices[kept], values_at(Y, pattern)[kept] > 0
            design = self.design(looked.clues[kept], labels, truth).astype(np.float32)
            order = np.repeat(np.arange(start, start + some.size), sizes)
            parts.append(_Matches(order[kept], own[kept], position[kept], design, truth))
        return _Matches(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def _look(self, documents: Documents, named: Any) -> NameClues | None:
        """The labels that names point to, with a row of clues for each."""
        if not isinstance(named, LabelNames) or self.rarity is None:
            return None
        return clues_in(documents, named, self.rarity)

    def _unnamed(
        self, is_named: NDArray[np.bool_], Y: sparse.csr_array, held: Candidates
    ) -> NDArray[np.float64]:
        """Log-odds of candidates without a name in the text, by frequency group."""
        truth = values_at(Y, held.pattern) > 0
        groups = _group(self.counts.documents[held.labels] - truth)[~is_named]
        n_true = np.bincount(groups, weights=truth[~is_named], minlength=_N_GROUPS)
        n_false = np.bincount(groups, minlength=_N_GROUPS) - n_true
        # Smoothed towards the prior.
        return np.log(
            (n_true + _PRIOR_CANDIDATES * np.exp(UNNAMED)) / (n_false + _PRIOR_CANDIDATES)
        )

    def design(
        self,
        clues: NDArray[np.float64],
        labels: NDArray[Any],
        truth: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.float64]:
        """All clues of matches; with ``truth``, without the counts of the match's document."""
        is_whole, has_words = clues[:, WHOLE] > 0, clues[:, WORDS] > 0
        counts = self.counts.at(labels, is_whole, has_words, truth)
        documents = np.log1p(counts.documents) / 3
        learned = [
            is_there * clue
            for is_there, true, all_ in (
                (is_whole, counts.named_true, counts.named),
                (has_words, counts.worded_true, counts.worded),
            )
            for clue in (rate(true, all_), np.log1p(all_) / 3, documents, counts.documents > 0)
        ]
        return np.column_stack([clues, *learned])

    def score(
        self, documents: Documents, candidates: Candidates, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Score each candidate by its name; 0 if no word of it is in the text."""
        texts, pointers = documents.texts, candidates.pattern.indptr
        if texts is None or len(texts) <= BLOCK:
            return self._score(documents, candidates)
        scores = np.zeros(len(candidates))

        def work(first: int, last: int) -> None:
            rows = np.arange(first, last)
            some = self._score(_few(texts, rows), candidates.take(rows))
            scores[pointers[first] : pointers[last]] = some

        run_blocks(work, len(texts), BLOCK, n_jobs)
        return scores

    def _score(self, documents: Documents, candidates: Candidates) -> NDArray[np.float64]:
        """Score the candidates of a few documents."""
        looked = self._look(documents, candidates.vocabulary)
        if looked is None:
            return np.zeros(len(candidates))
        pattern = looked.pattern
        rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
        values = self.design(looked.clues, pattern.indices) @ self.weights
        values -= self.shift[_group(self.counts.documents[pattern.indices])]
        positions = _positions_in(candidates, rows, pattern.indices)
        scores = np.zeros(len(candidates))
        scores[positions[positions >= 0]] = values[positions >= 0]
        return scores

    def reasons(self, documents: Documents, candidates: Candidates, position: int) -> list[Reason]:
        """One reason: the name and where it occurs, and below it the share of each clue."""
        named = candidates.vocabulary
        looked = self._look(documents, named)
        if looked is None:
            return []
        label = int(candidates.labels[position])
        at = int(np.searchsorted(looked.pattern.indices, label))
        if at == looked.pattern.nnz or looked.pattern.indices[at] != label:
            return []
        assert documents.texts is not None
        shares = self.design(looked.clues[[at]], np.array([label]))[0] * self.weights
        shares[0] -= self.shift[_group(self.counts.documents[label])]
        below = tuple(
            Reason(clue, float(share), title=title)
            for (clue, title), share in zip(CLUE_TITLES.items(), shares, strict=True)
            if share
        )
        text, whole, words = documents.texts[0], looked.in_found[at], looked.in_shared[at]
        if whole >= 0:
            spans, sentence = _name_positions(text, named, looked.found, label, int(whole))
        else:
            spans, sentence = _word_positions(text, named, looked.shared, int(words))
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
        if self.named is None or self.rarity is None:
            return
        looked = names_in(documents, self.named, self.rarity)
        if looked is not None:
            self.counts = self.counts.plus(NameCounts.of(looked, Y, incomplete), sign)

    def grow(self, n_labels: int) -> None:
        """Extend the counts for labels that appear later."""
        self.counts = self.counts.grown(n_labels)


def _few(texts: Sequence[str], rows: NDArray[np.int64]) -> Documents:
    """Some of the texts as documents without features."""
    some = [texts[row] for row in rows.tolist()]
    return Documents(sparse.csr_array((rows.size, 1)), texts=some)


def _group(counts: Any) -> Any:
    """The frequency groups of labels with these numbers of documents."""
    return np.searchsorted(_FREQUENCIES, counts, side="right")


class _Matches(NamedTuple):
    """Matches of names in documents.

    Parameters
    ----------
    rows : ndarray of int64
        The position of the document in the sample.
    own : ndarray of bool
        Whether names propose the label themselves, and it is known if it is right.
    position : ndarray of int64
        The position among the held-out candidates, or -1.
    design : ndarray of float32
        The clues.
    truth : ndarray of bool
        Whether the document has the label.
    """

    rows: NDArray[np.int64]
    own: NDArray[np.bool_]
    position: NDArray[np.int64]
    design: NDArray[np.float32]
    truth: NDArray[np.bool_]

    @property
    def n_own(self) -> int:
        """The number of examples to learn from."""
        return int(np.count_nonzero(self.own))

    def examples(self, which: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The clues and the truth of the selected matches."""
        return self.design[which].astype(np.float64), self.truth[which]


def _positions_in(
    candidates: Candidates, rows: NDArray[np.int64], labels: NDArray[np.int32]
) -> NDArray[np.int64]:
    """The positions of (row, label) pairs among candidates; -1 for other pairs."""
    width = candidates.pattern.shape[1]
    keys = candidates.rows * width + candidates.labels
    wanted = rows.astype(np.int64) * width + labels
    positions = np.searchsorted(keys, wanted)
    there = (rows >= 0) & (positions < keys.size)
    there[there] = keys[positions[there]] == wanted[there]
    return np.where(there, positions, -1)


def _name_positions(
    text: str, named: LabelNames, found: Found, label: int, at: int
) -> tuple[tuple[tuple[int, int], ...], str]:
    """Where a label's names occur in a text, and a sentence about the clearest match."""
    matches, best = found.matches, int(found.best[at])
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


def _word_positions(
    text: str, named: LabelNames, shared: Shared, at: int
) -> tuple[tuple[tuple[int, int], ...], str]:
    """Where words of a name occur in a text, and a sentence about them."""
    matcher, name = named.matcher, int(shared.names[at])
    mine = matcher.name_terms[matcher.name_ptr[name] : matcher.name_ptr[name + 1]]
    terms = matcher.tokens([text]).terms
    words = matcher.spans(text)
    spans = tuple(words[position] for position in np.flatnonzero(np.isin(terms, mine)).tolist())
    written = list(dict.fromkeys(text[start:stop] for start, stop in spans))
    listed = ", ".join(f"*{word}*" for word in written)
    verb = "is" if len(written) == 1 else "are"
    return spans, f"Of its name *{matcher.names[name]}*, {listed} {verb} in the text."
