"""Learn the weights of clues, which all labels share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from manylabel.logistic import likeliest
from manylabel.vocabulary.clues import CLUES
from manylabel.vocabulary.name_words import WORD_CLUES

__all__ = [
    "CLUE_TITLES",
    "DEFAULT_WEIGHTS",
    "N_STATIC",
    "UNNAMED",
    "WHOLE",
    "WORDS",
    "fit_weights",
    "rate",
]

#: All clues, and how reasons describe them: of whole names, of words of names, and those learned
#: from documents.
CLUE_TITLES: dict[str, str] = {
    **CLUES,
    **WORD_CLUES,
    "rate": "how often documents with the name have the label",
    "matched": "how many documents have the name",
    "word rate": "how often documents with words of the name have the label",
    "worded": "how many documents have words of the name",
    "documents": "how many documents have the label",
    "seen": "documents have the label",
}
#: Columns of clues that are 1 for a whole name, and for words of one.
WHOLE, WORDS = 0, len(CLUES)
#: The number of clues that need no documents.
N_STATIC = len(CLUES) + len(WORD_CLUES)
#: Weights of clues without training data: maximum likelihood on the labels of 10,000 titles
#: (YSO-Finna) and 2,000 laws (EURLEX57K), all from the training parts.
_DEFAULTS: dict[str, float] = {
    "name": -0.14,
    "rest": -1.79,
    "often": 1.18,
    "first": 1.39,
    "early": 0.07,
    "spread": 0.48,
    "covered": -0.59,
    "gap": -0.24,
    "length": -0.73,
    "rivals": -0.80,
    "words": 3.66,
    "letters": -0.52,
    "ambiguous": -0.67,
    "qualified": -0.79,
    "context": 0.73,
    "common": -2.62,
    "alternative": -1.10,
    "related": 0.24,
    "vocabulary": -1.38,
    "word": -7.70,
    "share": 8.62,
    "most": -1.36,
    "every": -1.33,
    "rare": 1.43,
    "size": 0.27,
    "of words": -3.66,
    "of text": -0.27,
    "other": -0.55,
}
DEFAULT_WEIGHTS = np.array([_DEFAULTS.get(clue, 0.0) for clue in CLUE_TITLES])
#: Prior standard deviations of the weights: of clues of the match, and of those from documents.
_SPREADS = np.where(np.arange(DEFAULT_WEIGHTS.size) < N_STATIC, 0.6, 1.0)
#: Log-odds of a candidate whose name is not in the text, without training data.
UNNAMED = -6.0
#: Prior share of documents with a name that have the label, and its weight in documents.
_RATE, _PRIOR_DOCUMENTS = 0.05, 2.0


def rate(true: NDArray[np.int64], all_: NDArray[np.int64]) -> NDArray[np.float64]:
    """Log-odds that a document with a name has the label, above the prior; 0 without documents.

    Examples
    --------
    >>> rate(np.array([0, 9]), np.array([0, 10])).round(1).tolist()
    [0.0, 4.1]
    """
    prior = _PRIOR_DOCUMENTS
    odds = (true + prior * _RATE) / (all_ - true + prior * (1 - _RATE))
    return np.log(odds) - np.log(_RATE / (1 - _RATE))


def fit_weights(
    design: NDArray[np.float64],
    truth: NDArray[np.bool_],
    defaults: NDArray[np.float64] = DEFAULT_WEIGHTS,
    spreads: NDArray[np.float64] = _SPREADS,
) -> NDArray[np.float64]:
    """Learn weights by maximum a posteriori; the defaults are the mean of the prior.

    Examples
    --------
    >>> nothing = np.empty((0, DEFAULT_WEIGHTS.size))
    >>> bool((fit_weights(nothing, np.empty(0, bool)) == DEFAULT_WEIGHTS).all())
    True
    """
    if not truth.size:
        return defaults.copy()
    return likeliest(design, truth, defaults, defaults, spreads**-2.0)
