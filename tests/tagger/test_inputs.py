"""Texts and labels in the forms that people have, or an error that says what to do."""

from __future__ import annotations

import pickle
import sys
from copy import deepcopy
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tagger.tagger_problems import texts_and_labels

from manylabel import Tagger
from manylabel.exceptions import InputError, MissingExtraError, ParameterError

TEXTS, LABELS = texts_and_labels()
NAMES = sorted({label for labels in LABELS for label in labels})
FLAGS = np.array([[int(name in labels) for name in NAMES] for labels in LABELS])
QUESTION = "the cat and the kitten purr"


def lcif() -> Tagger:
    return Tagger("lcif", parameters={"k": 5, "lam": 0.6})


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return lcif().fit(TEXTS, LABELS)


@pytest.fixture(scope="module")
def expected(tagger):
    return tagger.suggest(QUESTION)


FRAME = {"Abstract": TEXTS, "Keywords": [";".join(labels) for labels in LABELS]}


class Dataset:
    """As Hugging Face's: columns by name, and classes as numbers."""

    class Classes:
        def __init__(self, names):
            self.names = names

    class Lists:
        def __init__(self, feature):
            self.feature = feature

    def __init__(self):
        self.column_names = ["text", "labels"]
        self.features = {"text": "string", "labels": self.Lists(self.Classes(NAMES))}

    def __getitem__(self, name):
        numbers = [[NAMES.index(label) for label in labels] for labels in LABELS]
        return {"text": TEXTS, "labels": numbers}[name]


class Interchanged:
    """A frame of an unknown library that speaks the dataframe interchange protocol."""

    def __init__(self, frame):
        self._frame = frame

    def __dataframe__(self, **options):
        return self._frame.__dataframe__(**options)


class Streamed:
    """A frame of an unknown library that exports an Arrow stream."""

    def __init__(self, frame):
        self._frame = frame

    def __arrow_c_stream__(self, requested=None):
        return self._frame.__arrow_c_stream__(requested)


@pytest.mark.parametrize(
    "given",
    [
        (Interchanged(pa.table(FRAME)),),
        (Streamed(pl.DataFrame(FRAME)),),
        (Streamed(pl.DataFrame({"text": TEXTS, "labels": LABELS})),),
        (pl.Series(TEXTS), Streamed(pl.DataFrame(FLAGS, schema=NAMES))),
        (pd.DataFrame(FRAME),),
        (pl.DataFrame(FRAME),),
        (pa.table(FRAME),),
        (Dataset(),),
        (pd.DataFrame({"text": TEXTS, "labels": LABELS}),),
        (pd.DataFrame({"text": TEXTS} | dict(zip(NAMES, FLAGS.T, strict=True))),),
        (pd.Series(TEXTS), pd.Series(LABELS)),
        (pl.Series(TEXTS), LABELS),
        (np.array(TEXTS), LABELS),
        (pd.Series(TEXTS), pd.DataFrame(FLAGS, columns=NAMES)),
        (pd.DataFrame({"text": TEXTS}), LABELS),
        (iter(TEXTS), map(set, LABELS)),
    ],
    ids=lambda given: "+".join(f"{type(part).__module__.split('.')[0]}" for part in given),
)
def test_every_kind_of_table_teaches_the_same(given, expected):
    assert lcif().fit(*given).suggest(QUESTION) == expected


def test_other_frames_are_tagged_and_name_what_they_need(tagger, expected, monkeypatch):
    frame = pl.DataFrame({"text": [QUESTION], "year": [1999]})
    assert tagger.suggest(Streamed(frame)) == [expected]
    with pytest.raises(
        InputError, match=r"a LazyFrame is not evaluated; give the result of its `coll"
    ):
        tagger.suggest(frame.lazy())
    for module in ("pyarrow", "pyarrow.interchange", "pandas.api.interchange"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match="Reading this data frame needs pyarrow"):
        tagger.suggest(Interchanged(frame))


def test_columns_can_be_named(expected):
    frame = pd.DataFrame({"x": TEXTS, "y": LABELS, "z": range(len(TEXTS))})
    tagger = lcif().fit(frame, text="x", labels="y", ids="z")
    assert tagger.suggest(QUESTION) == expected
    assert tagger.document("3").text == TEXTS[3]


def test_indicator_matrices_have_names(expected):
    for matrix in (FLAGS, sparse.csr_array(FLAGS), FLAGS.tolist(), FLAGS.astype(bool)):
        assert lcif().fit(TEXTS, matrix, label_names=NAMES).suggest(QUESTION) == expected
    numbered = lcif().fit(TEXTS, FLAGS)
    assert numbered.labels == [str(column) for column in range(len(NAMES))]


def test_suggestions_for_tables(tagger, expected):
    frame = pd.DataFrame({"text": [QUESTION], "year": [1999]})
    for given in (frame, pl.DataFrame(frame.to_dict("list")), pd.Series([QUESTION])):
        assert tagger.suggest(given) == [expected]
    assert tagger.suggest(frame.rename(columns={"text": "x"}), text="x") == [expected]


def test_suggestions_become_a_data_frame(tagger):
    frame = tagger.suggest([QUESTION, "a dog"], top=2).to_frame()
    assert list(frame.columns) == ["document", "rank", "label", "name", "score"]
    assert frame["document"].tolist() == [0, 0, 1, 1]
    assert frame["label"][0] == "cats"
    assert tagger.suggest(QUESTION, top=1).to_frame()["rank"].tolist() == [1]
    asked = pd.DataFrame({"text": [QUESTION, "a dog"], "id": ["q", "d"]})
    assert set(tagger.suggest(asked[["text"]], top=2).to_frame()["document"]) == {0, 1}
    assert set(tagger.suggest(asked, top=2).to_frame()["document"]) == {"q", "d"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "`texts` is None; give a text or a list of texts"),
        ({"text": "a cat"}, "got dict with 'text'; give the text itself"),
        (5, "must be a text or a list of texts; got int"),
        (b"a cat", "got bytes. Decode them first"),
        (np.eye(2), r"got a matrix of shape \(2, 2\)"),
        (["a cat", None], r"text 1 is missing \(None\)"),
        (pd.Series(["a cat", np.nan]), r"text 1 is missing \(nan\)"),
        (pd.DataFrame({"x": ["a"]}), "no text column found among 'x'; name it"),
    ],
)
def test_what_is_no_text_is_refused(tagger, given, message):
    with pytest.raises(InputError, match=message):
        tagger.suggest(given)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([["x"], [""]], "document 1: a label is empty; leave it out, or give it a name"),
        ([["x"], [None]], "document 1: labels must be strings; got None"),
        (["x", "y"], "the labels of document 0 must be a list of names, such as .'x'.; got 'x'"),
        (np.array([1, 0]), r"a matrix of 0 and 1 with a row for each text; got an array of shape"),
        (np.eye(3), "must have the same length; got 2 and 3"),
        (np.eye(2) * 2, "labels must contain only 0 and 1"),
        (None, "`labels` are missing"),
    ],
)
def test_what_are_no_labels_is_refused(labels, message):
    with pytest.raises(InputError, match=message):
        lcif().fit(["a cat", "a dog"], labels)


def test_columns_that_are_not_there_are_refused():
    frame = pd.DataFrame(FRAME)
    with pytest.raises(InputError, match=r"`text` is 'abstract', but .*Did you mean 'Abstract'\?"):
        lcif().fit(frame, text="abstract")
    with pytest.raises(InputError, match="no label column found among"):
        lcif().fit(frame[["Abstract"]])
    with pytest.raises(InputError, match="`text` and `title` are columns of a data frame; got"):
        lcif().fit(TEXTS, LABELS, text="x")


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (Path("notes.txt"), "got a path. Read the file first, with `read_text()`"),
        ([None], "text 0 is missing (None); leave it out."),
        ([b"a cat"], "texts must be strings; text 0 is bytes; decode it first."),
        ([["a cat"]], "texts must be strings; text 0 is list."),
        ({"text": ["a cat"]}, "got dict with 'text'; give the text itself."),
    ],
)
def test_what_is_no_text_is_named(tagger, texts, sentence):
    with pytest.raises(InputError) as refused:
        tagger.suggest(texts)
    assert sentence in str(refused.value)


def test_no_texts_have_no_suggestions(tagger):
    assert tagger.suggest([]) == []
    assert tagger.suggest(pd.DataFrame({"text": []})) == []
    assert len(tagger.suggest([]).to_frame()) == 0
    assert len(list(tagger.suggest(text for text in [QUESTION, QUESTION]))) == 2


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ([[["a", "b"]]], "document 0: labels must be strings; got ['a', 'b'], of type list."),
        ([{"a": 1, "b": 0}], "the labels of document 0 must be a list of names; got {'a': 1"),
        ([[float("nan")]], "document 0: labels must be strings; got nan, of type float."),
        (pd.DataFrame({"a": ["x"]}), "must contain 0 and 1; row 0 of 'a' is 'x'. If the"),
        (pd.DataFrame([[1, 0]], columns=["a", "a"]), "two columns are called 'a'; rename"),
    ],
)
def test_what_are_no_labels_is_named(labels, sentence):
    with pytest.raises(InputError) as refused:
        lcif().fit(["a cat"], labels)
    assert sentence in str(refused.value)


def test_one_text_is_no_list_of_texts(tagger):
    for call in (lcif().fit, tagger.learn):
        with pytest.raises(InputError, match=r"got a string\. Put a single text and its"):
            call("the cat", ["cats"])


def test_records_and_columns_become_a_data_frame():
    for given in ({"text": TEXTS, "labels": LABELS}, [{"text": "a", "labels": ["b"]}]):
        with pytest.raises(InputError, match="into a data frame first, such as"):
            lcif().fit(given)


def test_columns_are_told_apart(expected):
    twice = pd.DataFrame([["a cat", "a", "b"]], columns=["text", "labels", "labels"])
    with pytest.raises(InputError, match="two columns are called 'labels'; rename or drop one"):
        lcif().fit(twice)
    levels = pd.DataFrame({("x", "text"): ["a cat"], ("x", "labels"): ["a"]})
    with pytest.raises(InputError, match="the columns have multi-level names"):
        lcif().fit(levels)
    numbered = pd.DataFrame(zip(FRAME["Abstract"], FRAME["Keywords"], strict=True))
    assert lcif().fit(numbered, text=0, labels=1).suggest(QUESTION) == expected


def test_few_documents_and_a_single_label_are_enough():
    assert Tagger().fit(["the cat"], [["cats"]]).suggest("a cat").labels == ["cats"]
    assert lcif().fit(TEXTS, [["animals"]] * len(TEXTS)).suggest(QUESTION).labels == ["animals"]


def test_a_missing_cell_is_no_label():
    frame = pd.DataFrame({"text": TEXTS, "labels": ["a; b", np.nan] * (len(TEXTS) // 2)})
    assert lcif().fit(frame).labels == ["a", "b"]
    numbers = pd.DataFrame({"text": TEXTS, "labels": [1.0, np.nan] * (len(TEXTS) // 2)})
    assert lcif().fit(numbers).labels == ["1"]


def test_nothing_to_compare_with_is_refused(tagger):
    with pytest.raises(InputError, match="no document has a label to compare"):
        tagger.evaluate(["a cat", "a dog"], [[], []])


def test_texts_and_labels_go_by_the_names_of_scikit_learn_too(tagger, expected):
    fitted = lcif().fit(X=TEXTS, y=LABELS)
    assert fitted.suggest(QUESTION) == expected
    assert (fitted.predict(X=TEXTS) != tagger.predict(TEXTS)).nnz == 0
    assert fitted.score(X=TEXTS, y=LABELS) == tagger.score(TEXTS, LABELS)


def test_weights_of_documents_count_in_a_score(tagger):
    few = [0, 3, 7, 8]
    weights = np.zeros(len(TEXTS))
    weights[few] = 2.5
    chosen = tagger.score([TEXTS[n] for n in few], [LABELS[n] for n in few])
    assert tagger.score(TEXTS, LABELS, sample_weight=weights) == pytest.approx(chosen)
    missed = [*LABELS[:-1], [*LABELS[-1], "unheard of"]]
    alike = tagger.score(TEXTS, missed, sample_weight=np.ones(len(TEXTS)))
    assert alike == pytest.approx(tagger.score(TEXTS, missed))
    with pytest.raises(InputError, match="must have one number per text"):
        tagger.score(TEXTS, LABELS, sample_weight=[1.0])


def test_weights_of_documents_are_refused_in_training():
    with pytest.raises(ParameterError, match="a tagger does not support `sample_weight`, because"):
        lcif().fit(TEXTS, LABELS, sample_weight=np.ones(len(TEXTS)))


def test_a_tagger_is_an_estimator(tagger):
    copy = clone(tagger)
    assert copy.get_params() == tagger.get_params()
    assert repr(copy) == "<Tagger: lcif, not fitted>"
    assert copy.set_params(keep_texts=False).keep_texts is False
    assert pickle.loads(pickle.dumps(copy)).get_params() == copy.get_params()
    assert list(tagger.get_feature_names_out()) == tagger.labels
    assert "Tagger" in copy._repr_html_()


def test_a_fitted_tagger_is_pickled_with_what_it_learned(expected, tmp_path):
    tagger = lcif().fit(TEXTS, LABELS)
    tagger.save(tmp_path / "model")
    tagger.learn([QUESTION], [["kittens"]])
    copy = pickle.loads(pickle.dumps(tagger))
    assert copy.suggest(QUESTION) == tagger.suggest(QUESTION)
    assert "kittens" in copy.suggest(QUESTION).labels
    assert copy.path is None
    copy.learn(["the zebra gallops"], [["zebras"]])
    assert "zebras" in copy.labels
    assert "zebras" not in Tagger.load(tmp_path / "model").labels
    assert deepcopy(tagger).suggest(QUESTION) == tagger.suggest(QUESTION)


def test_scikit_learn_searches_and_scores(expected):
    plain = make_pipeline(FunctionTransformer(lambda texts: [t.lower() for t in texts]), lcif())
    assert plain.fit(TEXTS, LABELS).named_steps["tagger"].suggest(QUESTION) == expected
    assert (cross_val_score(lcif(), TEXTS, LABELS, cv=2) > 0.5).all()
    for scoring in ("f1_micro", "average_precision", "roc_auc"):
        assert (cross_val_score(lcif(), TEXTS, FLAGS, cv=2, scoring=scoring) > 0.5).all()
    search = GridSearchCV(lcif(), {"parameters": [{"k": 1}, {"k": 5}]}, cv=2)
    assert search.fit(TEXTS, LABELS).best_estimator_.suggest(QUESTION, top=1).labels == ["cats"]


def test_labels_and_scores_as_matrices(tagger):
    found = tagger.predict(TEXTS)
    assert found.shape == (len(TEXTS), len(tagger.labels))
    assert f1_score(FLAGS, found, average="micro") == pytest.approx(tagger.score(TEXTS, LABELS))
    dense = tagger.decision_function([QUESTION])
    assert dense.shape == (1, len(tagger.labels))
    assert tagger.labels[dense.argmax()] == "cats"
    with pytest.raises(InputError, match="the scores of lcif are not probabilities; use"):
        tagger.predict_proba([QUESTION])
    with pytest.raises(InputError, match=r"got a string\. Put it into a list"):
        tagger.predict(QUESTION)
