"""The statistics by which the papers describe a corpus.

Rubin et al. 2012, table 4 and section 4: cardinality, density, frequencies of labels and of label
sets. Feremans et al. 2020, definitions 2 and 4 and table 1: cardinality and density of features.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from manylabel.corpus.corpus import Corpus

__all__ = ["Statistics", "statistics"]


@dataclass(frozen=True)
class Statistics:
    """Statistics of a corpus.

    Frequencies include labels without documents, and the empty label set counts as a label set.
    Statistics of features are None before vectorising. Averages over nothing are 0.

    Attributes
    ----------
    documents, features, labels : int
    label_cardinality : float
        Mean number of labels per document.
    label_density : float
        Label cardinality divided by the number of labels.
    labels_per_document_median, labels_per_document_max : float, int
    label_frequency_mean, label_frequency_median, label_frequency_mode, label_frequency_max
        Documents per label; the mode is the smallest of the most common frequencies.
    distinct_label_sets : int
        Number of combinations of labels that occur.
    label_set_frequency_mean : float
        Mean number of documents per combination.
    unique_label_set_proportion : float
        Share of documents whose combination no other document has.
    feature_cardinality, feature_density : float
        Non-zero features per document, and that divided by the number of features.
    documents_without_labels, documents_without_features, labels_without_documents : int
    """

    documents: int
    features: int | None
    labels: int
    label_cardinality: float
    label_density: float
    labels_per_document_median: float
    labels_per_document_max: int
    label_frequency_mean: float
    label_frequency_median: float
    label_frequency_mode: int
    label_frequency_max: int
    distinct_label_sets: int
    label_set_frequency_mean: float
    unique_label_set_proportion: float
    feature_cardinality: float | None
    feature_density: float | None
    documents_without_labels: int
    documents_without_features: int | None
    labels_without_documents: int

    def to_dict(self) -> dict[str, Any]:
        """The statistics by their names on the command line, such as ``label-cardinality``."""
        return {name.replace("_", "-"): value for name, value in asdict(self).items()}


def statistics(corpus: Corpus) -> Statistics:
    """Compute the statistics of a corpus.

    Examples
    --------
    >>> figures = statistics(Corpus.from_texts(["a", "b", "c"], [["x", "y"], ["y"], ["y"]]))
    >>> figures.label_frequency_mean, figures.distinct_label_sets
    (2.0, 2)
    >>> round(figures.to_dict()["unique-label-set-proportion"], 2)
    0.33
    """
    n_documents, n_labels = corpus.Y.shape
    per_document = np.diff(corpus.Y.indptr)
    frequencies = np.bincount(corpus.Y.indices, minlength=n_labels)
    sets = _label_sets(corpus)
    n_values = None if corpus.X is None else corpus.X.nnz
    return Statistics(
        documents=n_documents,
        features=None if corpus.X is None else corpus.n_features,
        labels=n_labels,
        label_cardinality=_ratio(corpus.Y.nnz, n_documents),
        label_density=_ratio(corpus.Y.nnz, n_documents * n_labels),
        labels_per_document_median=float(np.median(per_document)) if n_documents else 0.0,
        labels_per_document_max=int(per_document.max(initial=0)),
        label_frequency_mean=_ratio(corpus.Y.nnz, n_labels),
        label_frequency_median=float(np.median(frequencies)) if n_labels else 0.0,
        label_frequency_mode=int(np.bincount(frequencies).argmax()) if n_labels else 0,
        label_frequency_max=int(frequencies.max(initial=0)),
        distinct_label_sets=len(sets),
        label_set_frequency_mean=_ratio(n_documents, len(sets)),
        unique_label_set_proportion=_ratio(sum(count == 1 for count in sets.values()), n_documents),
        feature_cardinality=None if n_values is None else _ratio(n_values, n_documents),
        feature_density=None
        if n_values is None
        else _ratio(n_values, n_documents * corpus.n_features),
        documents_without_labels=int((per_document == 0).sum()),
        documents_without_features=None
        if corpus.X is None
        else int((np.diff(corpus.X.indptr) == 0).sum()),
        labels_without_documents=int((frequencies == 0).sum()),
    )


def _label_sets(corpus: Corpus) -> Counter[bytes]:
    """The number of documents with each combination of labels."""
    entries = corpus.Y.indices.astype(np.int32, copy=False)
    row_bytes = memoryview(entries.tobytes())
    bounds = (corpus.Y.indptr * entries.itemsize).tolist()
    return Counter(bytes(row_bytes[start:stop]) for start, stop in pairwise(bounds))


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
