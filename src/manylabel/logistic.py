"""Logistic regression with few columns, by Newton's method."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manylabel.parallel import single_threaded_blas

__all__ = ["fit_logistic", "log_losses", "sigmoid"]

#: Rows per matrix product, so that they stay in the processor's cache.
_ROWS = 4_096
_STEPS, _HALVINGS = 50, 12
#: Tolerance of the log-loss: per row, and for all rows together.
_TOLERANCE, _TOTAL_TOLERANCE = 1e-9, 1e-6


def log_losses(log_odds: NDArray[np.floating], truth: NDArray[np.bool_]) -> NDArray[np.floating]:
    """The log-loss of each row.

    Examples
    --------
    >>> log_losses(np.array([0.0, 0.0]), np.array([True, False])).round(3).tolist()
    [0.693, 0.693]
    """
    against = np.where(truth, -log_odds, log_odds)
    return np.maximum(against, 0) + np.log1p(np.exp(-np.abs(against)))


def sigmoid(log_odds: NDArray[np.floating]) -> NDArray[np.floating]:
    """The probabilities that log-odds stand for."""
    small = np.exp(-np.abs(log_odds))
    return np.where(log_odds >= 0, 1, small) / (1 + small)


def fit_logistic(
    design: NDArray[np.floating],
    truth: NDArray[np.bool_],
    start: ArrayLike,
    prior_mean: ArrayLike = 0.0,
    prior_precision: ArrayLike = 0.0,
    lower_bound: ArrayLike = -np.inf,
    offset: float = 0.0,
    tolerance: float = _TOLERANCE,
) -> NDArray[np.float64]:
    """The weights of columns with the maximum posterior probability.

    Parameters
    ----------
    design : ndarray of shape (n_rows, n_columns)
    truth : ndarray of bool
    start : array of shape (n_columns,)
        The initial weights.
    prior_mean, prior_precision : float or array of shape (n_columns,)
        The normal prior of the weights: its mean, and the inverse of its variance.
    lower_bound : float or array of shape (n_columns,)
        Lower bounds of the weights.
    offset : float
        The offset: added to the log-odds of every row.
    tolerance : float
        Stop when the mean log-loss can fall by no more than this.

    Examples
    --------
    >>> design, truth = np.ones((4, 1)), np.array([True, True, True, False])
    >>> fit_logistic(design, truth, [0.0]).round(3).tolist()  # log(3 / 1)
    [1.099]
    """
    n_columns = design.shape[1]
    prior_mean, prior_precision, lower_bound = (
        np.broadcast_to(np.asarray(values, np.float64), n_columns)
        for values in (prior_mean, prior_precision, lower_bound)
    )
    weights = np.maximum(np.asarray(start, np.float64), lower_bound)
    min_gain = max(tolerance * truth.size, _TOTAL_TOLERANCE)

    def log_odds(at: NDArray[np.float64]) -> NDArray[np.floating]:
        return design @ at.astype(design.dtype) + design.dtype.type(offset)

    def loss(at: NDArray[np.float64], odds: NDArray[np.floating]) -> float:
        distance = at - prior_mean
        likelihood_loss = log_losses(odds, truth).sum(dtype=np.float64)
        return float(likelihood_loss + (prior_precision * distance) @ distance / 2)

    with single_threaded_blas():
        odds = log_odds(weights)
        value = loss(weights, odds)
        for _ in range(_STEPS):
            gradient, hessian = _gradient_and_hessian(design, odds, truth)
            gradient += prior_precision * (weights - prior_mean)
            hessian[np.diag_indices(n_columns)] += prior_precision
            # Weights at their bound that a step would push below it stay there (Bertsekas 1982).
            free = np.flatnonzero((weights > lower_bound) | (gradient < 0))
            if not free.size:
                break
            step = np.zeros(n_columns)
            step[free] = _newton_step(hessian[np.ix_(free, free)], gradient[free])
            if step @ gradient / 2 <= min_gain:
                break
            size = 1.0
            for _ in range(_HALVINGS):
                tried = np.maximum(weights - size * step, lower_bound)
                odds = log_odds(tried)
                reached = loss(tried, odds)
                if reached <= value - 1e-4 * gradient @ (weights - tried):
                    break
                size /= 2
            else:
                break
            gained, weights, value = value - reached, tried, reached
            if gained <= min_gain:
                break
    return weights


def _gradient_and_hessian(
    design: NDArray[np.floating], odds: NDArray[np.floating], truth: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The gradient and the Hessian of the log-loss."""
    probabilities = sigmoid(odds)
    gradient = ((probabilities - truth).astype(design.dtype) @ design).astype(np.float64)
    # Square roots, because a product of a matrix with itself takes half of the time.
    roots = np.sqrt(probabilities * (1 - probabilities)).astype(design.dtype)
    hessian = np.zeros((design.shape[1], design.shape[1]))
    for first in range(0, len(design), _ROWS):
        rows = design[first : first + _ROWS] * roots[first : first + _ROWS, None]
        hessian += rows.T @ rows
    return gradient, hessian


def _newton_step(
    hessian: NDArray[np.float64], gradient: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Newton's step; a small ridge bounds it for columns without information."""
    ridge = 1e-9 * max(float(np.trace(hessian)) / gradient.size, 1e-12)
    step = np.linalg.solve(hessian + ridge * np.eye(gradient.size), gradient)
    return np.asarray(step, np.float64)
