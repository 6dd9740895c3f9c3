"""Linear support vector machines, one a label."""

from manylabel.linear.one_vs_rest import OneVsRestSVM
from manylabel.linear.subset import SubsetSVM, candidate_labels, train_on_candidates

__all__ = ["OneVsRestSVM", "SubsetSVM", "candidate_labels", "train_on_candidates"]
