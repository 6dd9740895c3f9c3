"""How likely a pair is an error, by Bayes' rule and loops."""

from __future__ import annotations

import math


def missing_rate(log_odds, label, documents, share):
    """How often a label is missing.

    The expected share, worth 1,000 documents, and what the most likely documents show: a tenth of
    the number that have the label. ``log_odds`` has those of each document, or None.
    """
    count = sum(label in labels for labels in documents)
    judged = [d for d in range(len(documents)) if log_odds[d] is not None]
    first = sorted(judged, key=lambda d: (-log_odds[d], d))[: int(0.1 * count)]
    lacking = sum(label not in documents[d] for d in first)
    return (lacking + 1000 * share) / (len(first) + 1000)


def least_likely(log_odds, label, documents):
    """A twentieth as many documents as lack the label; without log-odds, one is less likely."""
    without = sum(label not in labels for labels in documents)
    ranked = sorted(
        range(len(documents)),
        key=lambda row: (log_odds[row] is None, -(log_odds[row] or 0), row),
    )
    return ranked[len(documents) - int(0.05 * without) :]


def accident_rate(log_odds, label, documents):
    """Among the least likely documents, three standard errors below what is found."""
    last = least_likely(log_odds, label, documents)
    found = sum(label in documents[row] for row in last)
    return (found - 3 * math.sqrt(found)) / max(len(last), 1)


def occasions(row, documents, log_odds):
    """How many accidents a document has: the root of its labels, unless accidents do not grow."""

    def root(n):
        return math.sqrt(max(n, 1))

    growth = 0.0
    for label in range(len(log_odds[0])):
        column = [each[label] for each in log_odds]
        without = [len(labels) for labels in documents if label not in labels]
        mean = sum(map(root, without)) / max(len(without), 1)
        for each in least_likely(column, label, documents):
            if label in documents[each]:
                growth += math.log(root(len(documents[each]) - 1) / mean)
    if growth < -1:
        return 1.0
    n_given = sum(map(len, documents))
    return root(len(documents[row])) / math.sqrt(max(n_given / len(documents), 1e-9))


def generosity(row, documents, log_odds):
    """The mean of a gamma distribution after its document's number of labels was seen."""
    excess, squares, expected = 0.0, 0.0, []
    for labels, values in zip(documents, log_odds, strict=True):
        chances = [sigmoid(value) for value in values if value is not None]
        expected.append(sum(chances))
        if any(v is not None and label not in labels for label, v in enumerate(values)):
            excess += (len(labels) - sum(chances)) ** 2 - sum(p * (1 - p) for p in chances)
            squares += sum(chances) ** 2
    v = max(excess, 0.0) / max(squares, 1e-9)
    return (1 + v * len(documents[row])) / (1 + v * expected[row])


def sigmoid(value):
    return 1 / (1 + math.exp(-value))


def positive(x, rate):
    """About x - rate, but never negative."""
    much = x / rate - 1
    return rate * (much if much > 500 else math.log(1 + math.exp(much)))


def error(row, label, documents, share, log_odds):
    """Of one pair; ``documents`` are the label sets as given, ``log_odds`` those of each pair."""
    n_labels = len(log_odds[0])
    column = [each[label] for each in log_odds]
    probability = sigmoid(column[row])
    n_given = sum(len(labels) for labels in documents)
    count = sum(label in labels for labels in documents)
    missing = missing_rate(column, label, documents, share)
    # Accidents are equally likely for every label.
    expected = missing * n_given / n_labels / max(len(documents) - count, 1)
    expected *= occasions(row, documents, log_odds)
    seen = accident_rate(column, label, documents)
    mistaken = min(max(expected, seen), 0.5)
    missing = min(missing * generosity(row, documents, log_odds), 0.5)
    if seen > expected:
        # The model has learned accidents, too.
        should = positive(probability, mistaken)
        probability = should / (should + positive(sigmoid(-column[row]), missing))
    if label in documents[row]:
        # Labels that fit are mistaken for each other.
        either = mistaken + share / 3 * probability
        wrong, right = (1 - probability) * either, probability * (1 - missing)
    else:
        wrong, right = probability * missing, (1 - probability) * (1 - mistaken)
    return wrong / (wrong + right)


def unlisted_error(label, documents, proposed, share):
    """Of a label that nothing proposed; ``proposed`` has the labels proposed for each document."""
    rest = [row for row in range(len(documents)) if label not in proposed[row]]
    having = sum(label in documents[row] for row in rest)
    odds = share * having / max(len(rest) - having, 1)
    return odds / (1 + odds)


def suspicion(errors):
    """That there is an error, where labels that are hardly suspicious count less."""
    total = 0.0
    for value in errors:
        doubt = -math.log(1 - value)
        total += doubt**2 / (doubt + 0.03)
    return 1 - math.exp(-total)


def normalised_cut(similar, first, second):
    """What connects two groups, divided by what each group is connected to, summed."""
    between = sum(similar[a][b] for a in first for b in second)
    everyone = [*first, *second]
    return sum(
        between / max(sum(similar[a][b] for a in group for b in everyone), 1e-12)
        for group in (first, second)
    )


def best_cut(similar, members):
    """The smallest normalised cut into groups of at least two."""
    cuts = []
    for choice in range(1, 2 ** len(members) - 1):
        groups = [], []
        for position, member in enumerate(members):
            groups[choice >> position & 1].append(member)
        if min(map(len, groups)) >= 2:
            cuts.append(normalised_cut(similar, *groups))
    return min(cuts)


def choose_next(similarity, n, known, near):
    """Documents that represent the others best, one after another.

    ``similarity`` is a list of lists. A document can represent itself and those that it is one of
    the ``near`` most similar documents of; equally similar ones are taken in their order.
    """
    size = len(similarity)
    nearest = [
        sorted((other for other in range(size) if other != d), key=lambda o: (-similarity[d][o], o))
        for d in range(size)
    ]
    may = [
        {d: 1.0} | {o: similarity[d][o] for o in nearest[d][:near] if similarity[d][o] > 0}
        for d in range(size)
    ]
    covered = list(known)
    chosen = []
    while len(chosen) < min(n, size):
        gains = {
            row: sum(max(may[d].get(row, 0.0) - covered[d], 0.0) for d in range(size))
            for row in range(size)
            if row not in chosen
        }
        best = max(gains, key=lambda row: (round(gains[row], 9), -row))
        chosen.append(best)
        for d in range(size):
            covered[d] = max(covered[d], may[d].get(best, 0.0))
    return chosen


def choose_by_words(documents, n, known):
    """Documents, as sets of words, with frequent words that few labelled ones have."""
    seen = dict(known)
    chosen = []
    while len(chosen) < min(n, len(documents)):
        worth = {
            row: sum(
                math.sqrt(sum(word in other for other in documents)) / (1 + seen.get(word, 0))
                for word in words
            )
            / math.sqrt(max(len(words), 1))
            for row, words in enumerate(documents)
            if row not in chosen
        }
        best = max(worth, key=lambda row: (round(worth[row], 9), -row))
        chosen.append(best)
        for word in documents[best]:
            seen[word] = seen.get(word, 0) + 1
    return chosen
