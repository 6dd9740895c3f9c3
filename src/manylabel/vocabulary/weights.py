"""Learn the weights of clues, which all labels share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from manylabel.logistic import fit_logistic
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
    "documents": "how many documents have the label",
    "seen": "documents have the label",
    "word rate": "how often documents with words of the name have the label",
    "worded": "how many documents have words of the name",
    "word documents": "how many documents have the label",
    "word seen": "documents have the label",
}
#: Columns of clues that are 1 for a whole name, and for words of one.
WHOLE, WORDS = 0, len(CLUES)
#: The number of clues that need no documents.
N_STATIC = len(CLUES) + len(WORD_CLUES)
#: Weights of clues without training data: maximum likelihood on the labels of 10,000 titles
#: (YSO-Finna) and 2,000 laws (EURLEX57K), all from the training parts.
_DEFAULTS: dict[str, float] = {
    "name": -0.73,
    "rest": -1.85,
    "often": 1.16,
    "first": 1.19,
    "early": -0.30,
    "spread": -0.04,
    "covered": -0.69,
    "gap": -0.26,
    "length": -0.76,
    "rivals": -0.66,
    "words": 1.89,
    "letters": -0.36,
    "ambiguous": -0.60,
    "qualified": -0.77,
    "context": 0.70,
    "common": -2.43,
    "alternative": -1.12,
    "related": 0.22,
    "vocabulary": -1.63,
    "word": -7.66,
    "share": 9.12,
    "most": -0.86,
    "every": -1.75,
    "rare": 1.62,
    "size": 0.15,
    "of words": -3.14,
    "of text": -1.31,
    "other": -0.18,
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
    return fit_logistic(design, truth, defaults, defaults, spreads**-2.0)
