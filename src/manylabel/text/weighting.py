"""Turn counts into weights (tf-idf, BM25, presence, or counts), as rows of unit length."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from manylabel.estimators import (
    BaseEstimator,
    OneToOneFeatureMixin,
    TransformerMixin,
    check_is_fitted,
    clone,
)
from manylabel.exceptions import InputError, ParameterError
from manylabel.validation import check_matrix, check_numbers, check_real, trusted_csr

__all__ = ["Weighting", "make_weighting"]

_FIRST = np.zeros(1, np.int64)
_SCHEMES = ("tfidf", "bm25", "binary", "share", None)


class Weighting(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Weight the entries of a matrix of counts.

    With count :math:`c` of a feature in a document of length :math:`d` (the sum of its counts),
    :math:`n` documents of mean length :math:`\bar d`, and :math:`n_f` of them with the feature:

    - ``"tfidf"``: :math:`(1 + \ln c)(1 + \ln\frac{1 + n}{1 + n_f})`, as in scikit-learn;
    - ``"bm25"``: :math:`\frac{(k_1 + 1)c}{c + k_1(1 - b + b d / \bar d)}
      \ln(1 + \frac{n - n_f + 0.5}{n_f + 0.5})`, never negative, as in Lucene;
    - ``"binary"``: 1;
    - ``"share"``: :math:`c / d`, so that rows sum to 1; they are not normalized further;
    - ``None``: :math:`c`.

    Parameters
    ----------
    scheme : {"tfidf", "bm25", "binary", "share", None}, default="tfidf"
    sublinear_tf : bool, default=True
        For tf-idf: damp counts by :math:`1 + \ln c`. Values below 1 do not change, so weights are
        never negative.
    smooth_idf : bool, default=True
        For tf-idf: add 1 to both numbers of documents.
    k1, b : float, default=1.2 and 0.75
        For BM25: how soon counts saturate, and how much the length of documents matters (0 to 1).
    normalize : bool, default=True
        Divide each row by its Euclidean length, unless the scheme is ``"share"``.
    dtype : {float64, float32}, default=float64
        Of the weights.

    Attributes
    ----------
    n_documents_ : int
    document_counts_ : ndarray of int64
        The number of documents with each feature. Both are sums of weights after `fit_weighted`.
    mean_length_ : float
    idf_ : ndarray of float64
        Weight of each feature; ones for the schemes without idf.

    Examples
    --------
    >>> weighting = Weighting("tfidf").fit([[1, 0], [1, 2]])
    >>> weighting.transform([[1, 2]]).toarray().round(3)
    array([[0.387, 0.922]])
    >>> weighting.partial_fit([[0, 1]]).document_counts_.tolist()
    [2, 2]
    """

    def __init__(
        self,
        scheme: str | None = "tfidf",
        *,
        sublinear_tf: bool = True,
        smooth_idf: bool = True,
        k1: float = 1.2,
        b: float = 0.75,
        normalize: bool = True,
        dtype: DTypeLike = np.float64,
    ) -> None:
        self.scheme = scheme
        self.sublinear_tf = sublinear_tf
        self.smooth_idf = smooth_idf
        self.k1 = k1
        self.b = b
        self.normalize = normalize
        self.dtype = dtype

    def fit(self, X: Any, y: Any = None) -> Weighting:
        """Count the documents that have each feature.

        Parameters
        ----------
        X : matrix of shape (n_documents, n_features)
            Counts.
        y : ignored
        """
        self._check_parameters()
        return self._learn(check_matrix(X), 0, 0, 0.0)

    def fit_weighted(self, X: Any, sample_weight: NDArray[np.float64]) -> Weighting:
        """Like `fit`, where a document of weight 2 counts as two.

        Parameters
        ----------
        X : matrix of shape (n_documents, n_features)
        sample_weight : ndarray of shape (n_documents,)
            Numbers above 0.

        Examples
        --------
        >>> twice = Weighting().fit([[1, 0], [1, 0], [0, 1]])
        >>> weighted = Weighting().fit_weighted([[1, 0], [0, 1]], np.array([2.0, 1.0]))
        >>> bool((twice.idf_ == weighted.idf_).all())
        True
        """
        self._check_parameters()
        return self._learn(check_matrix(X), 0, 0, 0.0, sample_weight)

    def partial_fit(self, X: Any, y: Any = None) -> Weighting:
        """Count more documents; the result is that of one `fit` on all."""
        if not hasattr(self, "idf_"):
            return self.fit(X)
        counts = check_matrix(X, n_columns=self.n_features_in_)
        length = self.mean_length_ * self.n_documents_
        return self._learn(counts, self.document_counts_, self.n_documents_, length)

    def _check_stored(self) -> None:
        """Refuse weights that are not finite, or of other features."""
        if hasattr(self, "idf_"):
            if self.idf_.shape != (self.n_features_in_,):
                raise InputError("the weights of features are damaged: some are missing.")
            check_numbers(self.idf_)

    def transform(self, X: Any) -> sparse.csr_array:
        """Weights of the same shape as X.

        Parameters
        ----------
        X : matrix of shape (n_documents, n_features)
            Counts; never changed.
        """
        check_is_fitted(self, "idf_")
        return self.weigh(check_matrix(X, n_columns=self.n_features_in_))

    def weigh(self, counts: sparse.csr_array) -> sparse.csr_array:
        """Like `transform`, without checks: the counts must be canonical."""
        weights = counts.data.astype(self.dtype, copy=True)
        if self.scheme == "tfidf" and self.sublinear_tf:
            logs = np.log(np.maximum(weights, 1))
            np.minimum(weights, 1, out=weights)
            weights += logs
        elif self.scheme == "bm25":
            lengths = counts.sum(axis=1) / (self.mean_length_ or 1)
            offsets = self.k1 * (1 - self.b + self.b * lengths)
            weights *= (self.k1 + 1) / (counts.data + np.repeat(offsets, np.diff(counts.indptr)))
        elif self.scheme == "binary":
            weights[:] = 1
        elif self.scheme == "share":
            weights /= np.repeat(counts.sum(axis=1), np.diff(counts.indptr))
        if self.scheme in ("tfidf", "bm25"):
            weights *= self.idf_[counts.indices].astype(self.dtype, copy=False)
        if self.normalize and self.scheme != "share":
            _unit_rows(weights, counts.indptr)
        return trusted_csr(weights, counts.indices, counts.indptr, counts.shape)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def _learn(
        self,
        counts: sparse.csr_array,
        documents: Any,
        n_documents: Any,
        length: float,
        sample_weight: NDArray[np.float64] | None = None,
    ) -> Weighting:
        """Add the counts to the statistics so far."""
        n_more: Any = counts.shape[0]
        n_entries, total = None, counts.data.sum()
        if sample_weight is not None:
            n_more = float(sample_weight.sum())
            n_entries = np.repeat(sample_weight, np.diff(counts.indptr))
            total = counts.data @ n_entries
        with_feature = np.bincount(counts.indices, n_entries, minlength=counts.shape[1])
        self.n_features_in_ = counts.shape[1]
        self.n_documents_ = n_documents + n_more
        self.document_counts_ = documents + with_feature
        self.mean_length_ = float(length + total) / (self.n_documents_ or 1)
        self.idf_ = self._idf()
        return self

    def _idf(self) -> NDArray[np.float64]:
        n, n_f = self.n_documents_, self.document_counts_
        if self.scheme == "tfidf":
            smooth = int(self.smooth_idf)
            # Without smoothing, a feature without documents would divide by zero.
            return 1 + np.log((n + smooth) / np.maximum(n_f + smooth, 1))
        if self.scheme == "bm25":
            return np.log1p((n - n_f + 0.5) / (n_f + 0.5))
        return np.ones(n_f.size)

    def _check_parameters(self) -> None:
        if self.scheme not in _SCHEMES:
            raise ParameterError(
                f"`scheme` must be 'tfidf', 'bm25', 'binary', 'share' or None; got {self.scheme!r}."
            )
        if np.dtype(self.dtype) not in (np.float32, np.float64):
            raise ParameterError(f"`dtype` must be float32 or float64; got {self.dtype!r}.")
        check_real("k1", self.k1, 0)
        check_real("b", self.b, 0, 1)


def make_weighting(spec: str | Weighting | None, dtype: DTypeLike = np.float64) -> Weighting:
    """A new, unfitted `Weighting` from an estimator's ``weighting`` parameter.

    Parameters
    ----------
    spec : {"tfidf", "bm25", "binary", "share", "raw", None} or Weighting
        A scheme with its defaults, or a weighting, which is copied with its parameters. None
        divides rows by their length; ``"raw"`` does not change them.
    dtype : dtype
        Of the weights, if ``spec`` is a scheme.

    Examples
    --------
    >>> make_weighting("bm25")
    Weighting(scheme='bm25')
    """
    if isinstance(spec, Weighting):
        return clone(spec)
    if spec == "raw":
        return Weighting(None, normalize=False, dtype=dtype)
    if spec not in _SCHEMES:
        raise ParameterError(
            "`weighting` must be 'tfidf', 'bm25', 'binary', 'share', 'raw', None or a Weighting; "
            f"got {spec!r}."
        )
    return Weighting(spec, dtype=dtype)


def _unit_rows(weights: NDArray[Any], indptr: NDArray[Any]) -> None:
    """Divide each row by its length, in place; empty rows stay empty."""
    if indptr.size == 2 and weights.size:
        # The same numbers as below, without arrays of one element.
        square = np.add.reduceat(weights * weights, _FIRST, dtype=np.float64)
        if square[0]:
            weights /= np.sqrt(square).astype(weights.dtype)
        return
    sizes = np.diff(indptr)
    filled = np.flatnonzero(sizes)
    if filled.size == 0:
        return
    squares = np.add.reduceat(weights * weights, indptr[:-1][filled], dtype=np.float64)
    norms = np.sqrt(squares)
    norms[norms == 0] = 1
    weights /= np.repeat(norms.astype(weights.dtype), sizes[filled])
