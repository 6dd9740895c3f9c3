"""Texts to counts to weights, keeping the words for evidence."""

from __future__ import annotations

from manylabel.text.vectorizer import CountVectorizer
from manylabel.text.weighting import Weighting, make_weighting

__all__ = ["CountVectorizer", "Weighting", "make_weighting"]
