"""Benchmarks beside other libraries: one run, taking turns, ratios."""
