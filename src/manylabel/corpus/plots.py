"""The two distributions of Rubin et al. 2012, figures 1 and 2."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from manylabel.corpus.corpus import Corpus
from manylabel.plotting import finished, new_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_label_frequencies", "plot_labels_per_document"]


def plot_label_frequencies(corpus: Corpus, path: str | os.PathLike[str] | None = None) -> Figure:
    """Plot the number of labels with k documents against k, on logarithmic axes (figure 1).

    A straight descending line means a power law: many rare labels, few common ones. Labels without
    documents cannot be shown on a logarithmic axis and are left out.

    Parameters
    ----------
    corpus : Corpus
    path : path, optional
        Also write the figure there; the suffix sets the format, such as ``.svg`` or ``.png``.

    Returns
    -------
    matplotlib.figure.Figure
    """
    frequencies = np.bincount(corpus.Y.indices, minlength=corpus.n_labels)
    figure, axes = new_axes("documents per label", "labels")
    k, labels = np.unique(frequencies[frequencies > 0], return_counts=True)
    axes.loglog(k, labels, ".")
    return finished(figure, path)


def plot_labels_per_document(corpus: Corpus, path: str | os.PathLike[str] | None = None) -> Figure:
    """Plot the number of documents with k labels against k (figure 2).

    Parameters and return value are those of `plot_label_frequencies`.
    """
    figure, axes = new_axes("labels per document", "documents")
    k, documents = np.unique(np.diff(corpus.Y.indptr), return_counts=True)
    axes.bar(k, documents, width=1.0, edgecolor="white", linewidth=0.5)
    return finished(figure, path)
