"""How likely a pair is an error, by Bayes' rule and loops."""

from __future__ import annotations


def missing_rate(log_odds, label, documents, share):
    """How often a label is missing.

    The expected share, worth 1,000 documents, and what the likeliest documents show: a tenth of the
    number that have the label. ``log_odds`` has those of each document, or None.
    """
    count = sum(label in labels for labels in documents)
    judged = [d for d in range(len(documents)) if log_odds[d] is not None]
    first = sorted(judged, key=lambda d: (-log_odds[d], d))[: int(0.1 * count)]
    lacking = sum(label not in documents[d] for d in first)
    return (lacking + 1000 * share) / (len(first) + 1000)


def error(probability, given, label, documents, share, n_labels, log_odds):
    """Of one pair; ``documents`` are the label sets as given."""
    n_given = sum(len(labels) for labels in documents)
    count = sum(label in labels for labels in documents)
    # Half of the mistakes go to any label, half to labels as frequent as they are.
    mistakes = share * (0.5 * n_given / n_labels + 0.5 * count)
    mistaken = mistakes / max(len(documents) - count, 1)
    missing = missing_rate(log_odds, label, documents, share)
    mistaken = min(mistaken * missing / share, 0.5)
    if given:
        wrong, right = (1 - probability) * mistaken, probability * (1 - missing)
    else:
        wrong, right = probability * missing, (1 - probability) * (1 - mistaken)
    return wrong / (wrong + right)


def any_error(errors):
    """That at least one of several independent errors is there."""
    fine = 1.0
    for value in errors:
        fine *= 1 - value
    return 1 - fine
