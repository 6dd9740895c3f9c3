"""Corpora for the processes that run models: read once, memory-mapped by each process."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manylabel import __version__
from manylabel.compare.plan import Problem
from manylabel.corpus import Corpus, read
from manylabel.exceptions import CorpusError
from manylabel.wording import counted

__all__ = ["Data", "digest", "features", "load", "prepare", "problem_key"]

_PARTS = ("X_train", "Y_train", "X_test", "Y_test")


@dataclass(frozen=True)
class Data:
    """The matrices of a problem; both label matrices have the same columns."""

    X_train: sparse.csr_array
    Y_train: sparse.csr_array
    X_test: sparse.csr_array
    Y_test: sparse.csr_array


def digest(value: Any) -> str:
    """Hash a value that JSON can represent."""
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def problem_key(problem: Problem, split: int | None) -> str:
    """Hash the content of the files, how they are read, and the split."""
    files = [_file_digest(path) for path in (problem.train, problem.test) if path is not None]
    settings = asdict(problem)
    for name in ("name", "title", "train", "test"):
        del settings[name]
    # Keep the keys of older folders valid.
    if not problem.folds:
        del settings["folds"]
    return digest([files, settings, split, __version__])


def _file_digest(path: str) -> str:
    """Hash a file, or all files in a folder."""
    digest = hashlib.sha256()
    root = Path(path)
    if not root.exists():
        raise CorpusError("no such file or folder.", path=path)
    files = [root] if root.is_file() else sorted(p for p in root.rglob("*") if p.is_file())
    for file in files:
        digest.update(os.fsencode(file.relative_to(root)))
        with open(file, "rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def prepare(problem: Problem, split: int | None, folder: Path, n_jobs: int = 1) -> dict[str, Any]:
    """Read a problem, write its matrices to a folder, and return a description.

    Returns
    -------
    dict
        Sizes, and the number of training documents of each label.
    """
    train, test = _train_and_test(problem, split, n_jobs)
    for name, matrix in zip(_PARTS, (train.X, train.Y, test.X, test.Y), strict=True):
        _save(folder, name, matrix)
    return {
        "documents": [len(train), len(test)],
        "features": train.n_features,
        "labels": train.n_labels,
        "cardinality": train.Y.nnz / max(len(train), 1),
        "frequencies": np.bincount(train.Y.indices, minlength=train.n_labels).tolist(),
    }


def _train_and_test(problem: Problem, split: int | None, n_jobs: int) -> tuple[Corpus, Corpus]:
    """Read both sets, with the same columns of features and labels."""
    whole = read(problem.train, **problem.reading)
    if problem.min_documents:
        whole = _frequent_labels(whole, problem.min_documents)
    if problem.test is None and problem.folds:
        train, test = _fold(whole, problem.folds, split or 0)
    elif problem.test is None:
        train, test = _split(whole, problem.n_train, split or 0)
    else:
        train, test = whole, read(problem.test, **problem.reading)
    if problem.only_labelled:
        train, test = (corpus[np.flatnonzero(np.diff(corpus.Y.indptr))] for corpus in (train, test))
    if train.X is None or test.X is None:
        train, test = _vectorized(train, test, problem.vectorizer, n_jobs)
    elif train.feature_names != test.feature_names:
        test = test.align_to(feature_names=train.feature_names)
    known = set(train.label_names)
    labels = [*train.label_names, *(name for name in test.label_names if name not in known)]
    return train.align_to(label_names=labels), test.align_to(label_names=labels)


def features(problem: Problem) -> tuple[sparse.csr_array, sparse.csr_array]:
    """The features of training and test documents; of the first split if there are several."""
    train, test = _train_and_test(problem, 0 if problem.is_split else None, 1)
    return train.X, test.X


def _vectorized(
    train: Corpus, test: Corpus, options: Mapping[str, Any], n_jobs: int
) -> tuple[Corpus, Corpus]:
    from manylabel.text import CountVectorizer

    vectorizer = CountVectorizer(n_jobs=n_jobs, **options)
    return train.vectorized(vectorizer), test.vectorized(vectorizer, fit=False)


def _frequent_labels(corpus: Corpus, least: int) -> Corpus:
    """Keep labels with at least this many documents, and documents that have one of them."""
    counts = np.bincount(corpus.Y.indices, minlength=corpus.n_labels)
    kept = corpus.select_labels(np.flatnonzero(counts >= least))
    return kept[np.flatnonzero(np.diff(kept.Y.indptr))]


def _split(corpus: Corpus, n_train: float, seed: int) -> tuple[Corpus, Corpus]:
    """Split at random into training and test documents."""
    order = np.random.default_rng(seed).permutation(len(corpus))
    n = round(n_train * len(corpus)) if isinstance(n_train, float) else n_train
    if not 0 < n < len(corpus):
        raise CorpusError(
            f"{len(corpus)} documents cannot be split into {n} for training and the rest for "
            "testing."
        )
    return corpus[order[:n]], corpus[order[n:]]


def _fold(corpus: Corpus, folds: int, fold: int) -> tuple[Corpus, Corpus]:
    """Split at random into folds; one is the test set, the others are the training set."""
    if len(corpus) < folds:
        raise CorpusError(f"{counted(len(corpus), 'document')} cannot be split into {folds} folds.")
    position = np.empty(len(corpus), np.int64)
    position[np.random.default_rng(0).permutation(len(corpus))] = np.arange(len(corpus)) % folds
    return corpus[np.flatnonzero(position != fold)], corpus[np.flatnonzero(position == fold)]


def _save(folder: Path, name: str, matrix: sparse.csr_array) -> None:
    np.save(folder / f"{name}-shape.npy", np.array(matrix.shape))
    for array_name in ("data", "indices", "indptr"):
        np.save(folder / f"{name}-{array_name}.npy", getattr(matrix, array_name))


def load(folder: Path) -> Data:
    """Map the matrices of a prepared problem into memory."""

    def array(name: str) -> Any:
        # Copy on write: kernels would be compiled again for read-only arrays.
        return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="c", allow_pickle=False))

    def matrix(name: str) -> sparse.csr_array:
        arrays = tuple(
            array(f"{name}-{array_name}") for array_name in ("data", "indices", "indptr")
        )
        return sparse.csr_array(arrays, shape=tuple(array(f"{name}-shape").tolist()))

    return Data(*map(matrix, _PARTS))
