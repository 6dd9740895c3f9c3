"""How long a vocabulary takes to load, how much memory it needs, and what a text costs.

python -m benchmarks.vocabulary_size [NAMES ...]

YSO as in YSO-Finna, from the file to the matcher; then synthetic vocabularies of one to three
words per name, and abstracts of 150 words with 5 names. Times are CPU times, so that other
work on the machine does not count.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.common import DATA, table, versions
from manylabel.vocabulary import Concept, Name, Vocabulary, read
from manylabel.vocabulary.clues import find_labels

SIZES = (1_000, 30_000, 1_000_000)
_WORDS_OF_AN_ABSTRACT = 150
_TEXTS = 200


def synthetic(n_names: int, seed: int = 0) -> Iterator[Concept]:
    """Labels with a name each; words are common and rare, as in a language."""
    rng = np.random.default_rng(seed)
    n_words = max(500, n_names // 4)
    lengths = rng.integers(1, 4, n_names)
    ranks = np.minimum(rng.zipf(1.3, int(lengths.sum())) - 1, n_words - 1)
    # The most common words are spread over the vocabulary, so that names differ.
    words = [_word(int(rank)) for rank in (ranks + rng.integers(0, n_words, ranks.size)) % n_words]
    start = 0
    for number, length in enumerate(lengths.tolist()):
        yield Concept(f"c{number}", [Name(" ".join(words[start : start + length]), language="en")])
        start += length


def _word(number: int) -> str:
    """A word of its own for each number."""
    syllables = ("ba", "co", "di", "fu", "ge", "ha", "ki", "lo", "mu", "ne", "po", "ra")
    written = ""
    number += len(syllables)
    while number:
        number, position = divmod(number, len(syllables))
        written += syllables[position]
    return f"{written}n"


def abstracts(vocabulary: Vocabulary, seed: int = 1) -> list[str]:
    """Texts of 150 words; every 30th word or so is a name of the vocabulary."""
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(_TEXTS):
        words = [_word(int(n)) for n in rng.integers(0, 50_000, _WORDS_OF_AN_ABSTRACT)]
        for position in rng.integers(0, _WORDS_OF_AN_ABSTRACT, 5).tolist():
            words[position] = vocabulary.names[int(rng.integers(len(vocabulary.names)))]
        for position in range(14, len(words), 15):
            words[position] += "."
        texts.append(" ".join(words))
    return texts


def measured(n_names: int) -> str:
    """Figures of one vocabulary, in its own process."""
    before = _memory()
    start = time.process_time()
    if n_names:
        vocabulary = Vocabulary(synthetic(n_names))
    else:
        vocabulary = read(DATA / "yso-finna-en" / "labels.tsv.xz")
    loaded = time.process_time() - start
    start = time.process_time()
    named = vocabulary.label_names(vocabulary.current, "english", "en")
    built = time.process_time() - start
    memory = _memory() - before
    texts = abstracts(vocabulary)
    _ = find_labels(named, texts[:2])
    # The first time, words that no text had before are stemmed; then their stems are known.
    passes = []
    for find in (named.matcher.find, named.matcher.find, partial(find_labels, named)):
        start = time.process_time()
        found = [find([text]) for text in texts]
        passes.append(1000 * (time.process_time() - start) / len(texts))
    n_found = float(np.mean([one.pattern.nnz for one in found]))
    return "\t".join(
        map(
            str,
            (
                len(vocabulary),
                round(loaded, 2),
                round(built, 2),
                round(memory),
                *(round(each, 3) for each in passes),
                round(n_found, 1),
            ),
        )
    )


def _memory() -> float:
    """The peak memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        print(measured(int(sys.argv[2])))
        return
    sizes = [int(one) for one in sys.argv[1:]] or [0, *SIZES]
    rows = []
    for size in sizes:
        command = [sys.executable, "-m", "benchmarks.vocabulary_size", "--one", str(size)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rows.append(["synthetic" if size else "YSO", *done.stdout.strip().split("\t")])
    print(f"## Size of vocabularies\n\n{versions('manylabel', 'numpy', 'numba')}\n")
    header = [
        "vocabulary", "names", "s to load", "s to build the matcher", "MB of memory",
        "ms per abstract with new words", "with known words", "with all clues", "labels found",
    ]  # fmt: skip
    print(table(header, rows))


if __name__ == "__main__":
    main()
