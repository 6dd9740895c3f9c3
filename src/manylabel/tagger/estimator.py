"""The half of a tagger that scikit-learn knows: clones, searches, scores."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel import store
from manylabel.corpus.given import as_corpus, as_texts
from manylabel.estimators import BaseEstimator
from manylabel.exceptions import InputError
from manylabel.tagger.persistence import Persistent

__all__ = ["Estimator", "named_as_in_scikit_learn"]

_Method = TypeVar("_Method", bound=Callable[..., Any])
#: scikit-learn's names of arguments -> ours.
_NAMES = {"X": "texts", "y": "labels"}
#: Where the pickle of a fitted tagger has the files of its folder.
_FILES = "files"


def named_as_in_scikit_learn(method: _Method) -> _Method:
    """Let a method take its texts as ``X`` and its labels as ``y``."""

    @wraps(method)
    def called(self: Any, *given: Any, **named: Any) -> Any:
        return method(self, *given, **{_NAMES.get(name, name): named[name] for name in named})

    return called  # type: ignore[return-value]


class Estimator(Persistent, BaseEstimator):
    """What scikit-learn asks of a tagger: texts are ``X``, labels are ``y``.

    Taggers can be pickled, so that searches run in several processes; the pickle of a fitted one
    holds the files of its folder. To keep a tagger, save it: loading a folder runs no code.
    """

    @named_as_in_scikit_learn
    def predict(self, texts: Any) -> sparse.csr_array:
        """The labels that the model's own threshold gives.

        Parameters
        ----------
        texts : list of str, series, data frame or Corpus

        Returns
        -------
        csr_array of shape (n_texts, n_labels)
            Ones of type int8; columns are in the order of ``labels``.
        """
        with self._reading() as state:
            documents, _ = state.read(_several(texts))
            return state.given(documents, state.scores(documents))

    @named_as_in_scikit_learn
    def decision_function(self, texts: Any) -> NDArray[np.float64]:
        """The score of every label for every text, as scikit-learn's measures want them.

        A label that is no candidate scores below every one that is.

        Parameters
        ----------
        texts : list of str, series, data frame or Corpus

        Returns
        -------
        array of shape (n_texts, n_labels)
            Dense: for very many labels, `suggest` is the better question.
        """
        with self._reading() as state:
            documents, _ = state.read(_several(texts))
            return state.model._filled(state.scores(documents))

    @named_as_in_scikit_learn
    def predict_proba(self, texts: Any) -> NDArray[np.float64]:
        """The probability of every label for every text.

        Parameters
        ----------
        texts : list of str, series, data frame or Corpus

        Returns
        -------
        array of shape (n_texts, n_labels)
            A label that is no candidate has the probability 0.
        """
        with self._reading() as state:
            if not state.model.gives_probabilities:
                raise InputError(
                    f"the scores of {self.model_name} are no probabilities; use "
                    "`decision_function`, or a model such as ensemble."
                )
            documents, _ = state.read(_several(texts))
            return state.scores(documents).toarray()

    @named_as_in_scikit_learn
    def score(self, texts: Any, labels: Any = None, sample_weight: Any = None) -> float:
        """Micro F1 of `predict`, which scikit-learn's searches make the most of by default.

        Parameters
        ----------
        texts : list of str, series, data frame or Corpus
        labels : list of lists of str, or indicator matrix
        sample_weight : array of shape (n_texts,), optional
            How often each text counts.
        """
        corpus = as_corpus(texts, labels)
        if sample_weight is None:
            return float(self.evaluate(corpus, metrics=["micro-f1"])["micro-f1"])  # type: ignore[attr-defined]
        weights = np.asarray(sample_weight, np.float64)
        if weights.shape != (len(corpus),):
            raise InputError(
                f"`sample_weight` must have a number for each of the {len(corpus):,} texts; got an "
                f"array of shape {weights.shape}."
            )
        names = [str(name) for name in self.classes_]
        own = corpus.align_to(names).Y
        predicted = self.predict(corpus)
        right = weights @ own.multiply(predicted).sum(axis=1)
        # Labels that the tagger does not know are missed.
        total = weights @ (corpus.Y.sum(axis=1) + predicted.sum(axis=1))
        return float(2 * right / total) if total else 0.0

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns that `predict` gives: the labels."""
        return np.array(self.labels, dtype=object)

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, under the name that scikit-learn has for them."""
        return np.array(self.labels, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None

    def __getstate__(self) -> dict[str, Any]:
        if not self.__sklearn_is_fitted__():
            return self.get_params(deep=False)
        with TemporaryDirectory() as place:
            folder = Path(place)
            store.save(self, folder)
            files = [path for path in folder.rglob("*") if path.is_file()]
            return {
                _FILES: {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
            }

    def __setstate__(self, state: dict[str, Any]) -> None:
        if _FILES not in state:
            self.__init__(**state)  # type: ignore[misc]
            return
        # Arrays stay mapped when the folder is gone; where they keep it, the system removes it.
        with TemporaryDirectory(ignore_cleanup_errors=True) as place:
            for name, content in state[_FILES].items():
                path = Path(place, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            loaded = store.load(place)
            # A copy lives in memory alone, as before it was saved.
            self.__dict__.update(vars(loaded) | {"_folder": None, "_check": None})


def _several(texts: Any) -> Any:
    """Several texts; one alone is most likely a mistake."""
    if isinstance(texts, str):
        raise InputError("`texts` must be a list of texts; got a string: put it into a list.")
    return as_texts(texts)
