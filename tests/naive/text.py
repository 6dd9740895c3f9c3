"""Words, counts and weights by loops and dictionaries."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter


def is_mark(character):
    """Whether it combines with the character before it."""
    return unicodedata.category(character) in ("Mn", "Mc")


def words(text, min_length=2):
    """(start, end) of each run of letters, digits, underscores and the marks that follow them."""
    spans, start = [], None
    for i, character in enumerate(text):
        letter = character.isalnum() or character == "_"
        if start is None and letter:
            start = i
        elif start is not None and not (letter or is_mark(character)):
            spans.append((start, i))
            start = None
    if start is not None:
        spans.append((start, len(text)))
    return [(start, end) for start, end in spans if end - start >= min_length]


def term_features(terms, ngram_range=(1, 1)):
    """Every n-gram of consecutive terms."""
    low, high = ngram_range
    return [
        " ".join(terms[i : i + n]) for n in range(low, high + 1) for i in range(len(terms) - n + 1)
    ]


def document_features(
    text, *, lowercase=True, min_length=2, stop_words=(), stem=None, ngrams=(1, 1)
):
    """The features of one text in any order, with repetitions."""
    found = [text[start:end] for start, end in words(text, min_length)]
    if lowercase:
        found = [word.lower() for word in found]
    found = [word for word in found if word not in stop_words]
    if stem is not None:
        found = [stem(word) for word in found]
    return term_features(found, ngrams)


def lead_counts(text, lead, weight, n=1, stop_words=()):
    """How often each n-gram counts; ``weight`` times if its first word is in the lead."""
    found = [text[start:end].lower() for start, end in words(text)]
    terms = [(position, word) for position, word in enumerate(found) if word not in stop_words]
    counts = Counter()
    for first in range(len(terms) - n + 1):
        gram = " ".join(word for _, word in terms[first : first + n])
        counts[gram] += weight if terms[first][0] < lead else 1
    return counts


def first_words(text, most):
    """The beginning of a text, up to the end of its last allowed word."""
    found = words(text)
    return text if len(found) < most else text[: found[most - 1][1]]


def vocabulary(documents, min_df=1, max_df=1.0, max_features=None):
    """The sorted features that are kept; ``documents`` are lists of features."""
    n = len(documents)
    fewest = min_df if isinstance(min_df, int) else min_df * n
    most = max_df if isinstance(max_df, int) else max_df * n
    in_documents = Counter(feature for document in documents for feature in set(document))
    occurrences = Counter(feature for document in documents for feature in document)
    kept = sorted(f for f in in_documents if fewest <= in_documents[f] <= most)
    if max_features is not None:
        kept = sorted(sorted(kept, key=lambda f: -occurrences[f])[:max_features])
    return kept


def counts(documents, features):
    """One list of counts per document."""
    return [[Counter(document)[feature] for feature in features] for document in documents]


def weights(train, rows, scheme, *, k1=1.2, b=0.75, normalize=True):
    """Weights of dense ``rows`` of counts after learning from dense ``train``."""
    n = len(train)
    mean_length = sum(map(sum, train)) / n
    weighted = []
    for row in rows:
        new = []
        for column, count in enumerate(row):
            n_f = sum(other[column] > 0 for other in train)
            if count == 0:
                new.append(0.0)
            elif scheme == "tfidf":
                new.append((1 + math.log(count)) * (1 + math.log((1 + n) / (1 + n_f))))
            elif scheme == "bm25":
                relative = sum(row) / mean_length if mean_length else sum(row)
                saturated = (k1 + 1) * count / (count + k1 * (1 - b + b * relative))
                new.append(saturated * math.log(1 + (n - n_f + 0.5) / (n_f + 0.5)))
            elif scheme == "share":
                new.append(count / sum(row))
            else:
                new.append(1.0 if scheme == "binary" else float(count))
        length = math.sqrt(sum(value * value for value in new))
        is_unit = normalize and length and scheme != "share"
        weighted.append([v / length for v in new] if is_unit else new)
    return weighted
