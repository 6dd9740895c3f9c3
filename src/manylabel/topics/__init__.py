"""Topic models: LDA, and labelled LDA with four priors for new documents."""

from typing import TYPE_CHECKING

from manylabel.public import lazy_exports

if TYPE_CHECKING:
    from manylabel.topics.dependency import DependencyLDA
    from manylabel.topics.flat import FlatLDA, LabeledLDA, PriorLDA
    from manylabel.topics.label_topics import LabelTopics
    from manylabel.topics.lda import LDA
    from manylabel.topics.presets import PRESETS
    from manylabel.topics.schedule import Schedule
    from manylabel.topics.subset import SubsetLLDA
    from manylabel.topics.training import LabelledTraining, train_phi
    from manylabel.topics.word_labels import WordLabels

__all__ = [
    "LDA",
    "PRESETS",
    "DependencyLDA",
    "FlatLDA",
    "LabelTopics",
    "LabeledLDA",
    "LabelledTraining",
    "PriorLDA",
    "Schedule",
    "SubsetLLDA",
    "WordLabels",
    "train_phi",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "LDA": "manylabel.topics.lda",
        "PRESETS": "manylabel.topics.presets",
        "DependencyLDA": "manylabel.topics.dependency",
        "FlatLDA": "manylabel.topics.flat",
        "LabelTopics": "manylabel.topics.label_topics",
        "LabeledLDA": "manylabel.topics.flat",
        "LabelledTraining": "manylabel.topics.training",
        "PriorLDA": "manylabel.topics.flat",
        "Schedule": "manylabel.topics.schedule",
        "SubsetLLDA": "manylabel.topics.subset",
        "WordLabels": "manylabel.topics.word_labels",
        "train_phi": "manylabel.topics.training",
    },
)
