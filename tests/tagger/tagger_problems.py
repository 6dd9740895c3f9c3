"""Small texts for the tests of the tagger."""

from __future__ import annotations

import numpy as np

WORDS = {
    "cats": "cat kitten whiskers purr meow",
    "dogs": "dog puppy bark leash kennel",
    "birds": "bird feather nest song wing",
    "fish": "fish fin river scale tank",
}


def texts_and_labels(n: int = 60, seed: int = 0) -> tuple[list[str], list[list[str]]]:
    """Texts whose words come from their labels."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(n):
        given = sorted(rng.choice(list(WORDS), size=rng.integers(1, 3), replace=False))
        words = [word for label in given for word in rng.choice(WORDS[label].split(), size=4)]
        texts.append(" ".join([*words, *rng.choice(["house", "garden", "day"], size=2)]))
        labels.append(list(given))
    return texts, labels
