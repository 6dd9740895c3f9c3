"""Names of labels, and where they occur in texts."""

from manylabel.vocabulary.label_names import ALTERNATIVE, HIDDEN, PREFERRED, LabelNames
from manylabel.vocabulary.matching import NameMatcher
from manylabel.vocabulary.reading import read
from manylabel.vocabulary.vocabulary import Concept, Name, Vocabulary

__all__ = [
    "ALTERNATIVE",
    "HIDDEN",
    "PREFERRED",
    "Concept",
    "LabelNames",
    "Name",
    "NameMatcher",
    "Vocabulary",
    "read",
]
