"""Training documents as sources and scorers learn from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.scoring.documents import Documents

__all__ = ["Training", "without_lonely"]

#: A corpus with this few non-zeros is small: everything may be tried on it.
SMALL = 500_000


@dataclass(frozen=True)
class Training:
    """Documents with labels, and which of them are held out.

    Parameters
    ----------
    documents : Documents
        With weighted rows.
    Y : csr_array of shape (n_documents, n_labels)
    folds : ndarray of shape (n_documents,), int8
        A document is scored by models that were trained without the documents of its fold; those
        of fold -1 are not scored.
    seed : int
    n_jobs : int, optional
    verbose : bool or int
    settings : mapping
        The parameters of the classifier; a scorer takes those that it knows.
    vocabulary : object, optional
        What is known of the labels.
    hides_lonely : bool
        Whether held-out documents do without features that no other document has; see ``shared``.
    """

    documents: Documents
    Y: sparse.csr_array
    folds: NDArray[np.int8]
    seed: int = 0
    n_jobs: int | None = None
    verbose: bool | int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    vocabulary: Any = None
    hides_lonely: bool = True

    @cached_property
    def held(self) -> NDArray[np.int64]:
        """The numbers of the documents that are scored, in rising order."""
        return np.flatnonzero(self.folds >= 0)

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return int(self.folds.max()) + 1

    @cached_property
    def shared(self) -> Documents:
        """The documents without features that no other document has.

        A new document has no such features: training documents must do without theirs when they
        are scored as if they were new.
        """
        if not self.hides_lonely:
            return self.documents
        X, rows = self.documents.counts, self.documents.rows
        shared = without_lonely(X)
        if shared is X:
            return self.documents
        return self.documents.replaced(shared, without_lonely(rows))

    @property
    def is_small(self) -> bool:
        """Whether there is little enough to try everything."""
        return self.documents.counts.nnz <= SMALL


def without_lonely(X: sparse.csr_array) -> sparse.csr_array:
    """The same rows without features that only one row has; X itself if there are none."""
    lonely = np.bincount(X.indices, minlength=X.shape[1]) == 1
    if not lonely.any():
        return X
    keep = ~lonely[X.indices]
    ptr = np.concatenate([[0], np.cumsum(keep)])[X.indptr]
    return sparse.csr_array((X.data[keep], X.indices[keep], ptr), shape=X.shape)
