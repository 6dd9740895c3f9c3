"""Workers read and count a file in pieces: the same corpus as when this process reads it."""

from __future__ import annotations

import csv
import json
import secrets

import numpy as np
import pytest

from manylabel import CountVectorizer, Tagger, read
from manylabel.corpus import Corpus, load_catalogue, write
from manylabel.corpus.chunks import TextFile
from manylabel.corpus.columns import Columns
from manylabel.distributed import read_in_chunks, use
from manylabel.exceptions import CorpusError

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

#: How workers get the pieces: they read the file, or get its lines through a depot or Dask.
SPOOLS = {"shared": None, "depot": "memory://", "dask": "dask"}


@pytest.fixture
def _small_pieces(monkeypatch):
    """Several pieces, and a tree of more than one level."""
    monkeypatch.setattr("manylabel.corpus.chunks.CHUNK", 10_000)
    monkeypatch.setattr("manylabel.text.dictionaries.FAN", 2)


@pytest.fixture
def _pieces(monkeypatch):
    monkeypatch.setattr("manylabel.corpus.chunks.CHUNK", 80_000)
    monkeypatch.setattr("manylabel.text.dictionaries.FAN", 3)


@pytest.fixture(params=["shared", "dask", pytest.param("depot", marks=pytest.mark.slow)])
def cluster(client, request):
    spool = SPOOLS[request.param]
    if spool == "memory://":
        pytest.importorskip("fsspec")
        spool += secrets.token_hex(4)
    with use(client, spool, max_tasks=4) as cluster:
        yield cluster


def check(path, **options):
    """The corpus of a file that workers read is the one that `read` gives."""
    kept = {"stemming": "english", "max_df": 0.5, "max_features": 300}
    vectorizer = CountVectorizer(**kept)
    texts = read(path, **options)
    expected = Corpus.from_texts(texts.full_texts, texts.label_lists(), texts.ids).vectorized(
        CountVectorizer(**kept)
    )
    columns = Columns.of(options.pop("text_column", None), options.pop("label_column", None))
    file = TextFile(path, options.pop("format", None), columns, options.pop("encoding", None))
    assert not options
    found = file.count(vectorizer)
    for name in ("X", "Y"):
        mine, theirs = getattr(found, name), getattr(expected, name)
        for part in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(mine, part), getattr(theirs, part))
    for name in ("ids", "label_names", "feature_names"):
        assert getattr(found, name) == getattr(expected, name)
    assert list(found.texts) == texts.full_texts
    rows = [len(found) - 1, 0]
    assert file.texts(rows) == [texts.full_texts[row] for row in rows]
    return found


@pytest.mark.usefixtures("_pieces")
@pytest.mark.parametrize(
    "ending",
    [
        "jsonl",
        "tsv",
        "csv.gz",
        pytest.param("jsonl.xz", marks=pytest.mark.slow),
        pytest.param("tsv.bz2", marks=pytest.mark.slow),
        pytest.param("csv", marks=pytest.mark.slow),
    ],
)
def test_files_are_read_and_counted_in_pieces(cluster, tmp_path, ending):
    books = load_catalogue("train")
    if ending.startswith("tsv"):
        texts = [" ".join(text.split()) for text in books.texts]
        books = Corpus.from_texts(texts, books.label_lists(), books.ids)
    path = tmp_path / f"books.{ending}"
    write(books, path)
    check(path)
    assert len(cluster.receipts) > 6


@pytest.mark.usefixtures("_small_pieces")
def test_rows_may_have_several_lines(cluster, tmp_path):
    path = tmp_path / "notes.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file, delimiter=";")
        rows.writerow(["No", "Abstract", "Keywords"])
        for n in range(500):
            quoted = 'say "so"\n\n' * (n % 3)
            rows.writerow([n, f"{quoted}note {n}; sentence {n % 7}\r\nend", f"a{n % 5}, b{n % 3}"])
    assert len(check(path)) == 500


@pytest.mark.usefixtures("_small_pieces")
def test_what_is_detected_at_the_beginning_holds_for_all_pieces(cluster, tmp_path):
    """A separator line, a title, old letters, and columns that the user names."""
    path = tmp_path / "old.csv"
    lines = [f"{n};Über Grün {n % 9};Wörter {n};x{n % 4}|y" for n in range(500)]
    path.write_bytes("\n".join(["sep=;", "id;title;body;themes", *lines]).encode("cp1252"))
    assert check(path).ids[7] == "7"
    path = tmp_path / "wide.tsv"
    rows = [f"{n}\tword{n % 9} and word{n % 5}\tnothing\tc{n % 3}" for n in range(500)]
    path.write_text("\n".join(["n\ta\tb\tc", *rows]), "utf-16")
    check(path, text_column=["a", "b"], label_column="c")


@pytest.mark.usefixtures("_small_pieces")
def test_old_letters_may_come_late(cluster, tmp_path):
    path = tmp_path / "late.tsv"
    rows = [f"word{n % 40} word{n % 7}\tlabel{n % 3}" for n in range(1_500)]
    rows[-1] = "Grüße zum Ende\tlabel0"
    path.write_bytes("\n".join(rows).encode("cp1252"))
    assert check(path).texts[-1] == "Grüße zum Ende"


@pytest.mark.usefixtures("_small_pieces")
def test_documents_without_ids_are_numbered(cluster, tmp_path):
    path = tmp_path / "some.jsonl"
    with path.open("w") as file:
        for n in range(900):
            named = {"id": f"n{n}"} if n % 3 == 0 else {"id": ""} if n == 1 else {}
            file.write(json.dumps(named | {"text": f"number {n}", "labels": [f"l{n % 4}"]}) + "\n")
    found = check(path)
    assert found.ids[:4] == ["n0", "", "2", "n3"]


@pytest.mark.usefixtures("_small_pieces")
@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (b'{"text": 5}', "expected a string as 'text', found '5'"),
        (b'{"text": "\xff"}', "expected UTF-8 text, found byte 0xff"),
    ],
)
def test_a_bad_line_is_an_error(cluster, tmp_path, bad, sentence):
    path = tmp_path / "bad.jsonl"
    lines = [b'{"text": "number %d", "labels": ["l"]}' % n for n in range(900)]
    lines[800] = bad
    path.write_bytes(b"\n".join(lines))
    where = "" if cluster.sees_files else "bad.jsonl, line 801: "
    with pytest.raises(CorpusError, match=f"{where}.*{sentence}"):
        read_in_chunks(path, CountVectorizer())


def test_files_of_other_formats_are_refused(tmp_path):
    path = tmp_path / "one.json"
    path.write_text('[{"text": "x", "labels": ["l"]}]')
    with pytest.raises(CorpusError, match="reading in chunks needs a file of JSON Lines, TSV or"):
        TextFile(path)
    assert TextFile.at(path) is None
    assert TextFile.at(tmp_path / "missing") is None


def test_a_file_that_changes_is_refused(tmp_path):
    path = tmp_path / "pets.tsv"
    path.write_text("a cat\tcats\n")
    file = TextFile(path)
    path.write_text("a dog\tdogs\n")
    with pytest.raises(CorpusError, match="the file changed while it was being read"):
        file.count(CountVectorizer())


def suggestions(tagger):
    return tagger.suggest(load_catalogue("test").texts[:20])


@pytest.mark.slow
@pytest.mark.usefixtures("_pieces")
@pytest.mark.parametrize(
    ("cluster", "keep_texts"), [("dask", True), ("shared", False)], indirect=["cluster"]
)
def test_a_tagger_learns_from_a_file_that_it_never_has_as_a_whole(
    cluster, tmp_path, monkeypatch, keep_texts
):
    monkeypatch.setattr("manylabel.tagger.features._MIN_DOCUMENTS", 100)
    monkeypatch.setattr("manylabel.tagger.features._SHORT", 1_000)
    monkeypatch.setattr("manylabel.tagger.features._LONG", 1_001)
    monkeypatch.setattr("manylabel.tagger.features._MIN_GAIN", -1e9)
    path = tmp_path / "books.jsonl"
    books = load_catalogue("train")
    write(books, path)

    def tagger():
        return Tagger(
            keep_texts=keep_texts,
            language="auto",
            parameters={"scorers": ["neighbours", "words"]},
            random_state=0,
        )

    found = tagger().fit(path)
    assert len(cluster.receipts) > 6
    monkeypatch.setattr("manylabel.tagger.training.current_place", lambda: None)
    expected = tagger().fit(path)
    assert found._state.vectorizer.char_ngrams == (4, 4)
    assert suggestions(found) == suggestions(expected)
    assert found.document("b258") == expected.document("b258")
    found.save(tmp_path / "model")
    again = Tagger.load(tmp_path / "model")
    assert suggestions(again) == suggestions(expected)
    assert again.document("b258") == expected.document("b258")


@pytest.mark.slow
@pytest.mark.usefixtures("_pieces")
@pytest.mark.parametrize("cluster", ["shared"], indirect=True)
def test_names_are_found_in_texts_that_a_file_holds(cluster, tmp_path, monkeypatch):
    """A vocabulary needs whole texts, also if the model keeps only their beginnings."""
    path = tmp_path / "books.jsonl"
    books = load_catalogue("train")
    write(books, path)
    names = tmp_path / "names.tsv"
    names.write_text("".join(f"<{label}>\t{label.lower()}\n" for label in books.label_names))
    tagger = Tagger(
        vocabulary=names,
        keep_texts=False,
        effort="quick",
        parameters={"scorers": ["neighbours", "names"]},
        random_state=0,
    )
    found = tagger.fit(path)
    told = suggestions(found)
    monkeypatch.setattr("manylabel.tagger.training.current_place", lambda: None)
    assert told == suggestions(tagger.fit(path))


@pytest.mark.usefixtures("_pieces")
def test_a_run_that_goes_on_reads_no_piece_twice(client, tmp_path):
    path = tmp_path / "books.jsonl.gz"
    write(load_catalogue("train"), path)
    folder = tmp_path / "spool"
    with use(client, f"dask:{folder}") as cluster:
        first = read_in_chunks(path, CountVectorizer())
        assert len(cluster.receipts) > 6
    assert len(list((folder / "inputs").glob("*"))) == 1, "only the vectorizer, no pieces"
    with use(client, f"dask:{folder}") as cluster:
        again = read_in_chunks(path, CountVectorizer())
        assert not cluster.receipts
    np.testing.assert_array_equal(again.X.toarray(), first.X.toarray())
