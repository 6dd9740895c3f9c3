"""Suggested labels, and how they are selected from the candidates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.exceptions import MissingExtraError, ParameterError
from manylabel.predictions import rank_order
from manylabel.rendering import as_text, html_table
from manylabel.tagger.labels import Labels
from manylabel.thresholds import PROMISES, Promise, make_threshold
from manylabel.validation import check_real

if TYPE_CHECKING:
    from rich.table import Table

    from manylabel.tagger.explanations import TextExplanation

__all__ = [
    "Suggestion",
    "SuggestionList",
    "Suggestions",
    "check_threshold",
    "columns_by_rank",
    "kept_entries",
    "suggestions",
]

_BAR = 16


class Suggestion(NamedTuple):
    """A suggested label.

    Attributes
    ----------
    label : str
    score : float
        Its scale depends on the model; greater is surer.
    name : str
        The label's name; the label itself if it has none.
    """

    label: str
    score: float
    name: str


class Suggestions(Sequence[Suggestion]):
    """The suggested labels of one text, best first; prints as a table, in notebooks too.

    Parameters
    ----------
    suggestions : iterable of Suggestion
    id : str, optional
        The id of the document.
    why : TextExplanation, optional
        The reasons for these labels, in the same order, if `Tagger.suggest` was asked for them.

    Examples
    --------
    >>> suggestions = Suggestions([Suggestion("c1", 0.75, "cats"), Suggestion("p1", 0.25, "pets")])
    >>> suggestions.labels, suggestions[0].name
    (['c1', 'p1'], 'cats')
    """

    def __init__(
        self,
        suggestions: Iterable[Suggestion],
        id: str | None = None,
        why: TextExplanation | None = None,
    ) -> None:
        self._suggestions = tuple(suggestions)
        self.id, self.why = id, why

    @overload
    def __getitem__(self, position: int) -> Suggestion: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[Suggestion, ...]: ...
    def __getitem__(self, position: int | slice) -> Suggestion | tuple[Suggestion, ...]:
        return self._suggestions[position]

    def __len__(self) -> int:
        return len(self._suggestions)

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    @property
    def labels(self) -> list[str]:
        """The labels without scores."""
        return [suggestion.label for suggestion in self._suggestions]

    def to_list(self) -> list[dict[str, Any]]:
        """As data for JSON; ``name`` only if it differs from the label."""
        return [
            {"label": label, "score": score} | ({} if name == label else {"name": name})
            for label, score, name in self._suggestions
        ]

    def _rows(self, position: int) -> list[dict[str, Any]]:
        """The labels as rows of a table; a document without an id is named by its position."""
        return [
            {
                "document": position if self.id is None else self.id,
                "rank": rank,
                "label": label,
                "name": name,
                "score": score,
            }
            for rank, (label, score, name) in enumerate(self._suggestions, start=1)
        ]

    def to_frame(self) -> Any:
        """A pandas DataFrame with one row per label; see `SuggestionList.to_frame`."""
        return _frame(self._rows(0))

    def __rich__(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        best = max((suggestion.score for suggestion in self._suggestions), default=0.0)
        for label, score, name in self._suggestions:
            bar = "━" * max(1, round(_BAR * score / best)) if best > 0 and score > 0 else ""
            code = "" if name == label else label
            table.add_row(
                Text(name), Text(f"{score:.4f}", "dim"), Text(bar, "green"), Text(code, "dim")
            )
        return table

    def __repr__(self) -> str:
        return as_text(self) if self._suggestions else "no suggestions"

    def _repr_html_(self) -> str:
        if not self._suggestions:
            return "<p>no suggestions</p>"
        return html_table(
            ("label", "score"),
            [
                (name if name == label else f"{name} ({label})", f"{score:.4f}")
                for label, score, name in self._suggestions
            ],
        )


class SuggestionList(list[Suggestions]):
    """The suggested labels of several texts, in the order of the texts.

    Examples
    --------
    >>> first = Suggestions([Suggestion("c1", 0.75, "cats"), Suggestion("p1", 0.25, "pets")], "a")
    >>> SuggestionList([first]).to_rows()[1]
    {'document': 'a', 'rank': 2, 'label': 'p1', 'name': 'pets', 'score': 0.25}
    """

    def to_rows(self) -> list[dict[str, Any]]:
        """One dictionary per label of each text."""
        return [
            row for position, suggestions in enumerate(self) for row in suggestions._rows(position)
        ]

    def to_frame(self) -> Any:
        """A pandas DataFrame with one row per label of each text.

        The columns are ``document`` (id or position), ``rank``, ``label``, ``name`` and ``score``.
        """
        return _frame(self.to_rows())


def _frame(rows: list[dict[str, Any]]) -> Any:
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtraError("Making data frames", "pandas", "pandas") from None
    return pd.DataFrame(rows, columns=["document", "rank", "label", "name", "score"])


def check_threshold(threshold: Any) -> float | Promise | None:
    """Check a threshold: a number, a promise such as "precision:0.9", or None for "auto"."""
    if threshold is None or threshold == "auto":
        return None
    if isinstance(threshold, str):
        if threshold.partition(":")[0] in PROMISES:
            promise = make_threshold(threshold)
            assert isinstance(promise, Promise)
            return promise
        raise ParameterError(
            "`threshold` must be a number, 'auto' or a promise such as 'precision:0.9'; "
            f"got {threshold!r}."
        )
    return check_real("threshold", threshold, -np.inf)


def kept_entries(scores: sparse.csr_array, kept: NDArray[np.bool_]) -> sparse.csr_array:
    """Keep only some of the entries of scores."""
    ptr = np.concatenate([[0], np.cumsum(kept)])[scores.indptr]
    return sparse.csr_array((scores.data[kept], scores.indices[kept], ptr), shape=scores.shape)


def columns_by_rank(scores: sparse.csr_array) -> list[NDArray[np.int64]]:
    """The stored columns of each row, best first."""
    ranked = scores.indices[rank_order(scores)].astype(np.int64)
    return np.split(ranked, scores.indptr[1:-1])


def suggestions(
    scores: sparse.csr_array,
    labels: Labels,
    ids: list[str] | None,
    why: list[TextExplanation] | None = None,
) -> Iterator[Suggestions]:
    """Make the suggestions of each row from its candidates, best first."""
    order = rank_order(scores)
    columns, values = scores.indices[order].tolist(), scores.data[order].tolist()
    for row in range(scores.shape[0]):
        ranked = [
            (labels.listed[columns[position]], values[position])
            for position in range(scores.indptr[row], scores.indptr[row + 1])
        ]
        yield Suggestions(
            [Suggestion(label, score, labels.name(label)) for label, score in ranked],
            None if ids is None else ids[row],
            None if why is None else why[row],
        )
