"""The probability that each label of each document is wrong or missing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from manylabel.ensemble import OutOfSample
from manylabel.predictions import values_at

__all__ = ["document_errors", "pair_errors", "unlisted_errors"]

#: The expected share of labels that are wrong, and of labels that are missing.
SHARE = 0.03
#: Besides labels given by accident, some are mistaken for another label that fits: this part of
#: the expected share.
_CONFUSED_SHARE = 1 / 3
#: A label's own rate of errors is measured on the documents that are most likely to have it: this
#: share of the number that do.
_MOST_LIKELY = 0.1
#: The expected rate weighs as much as this many documents, so a few of them change little.
_PRIOR_DOCUMENTS = 1_000
#: A label's rate of accidents is measured on the documents that are least likely to have it: this
#: share of those that do not.
_LEAST_LIKELY = 0.05
#: Standard errors by which that rate must be above the expected one to replace it.
_STANDARD_ERRORS = 3
#: For the suspicion of documents: errors with about this probability or less count less.
_HARDLY = 0.03


def pair_errors(out: OutOfSample, Y: sparse.csr_array, share: float = SHARE) -> NDArray[np.float64]:
    r"""The probability that a label was given in error, or is missing in error.

    Let p be the probability that a document has a label, as learned from other documents. If a
    share :math:`\rho` of given labels is wrong and as many are missing, Bayes' rule gives the odds
    of an error: for a label that is not given

    .. math:: \frac{p}{1 - p} \frac{\rho}{1 - r_l},

    and for one that is given

    .. math:: \frac{1 - p}{p} \frac{r_l + c p}{1 - \rho}.

    People make two kinds of mistakes. Any label may be given by accident, as often as any other:
    :math:`r_l` is how often that happens to a document that should not have the label. And a label
    that fits is mistaken for another that does: :math:`c = \rho / 3` times its probability.

    Labels with thousands of documents show a rate of their own: nearly all of the documents that
    are most likely to have a label should have it, so where it is lacking, it is missing. If n
    documents have the label, the n / 10 most likely are looked at; the expected share weighs as
    much as 1,000 of them. The rate of wrong labels is scaled by the same factor.

    Someone who gives a document many labels has more occasions for accidents: :math:`r_l` is
    multiplied by the square root of the document's number of labels, divided by the mean number,
    unless the accidents that can be seen do not grow like that. And a document that has more
    labels than it was expected to have probably lacks more, too: see `_generosity`.

    Some collections have far more accidents than that. Of the documents that lack a label, take
    as many as a twentieth, those that are least likely to have it: if more of them are given it
    than expected, even after three standard errors are subtracted, that rate is :math:`r_l`. The
    model has learned such accidents, so p is never far below :math:`r_l`; it is replaced by the
    probability that the document should have the label: see `_without_errors`.

    Parameters
    ----------
    out : OutOfSample
    Y : csr_array of shape (n_documents, n_labels)
        The given labels.
    share : float
        The expected share of labels that are wrong, and of labels that are missing.

    Returns
    -------
    ndarray
        One per entry of ``out.pattern``.
    """
    n_documents, n_labels = Y.shape
    counts = np.bincount(Y.indices, minlength=n_labels)
    n_without = n_documents - counts
    given = values_at(Y, out.pattern) > 0
    labels = out.pattern.indices
    rows = np.repeat(np.arange(n_documents), np.diff(out.pattern.indptr))
    ranks = _ranks(out)
    missing = _missing_rates(ranks, labels, given, counts, share)
    # Documents without an entry rank last.
    n_last = (_LEAST_LIKELY * n_without).astype(np.int64)
    unlikely = given & (ranks >= n_documents - n_last[labels])
    accidents = _accident_rates(labels[unlikely], n_last)[labels]
    expected = Y.nnz / n_labels / np.maximum(n_without, 1) * missing
    expected = expected[labels] * _occasions(Y, rows[unlikely], labels[unlikely])[rows]
    mistaken = np.minimum(np.maximum(expected, accidents), 0.5)
    missing = np.minimum(missing[labels] * _generosity(out, Y, rows, given)[rows], 0.5)
    log_odds = np.where(
        accidents > expected, _without_errors(out.log_odds, mistaken, missing), out.log_odds
    )
    by_accident = np.log(mistaken) - log_odds
    by_confusion = np.log(_CONFUSED_SHARE * share) - np.logaddexp(0, log_odds)
    odds = np.where(
        given,
        np.logaddexp(by_accident, by_confusion) - np.log1p(-missing),
        log_odds + np.log(missing) - np.log1p(-mistaken),
    )
    return 1 / (1 + np.exp(-odds))


def unlisted_errors(
    out: OutOfSample, Y: sparse.csr_array, share: float = SHARE
) -> NDArray[np.float64]:
    r"""The probability that a label is missing from a document for which nothing proposed it.

    All that is known about such a pair is its label. Let q be the share of documents that have the
    label, of those for which it was not proposed: the odds of an error are
    :math:`\rho q / (1 - q)`.

    Returns
    -------
    ndarray of shape (n_labels,)
        For every pair of complete documents that is not in ``out.pattern``.
    """
    n_documents, n_labels = Y.shape
    labels = out.pattern.indices
    unlisted = ~out.proposed & (values_at(Y, out.pattern) > 0)
    having = np.bincount(labels[unlisted], minlength=n_labels)
    lacking = n_documents - np.bincount(labels, minlength=n_labels)
    odds = share * having / np.maximum(lacking, 1)
    return odds / (1 + odds)


def _without_errors(
    log_odds: NDArray[np.float64], mistaken: NDArray[np.float64], missing: NDArray[np.float64]
) -> NDArray[np.float64]:
    r"""The log-odds that documents should have labels, from those that they are given them.

    If they should with probability q, they are given them with
    :math:`p = q (1 - m) + (1 - q) r`, so :math:`q : 1 - q = (p - r) : (1 - p - m)`. Estimates of p
    may be too low: x is positive if :math:`x - r` is replaced by
    :math:`r \log(1 + \exp(x / r - 1))`, which hardly differs if x is much greater than r.
    """
    having, lacking = (
        np.log(rate) + np.log(np.logaddexp(0, expit(sign * log_odds) / rate - 1))
        for sign, rate in ((1, mistaken), (-1, missing))
    )
    result: NDArray[np.float64] = having - lacking
    return result


def _occasions(
    Y: sparse.csr_array, rows: NDArray[np.int64], labels: NDArray[np.int32]
) -> NDArray[np.float64]:
    """How many accidents each document has, compared to one with the mean number of labels.

    That is the square root of its number of labels, divided by the mean number. ``rows`` and
    ``labels`` are the pairs that are probably accidents. If they are e times more likely to have
    hit documents regardless of how many labels these have, every document has as many.
    """
    n_given = np.diff(Y.indptr)
    roots = np.sqrt(np.maximum(n_given, 1))
    without = np.maximum(Y.shape[0] - np.bincount(Y.indices, minlength=Y.shape[1]), 1)
    mean = (roots.sum() - Y.T @ roots) / without
    # The accident itself is one of the document's labels.
    others = np.sqrt(np.maximum(n_given[rows] - 1, 1))
    if np.log(mean[labels] / others).sum() > 1:
        return np.ones(Y.shape[0])
    occasions: NDArray[np.float64] = roots / np.sqrt(max(n_given.mean(), 1e-9))
    return occasions


def _generosity(
    out: OutOfSample, Y: sparse.csr_array, rows: NDArray[np.int64], given: NDArray[np.bool_]
) -> NDArray[np.float64]:
    r"""How many labels each document should have, compared to how many the model expects.

    Let n be the number of its labels, and x the expected number. If the ratio has a gamma
    distribution with mean 1 and variance v, and n is Poisson, the ratio is expected to be
    :math:`(1 + v n) / (1 + v x)`. v is how much :math:`(n - x)^2` exceeds what chance gives,
    divided by :math:`x^2`; both are means over documents with candidates that they lack.
    """
    size = Y.shape[0]
    p = expit(out.log_odds)
    n, x = np.diff(Y.indptr), np.bincount(rows, p, size)
    by_chance = np.bincount(rows, p * (1 - p), size)
    some = np.bincount(rows[~given], minlength=size) > 0
    excess = ((n - x) ** 2 - by_chance)[some].sum()
    v = max(excess, 0.0) / max((x[some] ** 2).sum(), 1e-9)
    ratio: NDArray[np.float64] = (1 + v * n) / (1 + v * x)
    return ratio


def _ranks(out: OutOfSample) -> NDArray[np.int64]:
    """The rank of each entry's document for its label, the most probable first, from 0."""
    labels = out.pattern.indices
    order = np.lexsort((-out.log_odds, labels))
    stored = np.bincount(labels, minlength=out.pattern.shape[1])
    firsts = np.concatenate([[0], np.cumsum(stored)[:-1]])
    ranks = np.empty(labels.size, np.int64)
    ranks[order] = np.arange(labels.size) - np.repeat(firsts, stored)
    return ranks


def _missing_rates(
    ranks: NDArray[np.int64],
    labels: NDArray[np.int32],
    given: NDArray[np.bool_],
    counts: NDArray[np.int64],
    share: float,
) -> NDArray[np.float64]:
    """How often each label is missing: the expected rate, and what its most likely tenth shows."""
    # Given labels are all stored, so no document without an entry can be among the first.
    n_first = (_MOST_LIKELY * counts).astype(np.int64)
    lacking = np.bincount(labels[~given & (ranks < n_first[labels])], minlength=counts.size)
    return (lacking + _PRIOR_DOCUMENTS * share) / (n_first + _PRIOR_DOCUMENTS)


def _accident_rates(labels: NDArray[np.int32], n_last: NDArray[np.int64]) -> NDArray[np.float64]:
    """The least rate at which each label is given to documents that should not have it.

    ``labels`` are those given to the documents that are least likely to have them, of which there
    are ``n_last``.
    """
    found = np.bincount(labels, minlength=n_last.size)
    return (found - _STANDARD_ERRORS * np.sqrt(found)) / np.maximum(n_last, 1)


def document_errors(pattern: sparse.csr_array, errors: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""How suspicious each document is, between 0 and 1.

    The probability that there is any error among labels with the probabilities :math:`e_l` is
    :math:`1 - \exp(-\sum_l s_l)`, where :math:`s_l = -\log(1 - e_l)`. A document has many labels
    that are hardly suspicious, and their probabilities are the least certain ones, so they count
    less: :math:`s_l` is replaced by :math:`s_l^2 / (s_l + 0.03)`.
    """
    sums = -np.log1p(-np.minimum(errors, 1 - 1e-12))
    sums = np.concatenate([[0.0], np.cumsum(sums * sums / (sums + _HARDLY))])
    return -np.expm1(sums[pattern.indptr[:-1]] - sums[pattern.indptr[1:]])
