"""Figures on real corpora."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from manylabel.corpus import read
from manylabel.linear import OneVsRestSVM, SubsetSVM
from manylabel.metrics import evaluate
from manylabel.text import Weighting

PRECISIONS = ["p@1", "p@3", "p@5"]


@pytest.fixture(scope="module")
def bibtex(shared_data):
    return [read(shared_data / "bibtex" / f"{part}.txt.xz") for part in ("train", "test")]


@pytest.mark.slow
def test_precision_on_bibtex_is_that_of_scikit_learn(bibtex):
    train, test = bibtex
    weighting = Weighting().fit(train.X)
    rows, queries = (sparse.csr_matrix(weighting.transform(part.X)) for part in bibtex)
    for matrix in (rows, queries):
        matrix.indices, matrix.indptr = (
            part.astype(np.int32) for part in (matrix.indices, matrix.indptr)
        )
    theirs = OneVsRestClassifier(LinearSVC()).fit(rows, train.Y.toarray().astype(int))
    expected = evaluate(test.Y, theirs.decision_function(queries), metrics=PRECISIONS)
    ours = OneVsRestSVM(C=1.0).fit(train.X, train.Y).decision_function(test.X)
    assert evaluate(test.Y, ours, metrics=PRECISIONS) == pytest.approx(expected, abs=0.01)


@pytest.mark.slow
def test_subset_svm_on_bibtex_is_near_one_vs_rest_and_gives_as_many_labels_as_training(bibtex):
    train, test = bibtex
    full = OneVsRestSVM().fit(train.X, train.Y)
    subset = SubsetSVM().fit(train.X, train.Y)
    expected = evaluate(test.Y, full.decision_function(test.X), metrics=PRECISIONS)
    found = evaluate(test.Y, subset.decision_function(test.X), metrics=PRECISIONS)
    assert found == pytest.approx(expected, abs=0.02)
    for svm in (full, subset):
        given = svm.predict(test.X).nnz / len(test)
        assert given == pytest.approx(train.Y.nnz / len(train), rel=0.1)
