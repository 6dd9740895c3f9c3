"""Vectors of words and labels that are learned together: a network of one hidden layer."""
