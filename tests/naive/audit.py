"""How likely a pair is an error, by Bayes' rule and loops."""

from __future__ import annotations


def error(probability, given, label, documents, share, n_labels):
    """Of one pair; ``documents`` are the label sets as given."""
    n_given = sum(len(labels) for labels in documents)
    count = sum(label in labels for labels in documents)
    # Half of the mistakes go to any label, half to labels as frequent as they are.
    mistakes = share * (0.5 * n_given / n_labels + 0.5 * count)
    mistaken = mistakes / max(len(documents) - count, 1)
    if given:
        wrong, right = (1 - probability) * mistaken, probability * (1 - share)
    else:
        wrong, right = probability * share, (1 - probability) * (1 - mistaken)
    return wrong / (wrong + right)


def any_error(errors):
    """That at least one of several independent errors is there."""
    fine = 1.0
    for value in errors:
        fine *= 1 - value
    return 1 - fine
