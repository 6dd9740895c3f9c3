"""The probability that each label of each document is wrong or missing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.ensemble import OutOfSample
from manylabel.predictions import values_at

__all__ = ["document_errors", "pair_errors"]

#: The expected share of labels that are wrong, and of labels that are missing.
SHARE = 0.03
#: The part of the mistakes that is shared evenly among labels; the rest follows their frequency.
#: Every label may be given by mistake, a frequent one more easily.
_EVEN = 0.5
#: A label's own rates of error are looked for among the documents that are least and most likely
#: to have it: this share of those that lack it, and of those that have it.
_CERTAIN = 0.1
#: The expected rates count as much as that many documents with the label: few documents tell
#: nothing, thousands do.
_USUAL = 1_000
#: Log-odds of pairs that nothing proposes: a probability of 0.0001.
_UNLIKELY = -9.21


def pair_errors(out: OutOfSample, Y: sparse.csr_array, share: float = SHARE) -> NDArray[np.float64]:
    r"""The probability that a label was given in error, or is missing in error.

    Let p be the probability that a document has a label, as learned from other documents. If a
    share :math:`\rho` of given labels is wrong and as many are missing, Bayes' rule gives the odds
    of an error: for a label that is not given

    .. math:: \frac{p}{1 - p} \frac{\rho}{1 - r_l},

    and for one that is given

    .. math:: \frac{1 - p}{p} \frac{r_l}{1 - \rho},

    where :math:`r_l` is how often the label is given to a document that should not have it.

    Labels with thousands of documents show rates of their own. Hardly any of the tenth of the
    documents that are least likely to have a label should have it: where it is given, it is wrong.
    Likewise, where it is lacking in the tenth that is likeliest to have it, it is missing. These
    rates and the expected ones are averaged, and the latter weigh as much as 1,000 documents with
    the label.

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
    even = _EVEN * Y.nnz / n_labels + (1 - _EVEN) * counts
    mistaken = share * np.maximum(even, 1e-9) / np.maximum(n_documents - counts, 1)
    given = values_at(Y, out.pattern) > 0
    labels = out.pattern.indices
    missing, mistaken = _own_rates(out, given, counts, n_documents, share, mistaken)
    odds = np.where(
        given,
        -out.log_odds + (np.log(mistaken) - np.log1p(-missing))[labels],
        out.log_odds + (np.log(missing) - np.log1p(-mistaken))[labels],
    )
    return 1 / (1 + np.exp(-odds))


def _own_rates(
    out: OutOfSample,
    given: NDArray[np.bool_],
    counts: NDArray[np.int64],
    n_documents: int,
    share: float,
    mistaken: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How often each label is missing, and given by mistake: the expected rates and its own."""
    labels, n_labels = out.pattern.indices, counts.size
    # Places of the documents of each label, the least likely first; pairs that are not stored are
    # not given, and stand before all that are likelier than they.
    order = np.lexsort((out.log_odds, labels))
    stored = np.bincount(labels, minlength=n_labels)
    firsts = np.concatenate([[0], np.cumsum(stored)[:-1]])
    places = np.empty(labels.size, np.int64)
    places[order] = np.arange(labels.size) - np.repeat(firsts, stored)
    places += np.where(out.log_odds >= _UNLIKELY, (n_documents - stored)[labels], 0)
    n_low = np.maximum((_CERTAIN * (n_documents - counts)).astype(np.int64), 1)
    n_high = np.maximum((_CERTAIN * counts).astype(np.int64), 1)
    wrong = np.bincount(labels[given & (places < n_low[labels])], minlength=n_labels)
    is_high = places >= (n_documents - n_high)[labels]
    right = np.bincount(labels[given & is_high], minlength=n_labels)
    usual = _USUAL * n_documents / np.maximum(counts, 1)
    missing = (n_high - right + _USUAL * share) / (n_high + _USUAL)
    return missing, np.minimum((wrong + usual * mistaken) / (n_low + usual), 0.5)


def document_errors(pattern: sparse.csr_array, errors: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability that anything is wrong with each document's labels."""
    sums = np.concatenate([[0.0], np.cumsum(np.log1p(-np.minimum(errors, 1 - 1e-12)))])
    return -np.expm1(sums[pattern.indptr[1:]] - sums[pattern.indptr[:-1]])
