"""How likely a pair is an error, by Bayes' rule and loops."""

from __future__ import annotations


def rates(log_odds, label, documents, share, mistaken):
    """How often a label is missing, and given by mistake.

    The expected rates, worth 1,000 documents with the label, and what the least likely and the
    likeliest tenth of the documents show. ``log_odds`` has those of each document, or None.
    """
    n, count = len(documents), sum(label in labels for labels in documents)
    values = [-9.21 if odds is None else odds for odds in log_odds]
    # Of equal ones, those that nothing proposes come first, then by document.
    order = sorted(range(n), key=lambda d: (values[d], log_odds[d] is not None, d))
    low, high = order[: max(int(0.1 * (n - count)), 1)], order[n - max(int(0.1 * count), 1) :]
    wrong = sum(label in documents[d] for d in low)
    lacking = sum(label not in documents[d] for d in high)
    usual = 1000 * n / max(count, 1)
    return (
        (lacking + 1000 * share) / (len(high) + 1000),
        min((wrong + usual * mistaken) / (len(low) + usual), 0.5),
    )


def error(probability, given, label, documents, share, n_labels, log_odds):
    """Of one pair; ``documents`` are the label sets as given."""
    n_given = sum(len(labels) for labels in documents)
    count = sum(label in labels for labels in documents)
    # Half of the mistakes go to any label, half to labels as frequent as they are.
    mistakes = share * (0.5 * n_given / n_labels + 0.5 * count)
    mistaken = mistakes / max(len(documents) - count, 1)
    missing, mistaken = rates(log_odds, label, documents, share, max(mistaken, 1e-9))
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
