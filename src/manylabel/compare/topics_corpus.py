"""The documents, labels and words that examples of topic models show, chosen by fixed rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from manylabel import vocabulary
from manylabel.compare.plan import Problem
from manylabel.corpus import Corpus, read
from manylabel.exceptions import InputError
from manylabel.text import CountVectorizer
from manylabel.text.weighting import make_weighting

__all__ = ["N_TRAIN", "ExampleCorpus", "choose_document", "choose_labels", "read_example"]

#: Training documents, drawn at random; about as many as the paper's EUR-Lex has.
N_TRAIN = 20_000
#: Training documents of the labels in the paper's table 1.
FREQUENCIES = (285, 176, 24, 11, 1)
#: The document of figure 5 has four labels, one of them rare.
MIN_LABELS, RARE, FREQUENT = 4, 10, 100
#: Words in a greater share of the documents are left out like stop words: laws have many in common.
MAX_DF = 0.3
#: Words of the document to follow through the models.
_N_WORDS = 12


@dataclass(frozen=True)
class ExampleCorpus:
    """Training documents and one test document, with the names to show.

    Parameters
    ----------
    train, document : Corpus
        With counts of words, and the same columns. ``document`` has one row.
    words : sequence of str
        Features as they are written.
    names : sequence of str
        Labels.
    """

    train: Corpus
    document: Corpus
    words: Sequence[str]
    names: Sequence[str]

    @cached_property
    def n_documents(self) -> NDArray[np.int64]:
        """Training documents of each label."""
        return np.bincount(self.train.Y.indices, minlength=self.train.n_labels)

    @cached_property
    def labels(self) -> list[int]:
        """The labels of the words to show, most frequent first."""
        return choose_labels(self.n_documents, self.names)

    @cached_property
    def telling(self) -> list[int]:
        """The document's words with the greatest tf-idf weights."""
        row = make_weighting("tfidf").fit(self.train.X).transform(self.document.X)
        order = np.argsort(-row.data, kind="stable")[:_N_WORDS]
        return [int(feature) for feature in row.indices[order]]


def choose_labels(n_documents: NDArray[np.int64], names: Sequence[str]) -> list[int]:
    """The most frequent label, and one for each frequency of the paper's table 1.

    If no label has that many training documents, it is one with the next lower number; among
    several, the first by name.

    Examples
    --------
    >>> choose_labels(np.array([1, 300, 24, 1]), ["d", "c", "b", "a"])
    [1, 2, 3]
    """
    by_name = sorted(range(len(names)), key=lambda label: names[label].casefold())
    chosen = [max(by_name, key=lambda label: n_documents[label])]
    for frequency in FREQUENCIES:
        rarer = [label for label in by_name if n_documents[label] <= frequency]
        chosen += [max(rarer, key=lambda label: n_documents[label])] if rarer else []
    return list(dict.fromkeys(chosen))


def choose_document(corpus: Corpus, n_documents: Mapping[str, int]) -> int:
    """The first document that is like the one in the paper's figure 5.

    It has four labels or more. One of them is rare, with at most ten training documents, and the
    others have at least a hundred.
    """
    for row, labels in enumerate(corpus.label_lists()):
        counts = sorted(n_documents.get(label, 0) for label in labels)
        if len(counts) >= MIN_LABELS and 1 <= counts[0] <= RARE and counts[1] >= FREQUENT:
            return row
    raise InputError(
        f"no test document has {MIN_LABELS} labels or more, one with 1 to {RARE} training "
        f"documents and the others with at least {FREQUENT}."
    )


def read_example(problem: Problem, n_train: int = N_TRAIN, n_jobs: int = 1) -> ExampleCorpus:
    """Draw training documents at random, and choose a test document."""
    assert problem.test is not None
    train, test = read(problem.train), read(problem.test)
    rows = np.random.default_rng(0).permutation(len(train))[:n_train]
    train = train[np.sort(rows)]
    counts = np.bincount(train.Y.indices, minlength=train.n_labels)
    known = np.flatnonzero(counts)
    train = train.select_labels(known)
    by_label = dict(zip(train.label_names, counts[known].tolist(), strict=True))
    document = test[[choose_document(test, by_label)]].align_to(train.label_names)
    options = {**problem.vectorizer, "max_df": MAX_DF}
    vectorizer = CountVectorizer(n_jobs=n_jobs, **options)
    train = train.vectorized(vectorizer)
    document = document.vectorized(vectorizer, fit=False)
    # Numbers of laws and years are left out, too.
    written = dict(zip(train.feature_names, vectorizer.display_names_.tolist(), strict=True))
    letters = [word for word in train.feature_names if word.isalpha()]
    train, document = (corpus.align_to(feature_names=letters) for corpus in (train, document))
    names = _label_names(Path(problem.train).parent, train.label_names)
    return ExampleCorpus(train, document, [written[word] for word in letters], names)


def _label_names(folder: Path, labels: Sequence[str]) -> list[str]:
    """The names in the corpus's vocabulary; the labels themselves if there is none."""
    files = sorted(folder.glob("labels.*"))
    if not files:
        return list(labels)
    known = vocabulary.read(files[0])
    return [known.name(label) if label in known else label for label in labels]
