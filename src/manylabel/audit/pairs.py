"""The probability that each label of each document is wrong or missing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

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
    multiplied by the square root of the document's number of labels, divided by the mean number.

    Some collections have far more accidents than that. Of the documents that lack a label, take
    as many as a twentieth, those that are least likely to have it: if more of them are given it
    than expected, even after three standard errors are subtracted, that rate is :math:`r_l`.

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
    mistaken = share * max(Y.nnz / n_labels, 1e-9) / np.maximum(n_documents - counts, 1)
    given = values_at(Y, out.pattern) > 0
    labels = out.pattern.indices
    ranks = _ranks(out)
    missing = _missing_rates(ranks, labels, given, counts, share)
    accidents = _accident_rates(ranks[given], labels[given], n_documents - counts, n_documents)
    occasions = np.repeat(_occasions(Y), np.diff(out.pattern.indptr))
    expected = (mistaken * missing / share)[labels] * occasions
    mistaken = np.minimum(np.maximum(expected, accidents[labels]), 0.5)
    by_accident = np.log(mistaken) - out.log_odds
    by_confusion = np.log(_CONFUSED_SHARE * share) - np.logaddexp(0, out.log_odds)
    odds = np.where(
        given,
        np.logaddexp(by_accident, by_confusion) - np.log1p(-missing)[labels],
        out.log_odds + np.log(missing)[labels] - np.log1p(-mistaken),
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


def _occasions(Y: sparse.csr_array) -> NDArray[np.float64]:
    """How many accidents each document has, compared to one with the mean number of labels."""
    n_given = np.diff(Y.indptr)
    return np.sqrt(np.maximum(n_given, 1) / max(n_given.mean(), 1e-9))


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


def _accident_rates(
    ranks: NDArray[np.int64],
    labels: NDArray[np.int32],
    n_without: NDArray[np.int64],
    n_documents: int,
) -> NDArray[np.float64]:
    """The least rate at which each label is given to documents that should not have it.

    The ranks and labels are those of given entries. Documents without an entry rank last.
    """
    n_last = (_LEAST_LIKELY * n_without).astype(np.int64)
    last = ranks >= n_documents - n_last[labels]
    found = np.bincount(labels[last], minlength=n_without.size)
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
