"""Turn texts into counts and weights, and features back into the words of the text."""

from __future__ import annotations

from manylabel.text.spans import feature_spans, surface_forms
from manylabel.text.vectorizer import CountVectorizer
from manylabel.text.weighting import Weighting, make_weighting

__all__ = ["CountVectorizer", "Weighting", "feature_spans", "make_weighting", "surface_forms"]
