"""Names of labels in texts, by looking for every name at every word."""

import re


def find_names(names, passages, most_gaps):
    """(passage, name, start, stop, covered) of every match, sorted.

    ``names`` and ``passages`` are lists of lists of terms.
    """
    found = []
    for p, passage in enumerate(passages):
        here = []
        for n, name in enumerate(names):
            if not name:
                continue
            for start, term in enumerate(passage):
                if term != name[0]:
                    continue
                stop = end_of(name, passage, start)
                if stop is not None and stop - start - len(name) <= most_gaps:
                    here.append((n, start, stop))
        for n, start, stop in here:
            covered = any(
                other_stop - other_start == len(names[m])  # no gaps
                and other_start <= start
                and other_stop >= stop
                and (other_start, other_stop) != (start, stop)
                for m, other_start, other_stop in here
            )
            found.append((p, n, start, stop, covered))
    return sorted(found)


def end_of(name, passage, start):
    """Where the earliest way to read a name from a word on ends."""
    at = start
    for term in name[1:]:
        at += 1
        while at < len(passage) and passage[at] != term:
            at += 1
        if at == len(passage):
            return None
    return at + 1


def split_passages(text):
    """The passages between ends of sentences, ends of lines, and dashes between white space."""
    return re.split(r"[.!?;:]+(?=\s|$)|[\n\r]+|\s[-–—/]\s", text)


def rest(one, other):
    """How many letters the longer of two words has after their common beginning."""
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return max(len(one), len(other)) - shared


def share_words(names, columns, text, rarity, most_names, most_terms):
    """Label -> (name, weight of its terms in the text, weight of all), of labels that share one.

    ``names`` and ``text`` are lists of terms; ``columns`` are the labels of names.
    """
    rare = [
        term
        for term in dict.fromkeys(text)
        if 0 < sum(term in name for name in names) <= most_names
    ][:most_terms]
    found = {}
    for n, name in enumerate(names):
        if not set(rare) & set(name):
            continue
        mine = sum(rarity[term] for term in name if term in text)
        total = sum(rarity[term] for term in name)
        best = found.get(columns[n])
        if best is None or mine / total > best[1] / best[2]:
            found[columns[n]] = n, mine, total
    return found
