"""The probability that each label of each document is wrong or missing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from manylabel.ensemble import OutOfSample, rounds
from manylabel.predictions import is_stored
from manylabel.validation import trusted_csr

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


def pair_errors(out: OutOfSample, Y: sparse.csr_array, share: float = SHARE) -> NDArray[np.float32]:
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
    given = is_stored(Y, out.pattern)
    # Given labels are all stored, so no document without an entry can be among the first.
    n_first = (_MOST_LIKELY * counts).astype(np.int64)
    # Documents without an entry rank last.
    n_last = (_LEAST_LIKELY * n_without).astype(np.int64)
    lacking, unlikely = _extremes(out, given, n_first, n_documents - n_last)
    labels = out.pattern.indices[unlikely]
    rows = np.searchsorted(out.pattern.indptr, unlikely, side="right") - 1
    missing = (lacking + _PRIOR_DOCUMENTS * share) / (n_first + _PRIOR_DOCUMENTS)
    accidents = _accident_rates(labels, n_last)
    expected = Y.nnz / n_labels / np.maximum(n_without, 1) * missing
    occasions, generosity = _occasions(Y, rows, labels), _generosity(out, Y, given)
    errors = np.empty(given.size, np.float32)
    for some, entries in rounds(out.pattern.indptr):
        labels, n_pairs = out.pattern.indices[entries], np.diff(out.pattern.indptr[_ends(some)])
        errors[entries] = _errors(
            out.log_odds[entries].astype(np.float64),
            given[entries],
            accidents[labels],
            expected[labels] * np.repeat(occasions[some], n_pairs),
            np.minimum(missing[labels] * np.repeat(generosity[some], n_pairs), 0.5),
            share,
        )
    return errors


def _errors(
    log_odds: NDArray[np.float64],
    given: NDArray[np.bool_],
    accidents: NDArray[np.float64],
    expected: NDArray[np.float64],
    missing: NDArray[np.float64],
    share: float,
) -> NDArray[np.float64]:
    """The probability that pairs are errors; ``accidents`` are those seen, not ``expected``."""
    mistaken = np.minimum(np.maximum(expected, accidents), 0.5)
    log_odds = np.where(
        accidents > expected, _without_errors(log_odds, mistaken, missing), log_odds
    )
    by_accident = np.log(mistaken) - log_odds
    by_confusion = np.log(_CONFUSED_SHARE * share) - np.logaddexp(0, log_odds)
    odds = np.where(
        given,
        np.logaddexp(by_accident, by_confusion) - np.log1p(-missing),
        log_odds + np.log(missing) - np.log1p(-mistaken),
    )
    errors: NDArray[np.float64] = 1 / (1 + np.exp(-odds))
    return errors


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
    unlisted = ~out.proposed & is_stored(Y, out.pattern)
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
    out: OutOfSample, Y: sparse.csr_array, given: NDArray[np.bool_]
) -> NDArray[np.float64]:
    r"""How many labels each document should have, compared to how many the model expects.

    Let n be the number of its labels, and x the expected number. If the ratio has a gamma
    distribution with mean 1 and variance v, and n is Poisson, the ratio is expected to be
    :math:`(1 + v n) / (1 + v x)`. v is how much :math:`(n - x)^2` exceeds what chance gives,
    divided by :math:`x^2`; both are means over documents with candidates that they lack.
    """
    n = np.diff(Y.indptr)
    x, by_chance, some = np.zeros(n.size), np.zeros(n.size), np.zeros(n.size, np.bool_)
    for rows, entries in rounds(out.pattern.indptr):
        size = rows.stop - rows.start
        own = np.repeat(np.arange(size), np.diff(out.pattern.indptr[_ends(rows)]))
        p = expit(out.log_odds[entries].astype(np.float64))
        x[rows] = np.bincount(own, p, size)
        by_chance[rows] = np.bincount(own, p * (1 - p), size)
        some[rows] = np.bincount(own[~given[entries]], minlength=size) > 0
    excess = ((n - x) ** 2 - by_chance)[some].sum()
    v = max(excess, 0.0) / max((x[some] ** 2).sum(), 1e-9)
    ratio: NDArray[np.float64] = (1 + v * n) / (1 + v * x)
    return ratio


def _ends(rows: slice) -> slice:
    """Where the pointers of consecutive rows are."""
    return slice(rows.start, rows.stop + 1)


def _extremes(
    out: OutOfSample,
    given: NDArray[np.bool_],
    n_first: NDArray[np.int64],
    n_before: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What is surprising among the documents that are most and least likely to have each label.

    Returns
    -------
    lacking : ndarray of shape (n_labels,)
        How many of the first ``n_first`` documents lack the label.
    unlikely : ndarray
        Entries of those that have it, though ``n_before`` documents are more likely to; ascending.
    """
    pattern = out.pattern
    numbers = np.arange(given.size, dtype=pattern.indices.dtype)
    by_label = trusted_csr(numbers, pattern.indices, pattern.indptr, pattern.shape).tocsc()
    lacking, unlikely = np.zeros(n_first.size, np.int64), [np.empty(0, np.int64)]
    wanted = (n_first > 0) | (np.diff(by_label.indptr) > n_before)
    for label in np.flatnonzero(wanted).tolist():
        entries = by_label.data[by_label.indptr[label] : by_label.indptr[label + 1]]
        log_odds, has = out.log_odds[entries], given[entries]
        lacking[label] = np.count_nonzero(_best(log_odds, n_first[label]) & ~has)
        unlikely.append(entries[~_best(log_odds, n_before[label]) & has])
    return lacking, np.sort(np.concatenate(unlikely))


def _best(values: NDArray[np.floating], n: int) -> NDArray[np.bool_]:
    """Mark the n greatest values; among equal ones, the first.

    Examples
    --------
    >>> _best(np.array([0.1, 0.3, 0.3]), 1).tolist()
    [False, True, False]
    """
    if n >= values.size:
        return np.ones(values.size, np.bool_)
    if n == 0:
        return np.zeros(values.size, np.bool_)
    least = np.partition(values, values.size - n)[values.size - n]
    best: NDArray[np.bool_] = values > least
    best[np.flatnonzero(values == least)[: n - np.count_nonzero(best)]] = True
    return best


def _accident_rates(labels: NDArray[np.int32], n_last: NDArray[np.int64]) -> NDArray[np.float64]:
    """The least rate at which each label is given to documents that should not have it.

    ``labels`` are those given to the documents that are least likely to have them, of which there
    are ``n_last``.
    """
    found = np.bincount(labels, minlength=n_last.size)
    return (found - _STANDARD_ERRORS * np.sqrt(found)) / np.maximum(n_last, 1)


def document_errors(pattern: sparse.csr_array, errors: NDArray[np.floating]) -> NDArray[np.float64]:
    r"""How suspicious each document is, between 0 and 1.

    The probability that there is any error among labels with the probabilities :math:`e_l` is
    :math:`1 - \exp(-\sum_l s_l)`, where :math:`s_l = -\log(1 - e_l)`. A document has many labels
    that are hardly suspicious, and their probabilities are the least certain ones, so they count
    less: :math:`s_l` is replaced by :math:`s_l^2 / (s_l + 0.03)`.
    """
    suspicion = np.empty(pattern.shape[0])
    for rows, entries in rounds(pattern.indptr):
        sums = -np.log1p(-np.minimum(errors[entries], 1 - 1e-12, dtype=np.float64))
        sums = np.concatenate([[0.0], np.cumsum(sums * sums / (sums + _HARDLY))])
        sums = sums[pattern.indptr[_ends(rows)] - entries.start]
        suspicion[rows] = -np.expm1(sums[:-1] - sums[1:])
    return suspicion
