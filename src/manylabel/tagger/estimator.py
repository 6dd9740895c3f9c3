"""The half of a tagger that scikit-learn knows: clones, searches, scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from manylabel.corpus.given import as_corpus, as_texts
from manylabel.exceptions import InputError
from manylabel.tagger.persistence import Persistent

__all__ = ["Estimator"]


class Estimator(Persistent, BaseEstimator):
    """What scikit-learn asks of a tagger: texts are ``X``, labels are ``y``.

    A tagger that is not fitted can be pickled, so that searches run in several processes. A fitted
    one is saved to a folder: manylabel reads no pickles.
    """

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

    def score(self, texts: Any, labels: Any = None, sample_weight: Any = None) -> float:
        """Micro F1 of `predict`, which scikit-learn's searches make the most of by default."""
        if sample_weight is not None:
            raise InputError("`sample_weight` has no meaning here; leave it out.")
        corpus = as_corpus(texts, labels)
        return float(self.evaluate(corpus, metrics=["micro-f1"])["micro-f1"])

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
        if self.__sklearn_is_fitted__():
            raise InputError(
                "a fitted tagger is not pickled; save it with `tagger.save(folder)` and load it "
                "with `Tagger.load(folder)`."
            )
        return self.get_params(deep=False)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


def _several(texts: Any) -> Any:
    """Several texts; one alone is most likely a mistake."""
    if isinstance(texts, str):
        raise InputError("`texts` must be a list of texts; got a string: put it into a list.")
    return as_texts(texts)
