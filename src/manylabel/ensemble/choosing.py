"""Choose and weight scorers by how much they help on held-out documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.ensemble.curves import (
    Combination,
    Curve,
    fit_combination,
    frequency_group,
    log_loss,
)
from manylabel.metrics import evaluate, get_measure
from manylabel.metrics.judge import judge_matrices, mean
from manylabel.predictions import best_of_rows, values_at
from manylabel.scoring import Candidates
from manylabel.validation import trusted_csr

__all__ = [
    "CURVES",
    "HeldOut",
    "add_rivals",
    "choose_scorers",
    "gains_of",
    "judge_unused_labels",
    "measured_by_sample",
    "most_likely",
    "standard_error",
    "stretch_curves",
    "thinned",
    "weigh_by_frequency",
]

#: A scorer must lower the log-loss by this share to be kept.
_MIN_GAIN = 1e-3
#: Curves that are compared come this near to the least log-loss.
_ROUGH = 1e-6
#: Number of candidates on which scorers are compared.
_SAMPLE = 60_000
#: Number of candidates from which curves are learned.
CURVES = 120_000
#: Factors tried for stretching a scorer's curve.
_STRETCHES = (0.5, 0.7, 0.85, 1.15, 1.4, 2.0)
_ROUNDS = 2
#: How far labels without documents are judged like labels with one, and the share of the measure
#: that this may cost.
_LIKE_ONE_DOCUMENT = (1.0, 0.75, 0.5, 0.25, 0.0)
_FREE = 1e-3
#: Samples of documents by which the standard error of an improvement is estimated.
_SAMPLES = 20


@dataclass(frozen=True)
class HeldOut:
    """Out-of-sample scores of candidates.

    Parameters
    ----------
    candidates : Candidates
    scores : dict of str to ndarray
        By scorer, a score for each candidate.
    counts : ndarray
        The number of other training documents that have each candidate's label.
    Y : csr_array of shape (n_documents, n_labels)
        The true labels.
    known : ndarray of bool
        Whether the models that scored a candidate have seen documents with its label.
    """

    candidates: Candidates
    scores: dict[str, NDArray[np.float64]]
    counts: NDArray[np.int64]
    Y: sparse.csr_array
    known: NDArray[np.bool_]

    @cached_property
    def truth(self) -> NDArray[np.bool_]:
        """Which candidates are true labels."""
        return values_at(self.Y, self.candidates.pattern) > 0

    def take(self, which: NDArray[np.bool_]) -> HeldOut:
        """A subset of the candidates, of the same documents."""
        return HeldOut(
            self.candidates.keep(which),
            {name: values[which] for name, values in self.scores.items()},
            self.counts[which],
            self.Y,
            self.known[which],
        )

    def of_documents(self, which: NDArray[np.bool_]) -> HeldOut:
        """The candidates of a subset of the documents."""
        rows = np.flatnonzero(which)
        mine = np.repeat(which, np.diff(self.candidates.pattern.indptr))
        return HeldOut(
            self.candidates.take(rows),
            {name: values[mine] for name, values in self.scores.items()},
            self.counts[mine],
            self.Y[rows],
            self.known[mine],
        )

    def halves(self) -> list[HeldOut]:
        """Every other document, and the documents between."""
        is_odd = np.arange(self.Y.shape[0]) % 2 == 1
        return [self.of_documents(~is_odd), self.of_documents(is_odd)]

    def only(self, names: list[str]) -> dict[str, NDArray[np.float64]]:
        """The scores of some scorers."""
        return {name: self.scores[name] for name in names}


def thinned(truth: NDArray[np.bool_], n: int) -> tuple[NDArray[np.bool_], float]:
    """All true candidates and as many others as make ``n``, but at least half of ``n``.

    Hardly one candidate in a hundred is true, and the true ones tell most about a scorer.

    Returns
    -------
    which : ndarray of bool
        The candidates of the sample.
    share : float
        The share of the others that are in the sample, drawn at random.

    Examples
    --------
    >>> which, share = thinned(np.array([True, False, False, False, False]), 2)
    >>> int(which.sum()), share
    (2, 0.25)
    """
    others = np.flatnonzero(~truth)
    n_kept = min(others.size, max(n - truth.size + others.size, -(-n // 2)))
    which = truth.copy()
    which[np.random.default_rng(0).permutation(others)[:n_kept]] = True
    return which, n_kept / others.size if others.size else 1.0


def choose_scorers(
    held_out: HeldOut, protected: Mapping[str, str] | None = None
) -> tuple[list[str], dict[str, float]]:
    """Names of the scorers that help, and the share by which each lowers the log-loss of the rest.

    Curves are learned on every other document and judged on the rest.

    Parameters
    ----------
    held_out : HeldOut
    protected : mapping, optional
        Scorer -> another one: the first is kept as long as the other is, which may be itself.
    """
    protected = {} if protected is None else protected
    rows, truth = held_out.candidates.rows, held_out.truth
    used, _ = thinned(truth, _SAMPLE)
    learn, judge = used & (rows % 2 == 0), used & (rows % 2 == 1)

    given = {name: values[learn] for name, values in held_out.scores.items()}
    asked = {name: values[judge] for name, values in held_out.scores.items()}

    def fitted(names: list[str], start: Combination | None = None) -> Combination:
        """Curves of some scorers; those of more scorers are near enough to start from."""
        some = {name: given[name] for name in names}
        counts = held_out.counts[learn]
        return fit_combination(some, counts, truth[learn], tolerance=_ROUGH, start=start)

    def loss(names: list[str]) -> float:
        """Out-of-sample log-loss of some scorers."""
        combination = fitted(names, start)
        return log_loss(combination(asked, held_out.counts[judge]), truth[judge])

    kept = list(held_out.scores)
    gain = dict.fromkeys(kept, 0.0)
    if not truth[learn].any() or not truth[judge].any() or len(kept) < 2:
        return kept, gain
    start = fitted(kept)
    whole = log_loss(start(asked, held_out.counts[judge]), truth[judge])
    without = {name: loss([other for other in kept if other != name]) for name in kept}
    gain = {name: _lowered(value, whole) for name, value in without.items()}
    # One at a time, the least useful first: each of two similar scorers may be dispensable, but
    # not both. Those that are left gain when one goes, so only the least useful is measured again.
    useful, is_new = dict(gain), set(kept)
    while len(kept) > 1:
        free = [name for name in kept if protected.get(name) not in kept]
        if not free:
            break
        name = min(free, key=lambda other: useful[other])
        if name not in is_new:
            without[name] = loss([other for other in kept if other != name])
            useful[name] = _lowered(without[name], whole)
            is_new.add(name)
        elif useful[name] < _MIN_GAIN:
            kept.remove(name)
            whole, is_new = without[name], set()
        else:
            break
    return kept, gain


def gains_of(held_out: HeldOut, names: Sequence[str]) -> dict[str, float]:
    """By which share each of some scorers lowers the log-loss of all the others.

    Curves are learned on every other document and judged on the documents between, both ways.
    """
    rows, truth, counts = held_out.candidates.rows, held_out.truth, held_out.counts
    used, _ = thinned(truth, 2 * _SAMPLE)
    halves = used & (rows % 2 == 0), used & (rows % 2 == 1)
    if not all(truth[half].any() for half in halves):
        return dict.fromkeys(names, 1.0)

    whole, without = 0.0, dict.fromkeys(names, 0.0)
    for learn, judge in (halves, halves[::-1]):
        given = {name: values[learn] for name, values in held_out.scores.items()}
        asked = {name: values[judge] for name, values in held_out.scores.items()}
        start = fit_combination(given, counts[learn], truth[learn], tolerance=_ROUGH)
        whole += log_loss(start(asked, counts[judge]), truth[judge])
        for name in names:
            others = {other: values for other, values in given.items() if other != name}
            one = fit_combination(
                others, counts[learn], truth[learn], tolerance=_ROUGH, start=start
            )
            without[name] += log_loss(one(asked, counts[judge]), truth[judge])
    return {name: _lowered(loss, whole) for name, loss in without.items()}


def _lowered(without: float, whole: float) -> float:
    """The share by which a loss is lower; 0 if it was 0 already."""
    return 1 - whole / without if without else 0.0


def most_likely(
    held_out: HeldOut, names: list[str], start: Combination | None = None, most: int = CURVES
) -> Combination:
    """The most likely curves of some scorers, weighted by how frequent labels are.

    They are learned from ``most`` candidates. ``start`` has curves that are near, from which to
    start.
    """
    few, share = thinned(held_out.truth, most)
    given = {name: values[few] for name, values in held_out.only(names).items()}
    combination = fit_combination(
        given, held_out.counts[few], held_out.truth[few], share=share, start=start
    )
    return weigh_by_frequency(held_out, combination, most)


def weigh_by_frequency(
    held_out: HeldOut, combination: Combination, most: int = CURVES
) -> Combination:
    """Weight scorers by how frequent the label is, if that helps.

    Weights are learned on every other document and judged on the rest. Without that check, a few
    hundred documents would give random weights. A sample of ``most`` candidates is enough for both.
    """
    few, share = thinned(held_out.truth, most)
    sample = held_out.take(few)
    learn, judge = sample.halves()
    if not learn.truth.any() or not judge.truth.any():
        return combination
    # The sample has fewer false candidates, so all log-odds are higher.
    shift = np.log(share)
    likely = combination.shifted(-shift)

    def loss(tried: Combination) -> float:
        tried = tried.calibrated(learn.scores, learn.counts, learn.truth)
        return log_loss(tried(judge.scores, judge.counts), judge.truth)

    weighted = likely.weighted(learn.scores, learn.counts, learn.truth)
    if loss(weighted) > (1 - _MIN_GAIN) * loss(likely):
        return combination
    return likely.weighted(sample.scores, sample.counts, sample.truth).shifted(shift)


def stretch_curves(
    held_out: HeldOut, combination: Combination, measure: str, Y_train: sparse.csr_array
) -> Combination:
    """Stretch the scorers' curves as long as that improves a ranking measure.

    An improvement counts if it is above its standard error over samples of documents: what chance
    finds on a few thousand documents makes rankings of others worse.
    """
    groups = frequency_group(held_out.counts)
    offsets, factors = combination.offsets[groups], combination.factors[groups]
    worth = combination.by_part(held_out.scores, held_out.counts)
    total = sum(worth.values())
    values = measured_by_sample(held_out, measure, Y_train)
    highest = values(offsets + factors * total)
    curves = dict(combination.curves)
    for _ in range(_ROUNDS):
        for name in curves:
            for factor in _STRETCHES:
                tried = total + (factor - 1) * worth[name]
                reached = values(offsets + factors * tried)
                gain = reached - highest
                if gain.mean() > standard_error(gain):
                    highest, total = reached, tried
                    worth[name] = factor * worth[name]
                    curves[name] = Curve(curves[name].knots, curves[name].values * factor)
    return replace(combination, curves=curves)


def add_rivals(held_out: HeldOut, combination: Combination) -> Combination:
    """Let the candidates of a document lower each other's log-odds, if that helps.

    It is learned on every other document and judged on the rest.
    """
    learn, judge = held_out.halves()
    if not learn.truth.any() or not judge.truth.any():
        return combination

    def with_rivals(given: HeldOut) -> Combination:
        ptr = given.candidates.pattern.indptr
        return combination.with_rivals(given.scores, given.counts, given.truth, ptr)

    asked = judge.scores, judge.counts
    after = with_rivals(learn).log_odds(*asked, judge.candidates.pattern.indptr)
    before = log_loss(combination(*asked), judge.truth)
    if log_loss(after, judge.truth) > (1 - _MIN_GAIN) * before:
        return combination
    return with_rivals(held_out)


def judge_unused_labels(
    held_out: HeldOut,
    bare: Combination,
    log_odds: NDArray[np.float64],
    measure: str,
    Y_train: sparse.csr_array,
) -> Combination:
    """Judge labels without documents like labels with one, as far as it costs nothing.

    In a large corpus, a label that was never given is hardly ever right, so a calibrated
    probability keeps it out of the first suggestions forever. Held-out documents say how far they
    can be judged otherwise.

    Parameters
    ----------
    held_out : HeldOut
    bare : Combination
        The calibrated curves of labels without documents.
    log_odds : ndarray
        Of the candidates, as if all labels were known.
    measure : str
        The ranking measure that must not suffer.
    Y_train : csr_array
        The labels of the training documents.
    """
    values, known = measured_by_sample(held_out, measure, Y_train), held_out.known
    tried = [bare.like_one_document(share) for share in _LIKE_ONE_DOCUMENT]
    reached = [
        float(values(np.where(known, log_odds, each(held_out.scores, held_out.counts))).mean())
        for each in tried
    ]
    enough = max(reached) - _FREE * abs(max(reached))
    return next(each for each, value in zip(tried, reached, strict=True) if value >= enough)


def measured_by_sample(
    held_out: HeldOut, measure: str, Y_train: sparse.csr_array
) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """A function from log-odds to a ranking measure of several samples of the documents.

    The measure of a loss is negative, so that more is always better.
    """
    found = get_measure(measure)
    better = 1 if found.greater_is_better else -1
    ptr = held_out.candidates.pattern.indptr.astype(np.int64)
    n_rows = held_out.Y.shape[0]
    samples = [np.arange(first, n_rows, _SAMPLES) for first in range(min(_SAMPLES, n_rows))]

    def values(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
        scores = held_out.candidates.scores(log_odds)
        if found.reads_top:
            # The rest of a ranking makes no difference, and takes most of the time.
            assert found.k is not None
            best = best_of_rows(ptr, log_odds, found.k)
            indices, starts = scores.indices[best], np.concatenate([[0], np.cumsum(best)])[ptr]
            scores = trusted_csr(log_odds[best], indices, starts, scores.shape)
            by_document = found.by_document(judge_matrices(held_out.Y, scores))
            return better * np.array([mean(by_document[rows]) for rows in samples])
        measured = [
            evaluate(held_out.Y[rows], scores[rows], Y_train=Y_train, metrics=[measure])[measure]
            for rows in samples
        ]
        return better * np.array(measured)

    return values


def standard_error(gain: NDArray[np.float64]) -> float:
    """The standard error of the mean gain of several samples."""
    return float(gain.std() / np.sqrt(max(gain.size - 1, 1)))
