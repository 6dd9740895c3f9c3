"""What labels are called, and where their names stand in texts."""

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
