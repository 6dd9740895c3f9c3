"""Vectors of features and labels with loops over lists: scores, and one step of training."""

from math import exp, log, sqrt


def row_vector(row, features):
    """The sum of the vectors of a row, which is a dictionary from a feature to its value."""
    return [sum(x * features[f][k] for f, x in row.items()) for k in range(len(features[0]))]


def score(row, label, features, labels, constants):
    """The product of the row's and the label's vector, plus the label's constant."""
    own = row_vector(row, features)
    return sum(v * h for v, h in zip(labels[label], own, strict=True)) + constants[label]


def best(row, top, features, labels, constants, trained):
    """The trained labels with the greatest scores; of equal ones, the first."""
    if not row:
        return []
    order = sorted(
        (label for label in range(len(labels)) if trained[label]),
        key=lambda label: (-score(row, label, features, labels, constants), label),
    )
    return sorted(order[:top])


def presence(counts, n_rows, n_drawn, batch):
    """How probable it is that a label is among those drawn, or in one of the rows of a batch."""
    weights = [count**0.75 for count in counts]
    return [
        1 - (1 - min(weight / sum(weights), 0.5)) ** n_drawn * (1 - min(n / n_rows, 0.5)) ** batch
        for weight, n in zip(weights, counts, strict=True)
    ]


def one_step(rows, truths, drawn, features, labels, constants, present, rate):
    """Vectors and constants after the first step, for rows with sets of labels."""
    size = len(features[0])
    among = sorted({*drawn, *(label for truth in truths for label in truth)})
    of_features = {f: [0.0] * size for row in rows for f in row}
    of_labels = {label: [0.0] * size for label in among}
    of_constants = dict.fromkeys(among, 0.0)
    for row, truth in zip(rows, truths, strict=True):
        if not truth:
            continue
        own = row_vector(row, features)
        values = {
            label: exp(score(row, label, features, labels, constants) - log(present[label]))
            for label in among
        }
        total = sum(values.values())
        for label in among:
            error = values[label] / total - (label in truth) / len(truth)
            of_constants[label] += error
            for k in range(size):
                of_labels[label][k] += error * own[k]
                for f, x in row.items():
                    of_features[f][k] += x * error * labels[label][k]
    return (
        _moved(features, of_features, rate),
        _moved(labels, of_labels, rate),
        [row[0] for row in _moved([[c] for c in constants], _each(of_constants), rate)],
    )


def _each(slopes):
    return {label: [slope] for label, slope in slopes.items()}


def _moved(vectors, slopes, rate):
    """Each vector minus its slope, divided by the root of the slope's mean square."""
    moved = [list(vector) for vector in vectors]
    for i, slope in slopes.items():
        length = sqrt(1e-6 + sum(g * g for g in slope) / len(slope))
        moved[i] = [v - rate * g / length for v, g in zip(vectors[i], slope, strict=True)]
    return moved
