"""Linear support vector machines, one per label."""

from typing import TYPE_CHECKING

from manylabel.public import lazy_exports

if TYPE_CHECKING:
    from manylabel.linear.candidates import train_on_candidates
    from manylabel.linear.one_vs_rest import OneVsRestSVM
    from manylabel.linear.subset import SubsetSVM

__all__ = [
    "OneVsRestSVM",
    "SubsetSVM",
    "train_on_candidates",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "OneVsRestSVM": "manylabel.linear.one_vs_rest",
        "SubsetSVM": "manylabel.linear.subset",
        "train_on_candidates": "manylabel.linear.candidates",
    },
)
