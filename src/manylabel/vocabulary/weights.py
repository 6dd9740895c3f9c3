"""Learn the weights of clues, which all labels share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from manylabel.logistic import likeliest
from manylabel.vocabulary.clues import CLUES

__all__ = ["DEFAULT_WEIGHTS", "LEARNED", "N_STATIC", "UNNAMED", "fit_weights", "learned_clues"]

N_STATIC = len(CLUES)
#: All clues: those of the match, and those learned from documents.
LEARNED: dict[str, str] = {
    **CLUES,
    "rate": "how often documents with the name have the label",
    "matched": "how many documents have the name",
    "documents": "how many documents have the label",
    "seen": "documents have the label",
}
#: Weights of clues without training data: maximum likelihood on the labels of 5,000 titles
#: (YSO-Finna) and 2,000 laws (EURLEX57K), all from the training parts.
_DEFAULTS: dict[str, float] = {
    "name": -0.42,
    "rest": -1.67,
    "often": 0.99,
    "first": 1.18,
    "early": -0.06,
    "spread": 0.39,
    "covered": -0.96,
    "gap": -0.46,
    "length": -0.64,
    "rivals": -0.78,
    "words": 2.17,
    "letters": -0.54,
    "ambiguous": -1.13,
    "qualified": -0.99,
    "context": 0.9,
    "common": -2.08,
    "alternative": -1.05,
    "related": 0.22,
    "vocabulary": -1.63,
}
DEFAULT_WEIGHTS = np.array([_DEFAULTS.get(clue, 0.0) for clue in LEARNED])
#: Prior standard deviations of the weights: of clues of the match, and of those from documents.
_SPREADS = (0.6, 1.0)
#: Log-odds of a candidate whose name is not in the text, without training data.
UNNAMED = -6.0
#: Prior share of documents with a name that have the label, and its weight in documents.
_RATE, _PRIOR_DOCUMENTS = 0.05, 2.0


def learned_clues(
    hits: NDArray[np.int64], matched: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Clues of labels that training documents give; 0 for labels without documents.

    Parameters
    ----------
    hits : ndarray
        Documents that have the label, and its name in their text.
    matched : ndarray
        Documents that have its name in their text.
    counts : ndarray
        Documents that have the label.
    """
    odds = (hits + _PRIOR_DOCUMENTS * _RATE) / (matched - hits + _PRIOR_DOCUMENTS * (1 - _RATE))
    return np.column_stack(
        [
            np.log(odds) - np.log(_RATE / (1 - _RATE)),
            np.log1p(matched) / 3,
            np.log1p(counts) / 3,
            counts > 0,
        ]
    )


def fit_weights(
    design: NDArray[np.float64],
    truth: NDArray[np.bool_],
    defaults: NDArray[np.float64] = DEFAULT_WEIGHTS,
) -> NDArray[np.float64]:
    """The weights with the maximum posterior probability, near the defaults if data are few.

    Examples
    --------
    >>> nothing = np.empty((0, len(LEARNED)))
    >>> bool((fit_weights(nothing, np.empty(0, bool)) == DEFAULT_WEIGHTS).all())
    True
    """
    if not truth.size:
        return defaults.copy()

    n_learned = len(LEARNED) - N_STATIC
    spread = np.where(np.arange(defaults.size) < defaults.size - n_learned, *_SPREADS)
    return likeliest(design, truth, defaults, defaults, 1 / spread**2)
