"""Linear support vector machines, one a label."""

from manylabel.linear.one_vs_rest import OneVsRestSVM

__all__ = ["OneVsRestSVM"]
