"""Vectors of words and labels, learned together; labels near a text's vector are candidates."""
