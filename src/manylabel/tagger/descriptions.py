"""Describe labels by the words and the other labels of their documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.rendering import as_text, html_table
from manylabel.wording import counted

if TYPE_CHECKING:
    from rich.console import Group

__all__ = ["LabelDescription", "defining_words", "together"]


@dataclass(frozen=True)
class LabelDescription:
    """A description of a label by its documents.

    Parameters
    ----------
    label, name, description : str
    documents : int
        The number of documents with the label.
    words : list of (str, float)
        The words that distinguish its documents from others, most distinctive first.
    together : list of (str, int)
        Labels that its documents also have, and how many have them.
    """

    label: str
    name: str
    description: str
    documents: int
    words: list[tuple[str, float]]
    together: list[tuple[str, int]]

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        title = Text.assemble((self.name, "bold green"), f"  {counted(self.documents, 'document')}")
        lines = [title]
        if self.description:
            lines.append(Text(self.description))
        lines.append(Text("words: " + ", ".join(word for word, _ in self.words)))
        with_it = ", ".join(f"{label} ({count:,})" for label, count in self.together)
        lines.append(Text(f"together with: {with_it}"))
        return Group(*lines)

    def __str__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        rows = [
            ("label", self.label),
            ("name", self.name),
            ("description", self.description),
            ("documents", f"{self.documents:,}"),
            ("words", ", ".join(word for word, _ in self.words)),
            ("together with", ", ".join(f"{label} ({n:,})" for label, n in self.together)),
        ]
        return html_table(("", ""), rows)


def defining_words(
    counts: sparse.csr_array,
    document_counts: NDArray[np.int64],
    n_documents: int,
    top: int,
) -> list[tuple[int, float]]:
    r"""Find the features that are more common in some documents than in all.

    The weight of a feature is :math:`p \ln(p / q)`, where ``p`` is its share of these documents
    and ``q`` its share of all: its term in the Kullback-Leibler divergence.
    """
    here = np.bincount(counts.indices, minlength=counts.shape[1]) / max(counts.shape[0], 1)
    everywhere = np.maximum(document_counts, 1) / max(n_documents, 1)
    weights = np.zeros(here.size)
    seen = here > 0
    weights[seen] = here[seen] * np.log(here[seen] / everywhere[seen])
    best = np.argsort(-weights, kind="stable")[:top]
    return [(int(feature), float(weights[feature])) for feature in best if weights[feature] > 0]


def together(labels: sparse.csr_array, column: int, top: int) -> list[tuple[int, int]]:
    """Find the columns that most often occur in the same rows as a column, and how often."""
    rows = np.repeat(np.arange(labels.shape[0]), np.diff(labels.indptr))
    having = np.zeros(labels.shape[0], np.bool_)
    having[rows[labels.indices == column]] = True
    counts = np.bincount(labels.indices[having[rows]], minlength=labels.shape[1])
    counts[column] = 0
    best = np.argsort(-counts, kind="stable")[:top]
    return [(int(other), int(counts[other])) for other in best if counts[other]]
