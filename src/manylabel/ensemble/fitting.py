"""Choose the held-out documents, and fit the scorers that help."""

from __future__ import annotations

import math
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.ensemble.choosing import HeldOut, gains_of
from manylabel.parallel import effective_jobs
from manylabel.scoring import Candidates, Scorer, Training
from manylabel.scoring.candidates import union

__all__ = [
    "documents_for",
    "enough_documents",
    "fair_sample",
    "fit_scorers",
    "held_out_folds",
    "known_elsewhere",
    "prepare_in_background",
    "random_labels",
    "worth_fitting",
]

#: The share by which a trial must lower the log-loss for a scorer to be fitted.
_MIN_GAIN = 1.5e-3
#: Up to this many documents, all are held out in turn, in this many folds.
_MAX_ALL_HELD_OUT, _FOLDS = 6_000, 5
#: With more labels than the first, each of which is trained without each fold, these are the most
#: documents that are all held out, and the fewest of a larger number.
_MANY_LABELS, _MAX_OF_MANY_LABELS, _MIN_OF_MANY_LABELS = 1_000, 3_000, 2_000
#: Number of folds if all of more documents are to be held out.
_FOLDS_OF_MANY = 3
#: Of more documents, this share is held out, up to this number; no fold has a greater share.
_SHARE, _MAX_HELD_OUT = 0.2, 6_000
#: Maximum number of documents by which scorers are judged and combined.
_MAX_JUDGED = 20_000
#: Folds of these with effort "best"; otherwise one. More folds leave more documents to train on.
_BEST_FOLDS = 4
#: Documents per label, on average, whose similar labels linear models learn from; with effort
#: "quick", the second number, but at least this many documents in all.
_ASKED_PER_LABEL, _QUICK_PER_LABEL, _LEAST_ASKED = 12, 6, 50_000
#: Labels per document that are drawn at random, on average.
_RANDOM_LABELS = 30
#: With effort "quick", this is the number for all and for some documents.
_QUICK_HELD_OUT = 2_000


def prepare_in_background(
    scorers: list[Scorer], training: Training, executor: ThreadPoolExecutor
) -> dict[str, Future[None]]:
    """Start scorers that need no candidates in a thread, while neighbours are searched for."""
    if effective_jobs(training.n_jobs) == 1:
        return {}
    return {
        scorer.name: executor.submit(
            copy_context().run, scorer.prepare, documents_for(scorer, training)
        )
        for scorer in scorers
        if scorer.prepares_in_background
    }


def documents_for(scorer: Scorer, training: Training) -> Training:
    """The documents that a scorer learns from: all of them, or only the complete ones."""
    return training if scorer.reads_incomplete else training.complete


def known_elsewhere(training: Training, held: Candidates) -> NDArray[np.bool_]:
    """Whether any document outside the fold of a held-out document has each candidate label.

    Models trained without the fold have never seen the other labels.
    """
    folds, n_labels = training.folds, training.Y.shape[1]
    total = np.bincount(training.Y.indices, minlength=n_labels)
    of = np.repeat(folds[training.held], np.diff(held.pattern.indptr))
    known = np.empty(len(held), np.bool_)
    for fold in range(training.n_folds):
        own = training.Y[np.flatnonzero(folds == fold)]
        is_known = total > np.bincount(own.indices, minlength=n_labels)
        mine = of == fold
        known[mine] = is_known[held.labels[mine]]
    return known


def enough_documents(training: Training) -> NDArray[np.int64]:
    """The documents whose similar labels linear models learn from: a sample of very many."""
    n_rows, n_labels = training.Y.shape
    n_asked = _ASKED_PER_LABEL * n_labels
    if training.is_quick:
        n_asked = min(n_asked, max(_QUICK_PER_LABEL * n_labels, _LEAST_ASKED))
    random = np.random.default_rng([training.seed, 8])
    return np.sort(random.permutation(n_rows)[:n_asked])


def random_labels(training: Training) -> sparse.csr_array:
    """Labels of other documents for each document: the more frequent, the more likely."""
    n_rows, Y = training.Y.shape[0], training.Y
    n_draws = max(1, round(_RANDOM_LABELS * n_rows / max(Y.nnz, 1)))
    random = np.random.default_rng([training.seed, 4])
    return union([Y[random.permutation(n_rows)] for _ in range(n_draws)])


def fit_scorers(
    scorers: list[Scorer],
    training: Training,
    candidates: sparse.csr_array,
    held_out: HeldOut,
    proposed: NDArray[np.bool_] | None,
    prepared: dict[str, Future[None]],
    with_trials: bool,
) -> dict[str, NDArray[Any]]:
    """Fit scorers, and return their held-out scores.

    Parameters
    ----------
    scorers : list of Scorer
    training : Training
    candidates : csr_array
        Of all training documents.
    held_out : HeldOut
        Candidates of the held-out documents, not yet scored.
    proposed : ndarray of bool, optional
        Which of these candidates the sources proposed.
    prepared : dict of str to Future
        Scorers that are prepared in a thread.
    with_trials : bool
        Skip scorers whose trial does not help.
    """
    held, known = held_out.candidates, held_out.known
    # A scorer may have a hundred scores for each of a million documents.
    dtype = np.float64 if proposed is None else np.float32
    scores: dict[str, NDArray[Any]] = {}
    waiting = sorted(scorers, key=lambda scorer: scorer.needs_trial(training))
    while waiting:
        first = waiting[0]
        group = [s for s in waiting if s is first or (s.trials and s.trials == first.trials)]
        waiting = [s for s in waiting if s not in group]
        for scorer in group:
            if scorer.name in prepared:
                prepared[scorer.name].result()
            else:
                scorer.prepare(documents_for(scorer, training))
        if with_trials and first.needs_trial(training):
            so_far = replace(held_out, scores=scores)
            group = worth_fitting(group, training, candidates, so_far, proposed)
        for scorer in group:
            values = _fit_scorer(scorer, training, candidates, held).astype(dtype, copy=False)
            if not scorer.learns_at_once:
                # As in prediction: such a scorer gives 0 to labels that are new to it.
                values = np.where(known, values, dtype(0))
            scores[scorer.name] = values
    return {scorer.name: scores[scorer.name] for scorer in scorers if scorer.name in scores}


def _fit_scorer(
    scorer: Scorer, training: Training, candidates: sparse.csr_array, held: Candidates
) -> NDArray[np.float64]:
    """Fit a scorer and return held-out scores.

    A scorer that learns only from complete documents scores the incomplete ones as new documents.
    """
    known = documents_for(scorer, training)
    if known is training:
        return scorer.fit(training, candidates, held)
    assert training.incomplete is not None
    are_open = training.incomplete[training.held]
    mine = np.repeat(~are_open, np.diff(held.pattern.indptr))
    scores = np.zeros(len(held))
    complete = candidates[np.flatnonzero(~training.incomplete)]
    scores[mine] = scorer.fit(known, complete, held.take(np.flatnonzero(~are_open)))
    if are_open.any():
        others = training.shared[training.held[are_open]]
        scores[~mine] = scorer.score(others, held.take(np.flatnonzero(are_open)), training.n_jobs)
    return scores


def worth_fitting(
    scorers: list[Scorer],
    training: Training,
    candidates: sparse.csr_array,
    held_out: HeldOut,
    proposed: NDArray[np.bool_] | None,
) -> list[Scorer]:
    """The scorers whose trials help, beside each other and the scorers that are fitted.

    The least useful one goes first: each of two similar scorers may be dispensable, but not both.
    """
    there = np.ones(training.held.size, np.bool_)
    dtype = np.float64 if proposed is None else np.float32
    trials: dict[str, NDArray[Any]] = {}
    for scorer in scorers:
        rows, tried = _trial(scorer, training, candidates, held_out.candidates)
        mine = np.isin(np.arange(there.size), rows)
        values = np.full(len(held_out.candidates), np.nan, dtype)
        values[np.repeat(mine, np.diff(held_out.candidates.pattern.indptr))] = tried
        trials[scorer.name] = values
        there &= mine
    held_out = replace(held_out, scores=held_out.scores | trials)
    fair = fair_sample(training, held_out, proposed, there)
    fair = fair.take(np.all([np.isfinite(fair.scores[name]) for name in trials], axis=0))
    # As they are combined in the end.
    known = {name: np.where(fair.known, fair.scores[name], 0.0) for name in trials}
    counts = np.where(fair.known, fair.counts, 0)
    fair = replace(fair, scores=fair.scores | known, counts=counts)
    left = list(scorers)
    while left:
        gains = gains_of(fair, [scorer.name for scorer in left])
        least = min(left, key=lambda scorer: gains[scorer.name])
        if gains[least.name] >= _MIN_GAIN:
            break
        left.remove(least)
        fair = replace(fair, scores={k: v for k, v in fair.scores.items() if k != least.name})
    return left


def _trial(
    scorer: Scorer, training: Training, candidates: sparse.csr_array, held: Candidates
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The trial of a scorer, with the documents that it learns from."""
    known = documents_for(scorer, training)
    if known is training:
        return scorer.trial(training, candidates, held)
    assert training.incomplete is not None
    positions = np.flatnonzero(~training.incomplete[training.held])
    complete = candidates[np.flatnonzero(~training.incomplete)]
    rows, tried = scorer.trial(known, complete, held.take(positions))
    return positions[rows], tried


def fair_sample(
    training: Training,
    held_out: HeldOut,
    proposed: NDArray[np.bool_] | None,
    among: NDArray[np.bool_] | None = None,
) -> HeldOut:
    """What models are judged by: complete documents, and candidates that sources proposed.

    If all of very many documents are held out, a sample of them is enough. ``among`` says which
    held-out documents may be taken; all by default.
    """
    there = np.isin(training.held, training.judged)
    if among is not None:
        there &= among
    judged = np.flatnonzero(there)
    if judged.size > _MAX_JUDGED:
        random = np.random.default_rng([training.seed, 6])
        there[:] = False
        there[random.permutation(judged)[:_MAX_JUDGED]] = True
    if not there.all():
        if proposed is not None:
            proposed = proposed[np.repeat(there, np.diff(held_out.candidates.pattern.indptr))]
        held_out = held_out.of_documents(there)
    if proposed is None:
        return held_out
    mine = held_out.take(proposed)
    scores = {name: values.astype(np.float64) for name, values in mine.scores.items()}
    return replace(mine, scores=scores)


def held_out_folds(
    n_rows: int,
    n_labels: int,
    seed: int,
    effort: str = "normal",
    all_documents: bool = False,
    incomplete: NDArray[np.bool_] | None = None,
) -> NDArray[np.int8]:
    """The fold of each document; -1 for those that need no out-of-sample score.

    Parameters
    ----------
    n_rows, n_labels : int
    seed : int
    effort : str
        With "best" the held-out documents are in more folds; with "quick" there are fewer.
    all_documents : bool
        Put every document in a fold, not only a sample.
    incomplete : array of bool, optional
        Documents to leave out of all folds: models are judged on complete documents.
    """
    limit, least, most = _MAX_ALL_HELD_OUT, 1, _MAX_HELD_OUT
    if effort == "quick":
        limit = most = _QUICK_HELD_OUT
    elif n_labels > _MANY_LABELS:
        limit, least = _MAX_OF_MANY_LABELS, _MIN_OF_MANY_LABELS
    n_folds = _BEST_FOLDS if effort == "best" else 1
    order = np.random.default_rng(seed).permutation(n_rows)
    folds = np.full(n_rows, -1, np.int8)
    if n_rows <= limit or all_documents:
        n_folds = _FOLDS if n_rows <= limit else max(n_folds, _FOLDS_OF_MANY)
        folds[order] = np.arange(n_rows) % min(n_folds, n_rows)
    else:
        n_scored = min(most, max(int(_SHARE * n_rows), least))
        n_folds = max(n_folds, math.ceil(n_scored / (_SHARE * n_rows)))
        folds[order[:n_scored]] = np.arange(n_scored) % n_folds
    if incomplete is None:
        return folds
    folds[incomplete] = -1
    return _numbered(folds, ~incomplete)


def _numbered(folds: NDArray[np.int8], free: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Renumber folds without gaps; if none is left, put the ``free`` documents into one or two."""
    known = folds >= 0
    if not known.any():
        folds[free] = np.arange(np.count_nonzero(free)) % 2
        known = free
    folds[known] = np.unique(folds[known], return_inverse=True)[1]
    return folds
