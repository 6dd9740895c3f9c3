"""Documents and their views."""

import numpy as np
import pytest
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.scoring import Documents
from manylabel.text import Weighting


@pytest.fixture
def documents():
    counts = sparse.csr_array([[2.0, 0, 1], [0, 1, 0], [1, 1, 1]])
    return Documents(
        counts,
        texts=["a", "b", "c"],
        fields={"title": ["A", "B", "C"]},
        views={"vectors": np.eye(3)},
        weighting=Weighting("tfidf").fit(counts),
    )


@pytest.mark.parametrize("rows", [slice(1, 3), [2, 0], np.array([True, False, True])])
def test_some_of_the_documents_have_all_views_of_their_rows(documents, rows):
    some = documents[rows]
    numbers = np.arange(3)[rows]
    assert len(some) == numbers.size
    assert list(some.texts) == [documents.texts[n] for n in numbers]
    assert list(some.fields["title"]) == [documents.fields["title"][n] for n in numbers]
    np.testing.assert_array_equal(some.view("vectors"), documents.view("vectors")[numbers])
    np.testing.assert_array_equal(some.rows.toarray(), documents.rows.toarray()[numbers])


def test_weighted_rows_are_computed_once(documents):
    assert documents.rows is documents.rows
    assert documents.view("rows") is documents.rows


def test_a_view_that_is_missing_is_named(documents):
    with pytest.raises(InputError, match="no view 'phrases'; they have counts, rows, vectors"):
        documents.view("phrases")


@pytest.mark.parametrize(
    "wrong",
    [{"texts": ["a"]}, {"fields": {"title": ["a", "b"]}}, {"views": {"vectors": np.eye(2)}}],
)
def test_every_view_has_a_row_for_each_document(wrong):
    with pytest.raises(InputError, match="for each of the 3 documents"):
        Documents(sparse.csr_array((3, 2)), **wrong)
