"""A network of one hidden layer with loops over lists: scores, and one step of Adam."""

from math import exp, sqrt


def hidden(row, features):
    """Units of a row, which is a dictionary from a feature to its value."""
    size = len(features[0])
    return [max(0.0, sum(x * features[f][k] for f, x in row.items())) for k in range(size)]


def score(row, label, features, labels):
    """The label's vector times the units, and its constant, which is the last number."""
    units = hidden(row, features)
    return sum(v * h for v, h in zip(labels[label], units, strict=False)) + labels[label][-1]


def one_step(rows, pairs, features, labels, rate):
    """The vectors after one step; ``pairs`` has a dictionary from labels to 0 or 1 for each row."""
    size = len(features[0])
    slopes = {f: [0.0] * size for row in rows for f in row}
    label_slopes = {label: [0.0] * (size + 1) for each in pairs for label in each}
    for row, each in zip(rows, pairs, strict=True):
        units = hidden(row, features)
        for label, truth in each.items():
            error = 1 / (1 + exp(-score(row, label, features, labels))) - truth
            for k in range(size):
                label_slopes[label][k] += error * units[k]
                if units[k] > 0:
                    for f, x in row.items():
                        slopes[f][k] += x * error * labels[label][k]
            label_slopes[label][size] += error
    return _adam(features, slopes, rate), _adam(labels, label_slopes, rate)


def _adam(vectors, slopes, rate):
    """The first step, in which both means are the slope and its square."""
    return [
        [v - rate * g / (sqrt(g * g) + 1e-8) for v, g in zip(vector, slopes[i], strict=True)]
        if i in slopes
        else list(vector)
        for i, vector in enumerate(vectors)
    ]
