"""Iterative stratification, line by line from algorithm 1 of Sechidis et al. 2011."""

from __future__ import annotations


def stratify(label_sets: list[set[int]], n_labels: int, shares: list[float], preferred: list[int]):
    """The part of each document; ties by lower label, then by each document's preferred part."""
    n, n_parts = len(label_sets), len(shares)
    wanted = [n * share for share in shares]
    counts = [sum(label in labels for labels in label_sets) for label in range(n_labels)]
    wanted_labels = [[count * share for share in shares] for count in counts]
    parts = [-1] * n

    def neediest(document, wishes):
        order = [(preferred[document] + step) % n_parts for step in range(n_parts)]
        return max(order, key=lambda part: (wishes[part], wanted[part]))

    def give(document, part):
        parts[document] = part
        wanted[part] -= 1
        for label in label_sets[document]:
            wanted_labels[label][part] -= 1

    while True:
        left = {
            label: [d for d in range(n) if parts[d] < 0 and label in label_sets[d]]
            for label in range(n_labels)
        }
        left = {label: documents for label, documents in left.items() if documents}
        if not left:
            break
        rarest = min(left, key=lambda label: (len(left[label]), label))
        for document in left[rarest]:
            give(document, neediest(document, wanted_labels[rarest]))
    for document in range(n):
        if parts[document] < 0:
            give(document, neediest(document, wanted))
    return parts
