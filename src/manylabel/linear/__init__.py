"""Linear support vector machines, one a label."""

from typing import TYPE_CHECKING

from manylabel.public import imported_late

if TYPE_CHECKING:
    from manylabel.linear.one_vs_rest import OneVsRestSVM
    from manylabel.linear.subset import SubsetSVM, candidate_labels, train_on_candidates

__all__ = [
    "OneVsRestSVM",
    "SubsetSVM",
    "candidate_labels",
    "train_on_candidates",
]

__getattr__, __dir__ = imported_late(
    __name__,
    {
        "OneVsRestSVM": "manylabel.linear.one_vs_rest",
        "SubsetSVM": "manylabel.linear.subset",
        "candidate_labels": "manylabel.linear.subset",
        "train_on_candidates": "manylabel.linear.subset",
    },
)
