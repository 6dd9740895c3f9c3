"""Kernel ridge regression of labels on words and pairs of words, a part of the ensemble."""
