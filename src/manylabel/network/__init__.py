"""A network with one hidden layer, which learns vectors of words and labels together."""
