"""Feature selection by entropy, as the LCIF paper uses it on its largest corpora."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from manylabel.exceptions import ParameterError
from manylabel.validation import check_matrix, check_structure

__all__ = ["EntropySelector"]


class EntropySelector(SelectorMixin, BaseEstimator):
    r"""Keep the features of highest entropy.

    The paper does not define the variable. Here it is whether a document has the feature at all,
    which a share :math:`p` of the documents do:

    .. math:: H = -p \log_2 p - (1 - p) \log_2 (1 - p)

    It is greatest for features in half of the documents, and ranks rare features last. Ties go to
    the lower column.

    Parameters
    ----------
    keep : float or int, default=1.0
        How many features to keep: a float is a share of all, an int a number.

    Attributes
    ----------
    entropies_ : ndarray of shape (n_features,)

    Examples
    --------
    >>> X = [[1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 0, 1]]
    >>> selector = EntropySelector(keep=2).fit(X)
    >>> selector.entropies_.round(2).tolist(), selector.get_support().tolist()
    ([0.0, 1.0, 0.81], [False, True, True])
    """

    def __init__(self, keep: float | int = 1.0) -> None:
        self.keep = keep

    def __sklearn_tags__(self) -> Tags:
        """Takes sparse, non-negative input."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Measure the features of a matrix."""
        check_structure(X)
        matrix = check_matrix(validate_data(self, X, accept_sparse="csr"))
        share = isinstance(self.keep, float)
        if isinstance(self.keep, bool) or not 0 < self.keep <= (1 if share else np.inf):
            raise ParameterError(
                "`keep` must be a share above 0 and up to 1.0, or a number of features of at "
                f"least 1; got {self.keep!r}."
            )
        n_rows, n_features = matrix.shape
        p = np.bincount(matrix.indices, minlength=n_features) / n_rows
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = -p * np.log2(p) - (1 - p) * np.log2(1 - p)
        self.entropies_ = np.nan_to_num(terms)
        n_kept = min(n_features, max(1, round(self.keep * n_features) if share else self.keep))
        best = np.argsort(-self.entropies_, kind="stable")[:n_kept]
        self.support_ = np.zeros(n_features, np.bool_)
        self.support_[best] = True
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_
