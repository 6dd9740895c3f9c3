"""The real corpora are read with the counts that their publishers give."""

from __future__ import annotations

import numpy as np
import pytest

from manylabel.corpus import Corpus, load_catalogue, read, write
from manylabel.exceptions import ParameterError

# documents, features, labels
FEATURES = {
    "bibtex/train.txt.xz": (4880, 1836, 159),
    "bibtex/test.txt.xz": (2515, 1836, 159),
    "delicious/train.txt.xz": (12920, 500, 983),
    "delicious/test.txt.xz": (3185, 500, 983),
    "medical/train.txt": (333, 1449, 45),
    "medical/test.txt": (645, 1449, 45),
    "corel5k/train.txt": (4500, 499, 374),
    "corel5k/test.txt": (500, 499, 374),
    "imdb-f/all.txt.xz": (120919, 1001, 28),
    "yahoo-arts/all.txt.xz": (7484, 23146, 26),
    "yahoo-health/all.txt.xz": (9205, 30605, 32),
    "arff/medical-train.arff": (333, 1449, 45),
    "arff/Corel5k-test.arff.xz": (500, 499, 374),
    "arff/enron-test.arff.xz": (579, 1001, 53),
    "arff/emotions-train.arff": (391, 72, 6),
}


@pytest.mark.parametrize("name", FEATURES)
def test_features_have_the_published_counts(shared_data, name):
    found = read(shared_data / name).statistics()
    assert (found.documents, found.features, found.labels) == FEATURES[name]


def test_the_published_cardinalities_come_out(shared_data):
    """Feremans et al. 2020, table 1, gives them for training and test rows together."""
    for name, label_cardinality, feature_cardinality in [
        ("bibtex", 2.4, 68.7),
        ("medical", 1.2, 13.4),
        ("delicious", 19.0, 18.3),
    ]:
        endings = ".txt" if name == "medical" else ".txt.xz"
        parts = [read(shared_data / name / f"{part}{endings}") for part in ("train", "test")]
        found = parts[0].join(parts[1]).statistics()
        assert found.label_cardinality == pytest.approx(label_cardinality, abs=0.06)
        assert found.feature_cardinality == pytest.approx(feature_cardinality, abs=0.06)


def test_delicious_has_fourteen_rows_without_labels(shared_data):
    parts = [read(shared_data / "delicious" / f"{part}.txt.xz") for part in ("train", "test")]
    assert sum(part.statistics().documents_without_labels for part in parts) == 14


def assert_same(one: Corpus, other: Corpus) -> None:
    assert one.label_names == other.label_names
    assert (one.Y != other.Y).nnz == 0
    assert (one.X != other.X).nnz == 0


@pytest.mark.parametrize(
    ("arff", "xc"),
    [
        ("medical-train.arff", "medical/train.txt"),
        ("Corel5k-test.arff.xz", "corel5k/test.txt"),
    ],
)
def test_arff_and_xc_say_the_same(shared_data, arff, xc):
    assert_same(read(shared_data / "arff" / arff), read(shared_data / xc))


@pytest.mark.slow
def test_meka_and_xc_say_the_same(shared_data):
    assert_same(
        read(shared_data / "arff" / "Imdb-meka.arff.bz2"), read(shared_data / "imdb-f/all.txt.xz")
    )


def test_real_values_may_be_negative(shared_data):
    emotions = read(shared_data / "arff" / "emotions-train.arff")
    assert emotions.X.data.min() == -99.090802
    assert emotions.Y.sum(axis=0).min() > 0


@pytest.mark.parametrize("kind", ["xc", "svmlight", "mulan", "meka"])
def test_a_real_corpus_survives_every_format_of_features(shared_data, tmp_path, kind):
    corpus = read(shared_data / "arff" / "medical-train.arff")
    path = tmp_path / "out.arff"
    write(corpus, path, format=kind)
    found = read(path, format=kind)
    assert_same(found, corpus)
    assert found.feature_names == corpus.feature_names


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "documents", "labels"),
    [
        ("eurlex57k", (45000, 6000, 6000), (4271, 4108)),
        ("yso-finna-en", (588108, 65200), (25387, 25249)),
    ],
)
def test_texts_have_the_published_counts(shared_data, name, documents, labels):
    files = ["train", "test", "dev"][: len(documents)]
    parts = [read(shared_data / name / f"{part}.jsonl.xz") for part in files]
    assert tuple(map(len, parts)) == documents
    assert (len({n for part in parts for n in part.label_names}), parts[0].n_labels) == labels


@pytest.mark.slow
def test_stratification_of_a_large_corpus_keeps_rare_labels_in_both_parts(shared_data):
    corpus = read(shared_data / "eurlex57k" / "train.jsonl.xz")
    train, test = corpus.split(0.5, random_state=0, stratified=True)
    both = (train.Y.sum(axis=0) > 0) & (test.Y.sum(axis=0) > 0)
    frequencies = corpus.Y.sum(axis=0)
    assert both[frequencies >= 5].all()
    at_random = corpus.split(0.5, random_state=0)
    in_both = np.logical_and.reduce([part.Y.sum(axis=0) > 0 for part in at_random])
    assert both.sum() > in_both.sum()


def test_the_bundled_corpus_has_two_subsets():
    train, test = load_catalogue("train"), load_catalogue("test")
    assert len(load_catalogue("all")) == len(train) + len(test)


def test_the_bundled_corpus_has_no_other_subset():
    with pytest.raises(ParameterError, match="`subset` must be 'train', 'test' or 'all'"):
        load_catalogue("dev")
