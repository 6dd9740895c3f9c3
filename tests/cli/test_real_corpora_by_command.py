"""`manylabel stats` and `manylabel convert` on the real corpora, with the published counts."""

from __future__ import annotations

import pytest

# documents, features, labels
SMALL = {
    "bibtex/train.txt.xz": (4880, 1836, 159),
    "bibtex/test.txt.xz": (2515, 1836, 159),
    "delicious/train.txt.xz": (12920, 500, 983),
    "delicious/test.txt.xz": (3185, 500, 983),
    "medical/train.txt": (333, 1449, 45),
    "medical/test.txt": (645, 1449, 45),
    "corel5k/train.txt": (4500, 499, 374),
    "corel5k/test.txt": (500, 499, 374),
    "arff/medical-train.arff": (333, 1449, 45),
    "arff/Corel5k-test.arff.xz": (500, 499, 374),
    "arff/enron-test.arff.xz": (579, 1001, 53),
    "arff/emotions-train.arff": (391, 72, 6),
}
LARGE = {
    "yahoo-arts/all.txt.xz": (7484, 23146, 26),
    "yahoo-health/all.txt.xz": (9205, 30605, 32),
    "imdb-f/all.txt.xz": (120919, 1001, 28),
    "arff/Imdb-meka.arff.bz2": (120919, 1001, 28),
}
# Features are words; their number is not published.
LARGE_TEXTS = {
    "eurlex57k/train.jsonl.xz": (45000, 4108),
    "eurlex57k/dev.jsonl.xz": (6000, None),
    "eurlex57k/test.jsonl.xz": (6000, None),
    "yso-finna-en/train.jsonl.xz": (588108, 25249),
    "yso-finna-en/test.jsonl.xz": (65200, None),
}


def sizes(figures) -> tuple[int, int, int]:
    return figures["documents"], figures["features"], figures["labels"]


@pytest.mark.parametrize(
    "name", [*SMALL, *(pytest.param(name, marks=pytest.mark.slow) for name in LARGE)]
)
def test_corpora_of_features(call, shared_data, tmp_path, name):
    expected = (SMALL | LARGE)[name]
    figures = call("stats", shared_data / name, "--json").json
    assert sizes(figures) == expected
    for out in ("out.txt", "out.svm", "out.arff"):
        called = call("convert", shared_data / name, tmp_path / out)
        assert called.code == 0, called.err
        assert call("stats", tmp_path / out, "--json").json == figures


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE_TEXTS)
def test_corpora_of_texts(call, shared_data, tmp_path, name):
    documents, labels = LARGE_TEXTS[name]
    figures = call("stats", shared_data / name, "--json", "--min-df", 2).json
    assert figures["documents"] == documents
    assert labels is None or figures["labels"] == labels
    called = call("convert", shared_data / name, tmp_path / "out.txt", "--min-df", 2)
    assert called.code == 0, called.err
    assert call("stats", tmp_path / "out.txt", "--json").json == figures
    called = call("convert", shared_data / name, tmp_path / "out.csv")
    assert called.code == 0, called.err
    assert call("stats", tmp_path / "out.csv", "--json", "--min-df", 2).json == figures
