"""The scikit-learn interface of a tagger: predict, score, clone and search."""

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
from manylabel.corpus.conversion import as_corpus, as_texts
from manylabel.estimators import BaseEstimator
from manylabel.exceptions import InputError
from manylabel.tagger.persistence import Persistent

__all__ = ["Estimator", "named_as_in_scikit_learn"]

_Method = TypeVar("_Method", bound=Callable[..., Any])
#: scikit-learn's names of arguments -> ours.
_NAMES = {"X": "texts", "y": "labels"}
#: The key of the model folder's files in the pickled state of a fitted tagger.
_FILES = "files"


def named_as_in_scikit_learn(method: _Method) -> _Method:
    """Let callers name a method's texts ``X`` and its labels ``y``."""

    @wraps(method)
    def called(self: Any, *given: Any, **named: Any) -> Any:
        return method(self, *given, **{_NAMES.get(name, name): named[name] for name in named})

    return called  # type: ignore[return-value]


class Estimator(Persistent, BaseEstimator):
    """The methods that scikit-learn expects; texts are ``X``, labels are ``y``.

    Taggers can be pickled, so searches can use several processes. The pickle of a fitted tagger
    contains the files of its model folder. To keep a tagger, use `save`: loading a model folder
    runs no code, loading a pickle may.
    """

    @named_as_in_scikit_learn
    def predict(self, texts: Any) -> sparse.csr_array:
        """Predict labels with the model's own threshold.

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
        """Score every label for every text, as scikit-learn's metrics expect.

        A label that is not a candidate scores below all that are.

        Parameters
        ----------
        texts : list of str, series, data frame or Corpus

        Returns
        -------
        array of shape (n_texts, n_labels)
            Dense; with very many labels, use `suggest` instead.
        """
        with self._reading() as state:
            documents, _ = state.read(_several(texts))
            return state.model._filled(state.scores(documents))

    @named_as_in_scikit_learn
    def predict_proba(self, texts: Any) -> NDArray[np.float64]:
        """Estimate the probability of every label for every text.

        Parameters
        ----------
        texts : list of str, series, data frame or Corpus

        Returns
        -------
        array of shape (n_texts, n_labels)
            A label that is not a candidate has probability 0.
        """
        with self._reading() as state:
            if not state.model.gives_probabilities:
                raise InputError(
                    f"the scores of {self.model_name} are not probabilities; use "
                    "`decision_function`, or a model such as ensemble."
                )
            documents, _ = state.read(_several(texts))
            return state.scores(documents).toarray()

    @named_as_in_scikit_learn
    def score(self, texts: Any, labels: Any = None, sample_weight: Any = None) -> float:
        """Micro F1 of `predict`: what scikit-learn's searches maximise by default.

        Parameters
        ----------
        texts : list of str, series, data frame or Corpus
        labels : list of lists of str, or indicator matrix
        sample_weight : array of shape (n_texts,), optional
            The weight of each text.
        """
        corpus = as_corpus(texts, labels)
        if sample_weight is None:
            return float(self.evaluate(corpus, metrics=["micro-f1"])["micro-f1"])  # type: ignore[attr-defined]
        weights = np.asarray(sample_weight, np.float64)
        if weights.shape != (len(corpus),):
            raise InputError(
                f"`sample_weight` must have one number per text ({len(corpus):,}); got an array of "
                f"shape {weights.shape}."
            )
        corpus = self._latest().labels.identified(corpus)  # type: ignore[attr-defined]
        names = [str(name) for name in self.classes_]
        own = corpus.align_to(names).Y
        predicted = self.predict(corpus)
        right = weights @ own.multiply(predicted).sum(axis=1)
        # Labels that the tagger does not know count as missed.
        total = weights @ (corpus.Y.sum(axis=1) + predicted.sum(axis=1))
        return float(2 * right / total) if total else 0.0

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns of `predict`: the labels."""
        return np.array(self.labels, dtype=object)

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, under scikit-learn's name."""
        return np.array(self.labels, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None

    def __getstate__(self) -> dict[str, Any]:
        if not self.__sklearn_is_fitted__():
            return self.get_params(deep=False)
        with TemporaryDirectory() as temporary:
            folder = Path(temporary)
            store.save(self, folder)
            files = [path for path in folder.rglob("*") if path.is_file()]
            return {
                _FILES: {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
            }

    def __setstate__(self, state: dict[str, Any]) -> None:
        if _FILES not in state:
            self.__init__(**state)  # type: ignore[misc]
            return
        # On POSIX, memory-mapped arrays outlive their files; elsewhere the files stay in use, and
        # the system removes them later.
        with TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
            for name, content in state[_FILES].items():
                path = Path(temporary, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            loaded = store.load(temporary)
            # An unpickled tagger has no folder, like one that was never saved.
            self.__dict__.update(vars(loaded) | {"_folder": None, "_check": None})


def _several(texts: Any) -> Any:
    """Refuse a single string, which is most likely a mistake."""
    if isinstance(texts, str):
        raise InputError("`texts` must be a list of texts; got a string. Put it into a list.")
    return as_texts(texts)
