"""Rubin et al. (2012), section 3.5 and appendix B: two samplers, and the number of topics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from manylabel.compare.plan import Claim, Plan, Row
from manylabel.compare.presets.corpora import problem

__all__ = ["rubin_appendix"]

_DOCUMENT = (
    "average-precision", "one-error", "ranking-loss", "auc-roc", "micro-f1@break-even",
    "macro-f1@break-even",
)  # fmt: skip
_LABEL = ("label-average-precision", "label-auc-roc")
#: Fewer than the paper's 48 chains of training, 10 of label topics and 60 of prediction, these with
#: 30 sweeps instead of 120.
_CHAINS = {
    "train_chains": 4, "topic_chains": 5, "chains": 5, "burn_in": 20, "samples": 3, "lag": 5
}  # fmt: skip
#: The paper's number of topics for Yahoo, and the numbers to compare it with.
_TOPICS, _OTHERS = 20, (5, 10, 40, 80)
#: Label tokens in each document; the paper has 1,000.
_LABEL_TOKENS = 200
_FAST, _PROPER = f"Fast, T = {_TOPICS}", f"Proper, T = {_TOPICS}"


def _row(title: str, n_topics: int = _TOPICS, **parameters: Any) -> Row:
    """Make a row whose pseudo-counts of labels sum to the same at any number of topics."""
    topics = {"n_topics": n_topics, "label_beta": _TOPICS / n_topics}
    return Row(title, "dependency-lda", {**_CHAINS, **topics, **parameters}, preset="rubin-yahoo")


def rubin_appendix(data: Path) -> Plan:
    """Compare fast with proper inference in Dependency-LDA, and numbers of topics."""
    words = {"yahoo-arts": "significantly better (on EUR-Lex)"}
    return Plan(
        "Fast and proper inference, and the number of topics (section 3.5 and appendix B)",
        (problem(data, "yahoo-arts", n_train=1000, min_documents=100),),
        (
            _row(_FAST),
            _row(_PROPER, sampler="proper", n_label_tokens=_LABEL_TOKENS),
            *(_row(f"Fast, T = {n}", n) for n in _OTHERS),
        ),
        (*_DOCUMENT, *_LABEL),
        claims=(
            Claim(_FAST, _PROPER, _DOCUMENT, words),
            Claim(_FAST, _PROPER, _LABEL, words),
        ),
        source="Rubin et al. (2012), section 3.5 and appendix B",
        notes=(
            "Dependency-LDA with the paper's settings for Yahoo. The paper compares the samplers "
            "on one split of EUR-Lex, without figures; here it is one split of Yahoo Arts.",
            f"The proper sampler has {_LABEL_TOKENS} label tokens per document, about as many as "
            "there are words; the paper has 1,000. For 300 documents with 4 chains, average "
            "precision was 0.628 with fast inference, 0.613 with 200 label tokens and 0.607 with "
            "1,000, in 2.0, 7.6 and 32.9 CPU seconds.",
            "The paper finds fast inference well over ten times as fast per sweep. Both rows have "
            "the same chains and sweeps, so their seconds to predict compare directly.",
            "The paper chose T by looking at the topics: about the number of labels for small "
            "corpora (20 for the 19 labels here), and 200 for NYT and EUR-Lex, where few topics "
            "left out rare labels and 1,000 repeated each other. It has no measures by T, so there "
            "is no statement to check. The pseudo-counts of labels sum to the same for every T, as "
            "in appendix B.",
            "Fewer chains than in the paper: 4 of training instead of 48, 5 of label topics "
            "instead of 10, and 5 of prediction with 30 sweeps each instead of 60 with 120. One "
            "split, one seed.",
        ),
    )
