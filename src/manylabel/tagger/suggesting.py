"""Suggest labels for texts, and explain them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.corpus import Corpus
from manylabel.corpus.conversion import as_texts
from manylabel.exceptions import InputError
from manylabel.predictions import keep_top, values_at
from manylabel.scoring import Documents
from manylabel.tagger.explanations import TextExplanation
from manylabel.tagger.persistence import Persistent
from manylabel.tagger.state import TaggerState
from manylabel.tagger.suggestions import (
    SuggestionList,
    Suggestions,
    check_threshold,
    columns_by_rank,
    kept_entries,
    suggestions,
)
from manylabel.thresholds import Promise
from manylabel.validation import check_whole

__all__ = ["Suggesting"]


class Suggesting(Persistent):
    """The methods of a tagger that suggest and explain labels."""

    @overload
    def suggest(  # type: ignore[overload-overlap]  # a string is meant as one text
        self,
        texts: str,
        top: int | None = 5,
        threshold: float | str | None = None,
        include: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
        explain: bool = False,
        *,
        text: str | Sequence[str] | None = None,
    ) -> Suggestions: ...
    @overload
    def suggest(
        self,
        texts: Any,
        top: int | None = 5,
        threshold: float | str | None = None,
        include: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
        explain: bool = False,
        *,
        text: str | Sequence[str] | None = None,
    ) -> SuggestionList: ...
    def suggest(
        self,
        texts: Any,
        top: int | None = 5,
        threshold: float | str | None = None,
        include: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
        explain: bool = False,
        *,
        text: str | Sequence[str] | None = None,
    ) -> Suggestions | SuggestionList:
        """Suggest labels for texts.

        Parameters
        ----------
        texts : str, list of str, series, data frame or Corpus
        top : int or None, default=5
            Maximum labels per text; None for all candidates.
        threshold : float, "auto" or a promise, optional
            The minimum score. "auto" uses the threshold that the model has learned.
            "precision:0.9", "recall:0.8" and "fdr:0.1" promise what share of labels will be right,
            or found; see `manylabel.thresholds.Promise`. A text may then get no label at all.
        include : list of str, optional
            Suggest only these labels. A collection or scheme of the vocabulary stands for its
            labels, here and in ``exclude``.
        exclude : list of str, optional
            Do not suggest these labels.
        explain : bool, default=False
            Add the reasons for the suggested labels, as `explain` returns them, as ``why``.
        text : str or list of str, optional
            The columns of a data frame that contain the texts; by default detected by name.

        Returns
        -------
        Suggestions, or for several texts a SuggestionList of them
        """
        limit = check_threshold(threshold)
        if top is not None:
            check_whole("top", top, 1)
        is_corpus = isinstance(texts, Corpus)
        if not isinstance(texts, str):
            texts = as_texts(texts, text)
        is_plain = include is None and exclude is None and threshold is None
        with self._reading() as state:
            if explain:
                self._check_explains(state)
            documents, ids = state.read(texts)
            # A data frame without ids has only row numbers.
            if isinstance(texts, Corpus) and not is_corpus and not texts.has_ids:
                ids = None
            if len(documents) == 0:
                return SuggestionList()

            def selected(documents: Documents, scores: sparse.csr_array) -> sparse.csr_array:
                if not is_plain or state.withheld() is not None:
                    kept = state.allowed(include, exclude)[scores.indices]
                    if isinstance(limit, Promise):
                        kept &= values_at(state.promised(limit).apply(scores), scores) > 0
                    elif limit is not None:
                        kept &= scores.data >= limit
                    elif threshold is not None:
                        kept &= values_at(state.given(documents, scores), scores) > 0
                    scores = kept_entries(scores, kept)
                return (
                    scores if top is None or (is_plain and not explain) else keep_top(scores, top)
                )

            if explain:
                scores, why = self._explained(state, texts, documents, selected)
            else:
                scores = state.scores(documents, top if is_plain else None)
                scores, why = scores if is_plain else selected(documents, scores), None
            answers = SuggestionList(suggestions(scores, state.labels, ids, why))
        return answers[0] if isinstance(texts, str) else answers

    def _explained(
        self,
        state: TaggerState,
        texts: Any,
        documents: Documents,
        select: Callable[[Documents, sparse.csr_array], sparse.csr_array],
    ) -> tuple[sparse.csr_array, list[TextExplanation]]:
        """Score and explain the labels that ``select`` keeps."""
        selected: list[sparse.csr_array] = []

        def choose(document: Documents, scores: sparse.csr_array) -> NDArray[np.int64]:
            selected.append(select(document, scores))
            return columns_by_rank(selected[-1])[0]

        reasons = state.reasons(documents, choose)
        written = _written(texts)
        return sparse.csr_array(sparse.vstack(selected, "csr")), [
            TextExplanation(text, state.in_words(text, why))
            for text, why in zip(written, reasons, strict=True)
        ]

    def explain(
        self, text: Any, label: str | Iterable[str] | None = None, top: int = 5
    ) -> TextExplanation:
        """Explain why labels are suggested for a text, or why not.

        Parameters
        ----------
        text : str, or Corpus of one document
        label : str or list of str, optional
            The labels to explain; by default the ``top`` best.
        top : int, default=5

        Returns
        -------
        TextExplanation
            The parts of each label's score sum to it. A label that is not a candidate has score 0
            and no reasons.
        """
        check_whole("top", top, 1)
        text = as_texts(text)
        with self._reading() as state:
            self._check_explains(state)
            documents, _ = state.read(text)
            if len(documents) != 1:
                raise InputError(f"explain one text at a time; got {len(documents)}.")
            if label is not None:
                columns: Any = state.labels.columns(label, "label")
                (explained,) = state.model.explain(documents, labels=columns, top=top)
            elif state.withheld() is None:
                (explained,) = state.model.explain(documents, top=top)
            else:
                (explained,) = state.reasons(documents, partial(_best, state, top))
            (written,) = _written(text)
            return TextExplanation(written, state.in_words(written, explained))

    def _check_explains(self, state: TaggerState) -> None:
        if not state.model.can_explain:
            raise InputError(
                f"{self.model_name} cannot explain its labels; use a model such as ensemble."
            )


def _best(
    state: TaggerState, top: int, _: Documents, scores: sparse.csr_array
) -> NDArray[np.int64]:
    """The columns of a document's best labels among those that may be suggested."""
    kept = kept_entries(scores, state.allowed(None, None)[scores.indices])
    return columns_by_rank(keep_top(kept, top))[0]


def _written(texts: Any) -> list[str]:
    """The texts as strings; empty ones for a corpus without texts."""
    if isinstance(texts, Corpus):
        return texts.full_texts or [""] * len(texts)
    return [texts] if isinstance(texts, str) else list(texts)
