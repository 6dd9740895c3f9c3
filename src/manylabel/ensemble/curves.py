"""Increasing curves that turn the scores of scorers into log-odds, so that they add up."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manylabel.exceptions import InputError
from manylabel.kernels import logistic
from manylabel.logistic import fit_logistic, log_losses
from manylabel.validation import check_numbers

__all__ = [
    "Combination",
    "Curve",
    "curves_with",
    "fit_combination",
    "frequency_group",
    "log_loss",
    "rises_of",
]

#: A label is in a higher group from this number of training documents on.
_FREQUENCIES = np.array([1, 2, 5, 20, 100, 500])
N_GROUPS = _FREQUENCIES.size + 1
#: Pieces of a curve: the maximum, and the number of true candidates for each piece.
_MAX_PIECES, _TRUE_PER_PIECE = 8, 25
#: Slope of a cautious curve beyond its last knot, relative to that of its last piece.
_BEYOND = 0.02
#: Penalty of squared rises, per candidate: pieces with few scores stay flat.
RIDGE = 1e-5
_TOLERANCE = 1e-8
_FIRST = np.zeros(1, np.int64)
#: Of this many candidates or more, one in so many gives a start, to this tolerance.
_LARGE, _EVERY, _PART_TOLERANCE = 20_000, 5, 1e-6
#: Prior standard deviations of the offset and the factor of a group's log-odds.
_SPREAD = (1.0, 0.3)
#: The least factor of a group. If the factor for all groups together is below the second number,
#: all evidence is scaled first.
_LEAST_FACTOR, _STEEP = 0.1, 0.5
#: Prior standard deviations of the weight of a scorer in a group, and of rivalry.
WEIGHT_SPREAD = 0.3
_RIVALRY_SPREAD = 0.3


def frequency_group(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The frequency group of each label, by its number of training documents."""
    return np.searchsorted(_FREQUENCIES, counts, side="right")


@dataclass(frozen=True)
class Curve:
    """An increasing, piecewise linear function that is 0 at 0; its end pieces are unbounded.

    Examples
    --------
    >>> Curve(np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 3.0]))([0.5, 2.0, 5.0]).tolist()
    [1.0, 2.5, 4.0]
    """

    knots: NDArray[np.float64]
    values: NDArray[np.float64]

    def _check_stored(self) -> None:
        """Refuse a curve that has no value at a knot."""
        if self.knots.ndim != 1 or self.knots.size < 2 or self.values.shape != self.knots.shape:
            raise InputError("a curve is damaged: its knots and values do not fit each other.")
        check_numbers(self.knots, self.values)

    def __call__(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn scores into log-odds."""
        scores = np.asarray(scores, np.float64)
        knots, values = self.knots, self.values
        first, last = self._ends
        inside = np.interp(scores, knots, values)
        return (
            inside
            + first * np.minimum(scores - knots[0], 0)
            + last * np.maximum(scores - knots[-1], 0)
        )

    @cached_property
    def _ends(self) -> tuple[np.float64, np.float64]:
        """Slopes of the first and the last piece."""
        first, last = np.diff(self.values)[[0, -1]] / np.diff(self.knots)[[0, -1]]
        return first, last

    def slopes(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """The slopes of the lines from 0 to the curve's values at scores.

        The terms of a score have the same proportions in its log-odds.
        """
        at = np.where(np.abs(scores) > 1e-12, scores, 1e-12)
        return self(at) / at

    @property
    def flat(self) -> bool:
        """Whether scores have no effect."""
        return bool(np.ptp(self.values) == 0)


@dataclass(frozen=True)
class Combination:
    """The log-odds of a label: the sum of a curve's value for each scorer, and an offset.

    Parameters
    ----------
    curves : dict of str to Curve
        By the name of the scorer.
    offsets, factors : ndarray of shape (n_groups,)
        By :func:`frequency_group`: the log-odds of a label before the document is read, and the
        factor of the sum of all scorers.
    weights : dict of str to ndarray of shape (n_groups,)
        The weight of each scorer by group; 1 for scorers that are missing.
    rivalry, sharpness, usual : float
        How much the document's candidates lower each other's log-odds, how much the best ones
        dominate in that, and the value at which they make no difference.
    """

    curves: dict[str, Curve]
    offsets: NDArray[np.float64]
    factors: NDArray[np.float64] = field(default_factory=lambda: np.ones(N_GROUPS))
    weights: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    rivalry: float = 0.0
    sharpness: float = 1.0
    usual: float = 0.0

    def _check_stored(self) -> None:
        """Refuse a combination without a number for a group."""
        if any(
            numbers.ndim != 1 or numbers.size < N_GROUPS
            for numbers in (self.offsets, self.factors, *self.weights.values())
        ):
            raise InputError("the combination is damaged: a group of labels has no number.")
        numbers = (self.rivalry, self.sharpness, self.usual)
        if not all(isinstance(number, float) and np.isfinite(number) for number in numbers):
            raise InputError("the combination is damaged: rivals have no number.")

    def factor(self, name: str, group: int) -> float:
        """The factor of a scorer's log-odds for labels of a group."""
        weight = self.weights[name][group] if name in self.weights else 1.0
        return float(self.factors[group] * weight)

    def __call__(
        self, parts: dict[str, NDArray[np.float64]], counts: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Log-odds of candidates, whatever other candidates their documents have.

        ``parts`` has a score of each candidate by scorer, ``counts`` the number of training
        documents of its label.
        """
        scores, out = np.empty((len(self.curves), counts.size)), np.empty(counts.size)
        for row, name in enumerate(self.curves):
            scores[row] = parts[name]
        logistic.add_curves(self._packed, scores, frequency_group(counts), out)
        return out

    @cached_property
    def _packed(self) -> logistic.Curves:
        """All curves in the form that the kernel reads."""
        curves, nothing = list(self.curves.values()), np.empty(0)
        ends = np.array([curve._ends for curve in curves], np.float64).reshape(-1, 2)
        return logistic.Curves(
            np.cumsum([0, *(curve.knots.size for curve in curves)]),
            np.concatenate([nothing, *(curve.knots for curve in curves)]),
            np.concatenate([nothing, *(curve.values for curve in curves)]),
            ends[:, 0].copy(),
            ends[:, 1].copy(),
            np.array(
                [self.weights.get(name, np.ones(N_GROUPS)) for name in self.curves], np.float64
            ).reshape(-1, N_GROUPS),
            np.asarray(self.offsets, np.float64),
            np.asarray(self.factors, np.float64),
        )

    def log_odds(
        self,
        parts: dict[str, NDArray[np.float64]],
        counts: NDArray[np.int64],
        ptr: NDArray[Any],
    ) -> NDArray[np.float64]:
        """Log-odds of the candidates of documents.

        ``ptr`` has the position of each document's first candidate, and of the end.
        """
        sums = self(parts, counts)
        competition = self.competition(sums, ptr)
        return sums - (competition if len(ptr) == 2 else np.repeat(competition, np.diff(ptr)))

    def competition(self, sums: NDArray[np.float64], ptr: NDArray[Any]) -> NDArray[np.float64]:
        """By how much the candidates of each document lower the log-odds of all of them."""
        if not self.rivalry:
            return np.zeros(len(ptr) - 1)
        crowds = _crowds(self.sharpness * sums, ptr)
        return self.rivalry * np.where(np.isfinite(crowds), crowds - self.usual, 0.0)

    def by_part(
        self, parts: dict[str, NDArray[np.float64]], counts: NDArray[np.int64]
    ) -> dict[str, NDArray[np.float64]]:
        """What each part says, before offsets and factors."""
        worth = {name: curve(parts[name]) for name, curve in self.curves.items()}
        if self.weights:
            groups = frequency_group(counts)
            for name, weights in self.weights.items():
                worth[name] = worth[name] * weights[groups]
        return worth

    def cautious(self) -> Combination:
        """A copy in which scores above those seen in training add little.

        New labels have such scores, because the words of their only document have no other label.
        """
        curves = {}
        for name, curve in self.curves.items():
            end = curve.values[-1] + _BEYOND * curve._ends[1]
            curves[name] = Curve(
                np.append(curve.knots, curve.knots[-1] + 1), np.append(curve.values, end)
            )
        return replace(self, curves=curves)

    def shifted(self, by: float) -> Combination:
        """A copy with other offsets."""
        return replace(self, offsets=self.offsets + by)

    def like_one_document(self, share: float) -> Combination:
        """A copy that judges labels without documents partly like labels with one document.

        With a share of 1, there is no difference between the two groups.
        """
        offsets, factors = self.offsets.copy(), self.factors.copy()
        for numbers in (offsets, factors):
            numbers[0] += share * (numbers[1] - numbers[0])
        return replace(self, offsets=offsets, factors=factors)

    def calibrated(
        self,
        parts: dict[str, NDArray[np.float64]],
        counts: NDArray[np.int64],
        truth: NDArray[np.bool_],
    ) -> Combination:
        """A copy with calibrated probabilities in each frequency group; order there is the same."""
        log_odds, groups = self(parts, counts), frequency_group(counts)
        offsets, factors = self.offsets.copy(), self.factors.copy()
        is_too_steep = False
        for group in np.unique(groups):
            mine = groups == group
            offset, factor = _line(log_odds[mine], truth[mine])
            offsets[group] = offset + factor * offsets[group]
            factors[group] *= factor
            is_too_steep |= factor <= _LEAST_FACTOR
        if is_too_steep:
            # Curves that rank may have any scale. One line for all first, which keeps the order.
            offset, factor = _line_of_any_scale(log_odds, truth)
            if 0 < factor < _STEEP:
                given = replace(
                    self, offsets=offset + factor * self.offsets, factors=factor * self.factors
                )
                return given.calibrated(parts, counts, truth)
        return replace(self, offsets=offsets, factors=factors)

    def with_rivals(
        self,
        parts: dict[str, NDArray[np.float64]],
        counts: NDArray[np.int64],
        truth: NDArray[np.bool_],
        ptr: NDArray[Any],
    ) -> Combination:
        """A copy that also reads how well all candidates of a document fit.

        A document has few labels: one of several good candidates is less likely to be true than
        the only one. The order of a document's candidates stays the same, and more evidence for a
        candidate never lowers its own log-odds.
        """
        if not truth.any():
            return self
        sums = self(parts, counts)
        crowds = _crowds(sums, ptr)
        design = np.ones((truth.size, 3))
        design[:, 1], design[:, 2] = sums, sums - np.repeat(crowds, np.diff(ptr))
        precision = 1 / np.square([*_SPREAD, _RIVALRY_SPREAD])
        expected, lowest = [0.0, 1.0, 0.0], [-np.inf, 0.1, 0.0]
        offset, by_itself, rivalry = fit_logistic(
            design, truth, expected, expected, precision, lowest
        ).tolist()
        factor = by_itself + rivalry
        # The crowds of the training documents make no difference on average.
        mean = float(crowds[np.isfinite(crowds)].mean())
        offset -= rivalry * mean
        return replace(
            self,
            offsets=offset + factor * self.offsets,
            factors=factor * self.factors,
            rivalry=rivalry,
            sharpness=1 / factor,
            usual=mean + offset / factor,
        )

    def weighted(
        self,
        parts: dict[str, NDArray[np.float64]],
        counts: NDArray[np.int64],
        truth: NDArray[np.bool_],
    ) -> Combination:
        """A copy with a weight of each scorer in each frequency group, near 1 if data are few."""
        if len(self.curves) < 2:
            return self
        groups = frequency_group(counts)
        worth = {name: curve(parts[name]) for name, curve in self.curves.items()}
        offsets, weights = self.offsets.copy(), {name: np.ones(N_GROUPS) for name in worth}
        for group in np.unique(groups):
            mine = groups == group
            each = self.factors[group] * np.stack([v[mine] for v in worth.values()], axis=1)
            offset, slopes = _weights(each, offsets[group], truth[mine])
            offsets[group] += offset
            for name, weight in zip(worth, slopes.tolist(), strict=True):
                weights[name][group] = weight
        return replace(self, offsets=offsets, weights=weights)


def _crowds(sums: NDArray[np.float64], ptr: NDArray[Any]) -> NDArray[np.float64]:
    """The logarithm of the sum of each document's exponentials; -inf without candidates.

    Examples
    --------
    >>> _crowds(np.log([1.0, 3.0, 5.0]), np.array([0, 2, 2, 3])).round(3).tolist()  # log 4, log 5
    [1.386, -inf, 1.609]
    """
    if len(ptr) == 2 and sums.size:
        # One document: the same additions without the bookkeeping, which would take longer.
        highest = sums.max()
        highest = highest if np.isfinite(highest) else np.float64(0.0)
        with np.errstate(divide="ignore"):
            return highest + np.log(np.add.reduceat(np.exp(sums - highest), _FIRST))
    sizes = np.diff(ptr)
    crowds, starts = np.full(sizes.size, -np.inf), ptr[:-1][sizes > 0]
    if starts.size:
        highest = np.maximum.reduceat(sums, starts)
        highest = np.where(np.isfinite(highest), highest, 0.0)
        shares = np.exp(sums - np.repeat(highest, sizes[sizes > 0]))
        with np.errstate(divide="ignore"):
            crowds[sizes > 0] = highest + np.log(np.add.reduceat(shares, starts))
    return crowds


def _groups_to_learn(
    groups: NDArray[np.int64], truth: NDArray[np.bool_], share: float
) -> NDArray[np.int64]:
    """The groups in which at most half of the candidates are true.

    In other groups the counts give the truth away. If every label has two documents, for example,
    a label that has one when the document is left out is true. ``share`` is the share of the false
    candidates that are given.
    """
    n_true = np.bincount(groups[truth], minlength=N_GROUPS)
    n_false = np.bincount(groups[~truth], minlength=N_GROUPS) / share
    usable = np.flatnonzero((n_true + n_false > 0) & (n_true <= n_false))
    return usable if usable.size else np.unique(groups)


def log_loss(log_odds: NDArray[np.float64], truth: NDArray[np.bool_]) -> float:
    """Mean negative log-likelihood."""
    return float(np.mean(log_losses(log_odds, truth)))


def fit_combination(
    parts: dict[str, NDArray[np.float64]],
    counts: NDArray[np.int64],
    truth: NDArray[np.bool_],
    max_pieces: int = _MAX_PIECES,
    tolerance: float = _TOLERANCE,
    is_cautious: bool = False,
    share: float = 1.0,
    start: Combination | None = None,
) -> Combination:
    """Find the curves with the maximum likelihood.

    The pieces of a curve end at quantiles of the scores of true candidates. No piece decreases,
    which makes the problem convex. A small ridge penalty regularises pieces with few scores.

    Parameters
    ----------
    parts : dict of str to ndarray of shape (n_candidates,)
        Out-of-sample scores.
    counts : ndarray of shape (n_candidates,)
        Training documents of the candidates' labels.
    truth : ndarray of shape (n_candidates,)
        Which candidates are true labels.
    max_pieces : int
        Maximum number of pieces per curve; a straight line has 1.
    tolerance : float
        Stop when the mean log-loss can fall by no more than this.
    is_cautious : bool
        For labels that appear later: ignore groups whose counts give the truth away, and let scores
        above those seen in training add little.
    share : float
        The share of the false candidates that are given, if most are left out. A logistic model of
        such a sample has the same curves, and log-odds that are too high by minus its logarithm.
    start : Combination, optional
        Curves to start from, of at least these scorers. They save time and do not change the
        result by more than the tolerance.

    Examples
    --------
    >>> scores = np.linspace(0, 1, 200)
    >>> truth = scores > 0.7
    >>> combination = fit_combination({"votes": scores}, np.zeros(200, int), truth)
    >>> log_odds = combination({"votes": scores}, np.zeros(200, int))
    >>> bool((log_odds[scores > 0.75] > 1).all() and (log_odds[~truth] < 0).all())
    True
    """
    if not truth.any() or truth.all():
        # Nothing to learn from: all scorers have the same weight.
        line = Curve(np.array([0.0, 1.0]), np.array([0.0, 2.0]))
        return Combination(dict.fromkeys(parts, line), np.full(N_GROUPS, -2.0))
    groups = frequency_group(counts)
    knots = {name: _knots(scores, truth, max_pieces) for name, scores in parts.items()}
    bases = [rises_of(scores, knots[name]) for name, scores in parts.items()]
    n_rises = sum(basis.shape[1] for basis in bases)
    used = _groups_to_learn(groups, truth, share) if is_cautious else np.unique(groups)
    nearest = np.abs(np.arange(N_GROUPS)[:, None] - used).argmin(axis=1)
    groups = used[nearest][groups]
    design = np.concatenate([*bases, groups[:, None] == used], axis=1, dtype=np.float32)
    ridge = np.full(design.shape[1], RIDGE)
    ridge[n_rises:] = RIDGE / 10
    if start is None:
        base = np.log((truth.sum() + 0.5) / (truth.size - truth.sum() + 0.5))
        begin = np.concatenate([np.full(n_rises, 0.1), np.full(used.size, base)])
    else:
        rises = [np.diff(start.curves[name](positions)) for name, positions in knots.items()]
        begin = np.concatenate([*rises, start.offsets[used] - np.log(share)])
    lowest = np.where(np.arange(design.shape[1]) < n_rises, 0.0, -np.inf)
    precision = 2 * ridge
    if start is None and truth.size >= _LARGE:
        # Most steps take place on a part of the candidates.
        part, given = design[::_EVERY].copy(), truth[::_EVERY]
        begin = fit_logistic(
            part, given, begin, 0.0, given.size * precision, lowest, tolerance=_PART_TOLERANCE
        )
    learned = fit_logistic(
        design, truth, begin, 0.0, truth.size * precision, lowest, tolerance=tolerance
    )
    # A group without candidates is interpolated from those that have some.
    offsets = np.interp(np.arange(N_GROUPS), used, learned[n_rises:]) + np.log(share)
    combination = Combination(curves_with(knots, learned), offsets)
    return combination.cautious() if is_cautious else combination


def _line(log_odds: NDArray[np.float64], truth: NDArray[np.bool_]) -> tuple[float, float]:
    """The offset and the factor that calibrate log-odds, by maximum a posteriori.

    They stay near 0 and 1 if there are few data.
    """
    expected, lowest = [0.0, 1.0], [-np.inf, _LEAST_FACTOR]
    design = np.stack([np.ones(truth.size), log_odds], axis=1)
    precision = 1 / np.square(_SPREAD)
    offset, factor = fit_logistic(design, truth, expected, expected, precision, lowest)
    return float(offset), float(factor)


def _line_of_any_scale(
    log_odds: NDArray[np.float64], truth: NDArray[np.bool_]
) -> tuple[float, float]:
    """The most likely line, however far the factor is from 1."""
    mean, scale = float(log_odds.mean()), max(float(log_odds.std()), 1e-9)
    design = np.stack([np.ones(truth.size), (log_odds - mean) / scale], axis=1)
    weak = np.array([1e-3, 1e-3])
    offset, factor = fit_logistic(design, truth, [0.0, 1.0], 0.0, weak).tolist()
    return offset - factor * mean / scale, factor / scale


def _weights(
    parts: NDArray[np.float64], offset: float, truth: NDArray[np.bool_]
) -> tuple[float, NDArray[np.float64]]:
    """A correction of the offset and a factor for each column, by maximum a posteriori."""
    design = np.concatenate([np.ones((truth.size, 1)), parts], axis=1)
    is_offset = np.arange(design.shape[1]) == 0
    expected = np.where(is_offset, 0.0, 1.0)
    precision = np.where(is_offset, 1 / _SPREAD[0] ** 2, 1 / WEIGHT_SPREAD**2)
    lowest = np.where(is_offset, -np.inf, 0.0)
    best = fit_logistic(design, truth, expected, expected, precision, lowest, offset)
    return float(best[0]), best[1:]


def _knots(
    scores: NDArray[np.float64], truth: NDArray[np.bool_], max_pieces: int
) -> NDArray[np.float64]:
    """Where the pieces of a curve meet: at 0, and where there are true candidates."""
    if max_pieces == 1:
        return np.array([0.0, 1.0])
    true = scores[truth]
    n_pieces = int(np.clip(true.size // _TRUE_PER_PIECE, 1, max_pieces))
    ends = np.quantile(true, np.linspace(0.02, 0.98, n_pieces)) if true.size else np.empty(0)
    lowest = np.quantile(scores, 0.02) if scores.size else 0.0
    knots = np.unique(np.concatenate([[0.0, min(lowest, 0.0)], ends]))
    # Nearly equal knots would make very steep pieces.
    width = max(knots[-1] - knots[0], 1e-6)
    knots = knots[np.concatenate([[True], np.diff(knots) > 1e-3 * width])]
    knots[np.argmin(np.abs(knots))] = 0.0
    return knots if knots.size > 1 else np.array([0.0, 1.0])


def curves_with(
    knots: dict[str, NDArray[np.float64]], rises: NDArray[np.float64]
) -> dict[str, Curve]:
    """Curves by their knots, and how much each piece rises, curve after curve."""
    curves, at = {}, 0
    for name, positions in knots.items():
        values = np.concatenate([[0.0], np.cumsum(rises[at : at + positions.size - 1])])
        at += positions.size - 1
        curves[name] = Curve(positions, values - np.interp(0.0, positions, values))
    return curves


def rises_of(scores: NDArray[np.float64], knots: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of each piece that lies between 0 and a score; negative for scores below 0."""
    low, high = knots[:-1].copy(), knots[1:].copy()
    length = high - low
    zero = np.clip(0.0, low, high)
    low[0], high[-1] = -np.inf, np.inf
    return (np.clip(scores[:, None], low, high) - zero) / length
