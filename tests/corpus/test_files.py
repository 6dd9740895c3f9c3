"""Files come in plain or compressed, from a path or standard input, and are written whole."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys

import pytest
import zstandard

from manylabel.corpus import Corpus, read, write
from manylabel.corpus.files import atomic_write, open_source
from manylabel.exceptions import CorpusError, MissingExtraError

CONTENT = b"2 3 2\n0 0:1 2:5\n1 1:2\n"
COMPRESS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: zstandard.ZstdCompressor().compress(data),
}


class Stdin:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


@pytest.mark.parametrize("kind", COMPRESS)
def test_compression_is_told_by_the_first_bytes_not_the_name(file, kind):
    corpus = read(file(COMPRESS[kind](CONTENT), "train.txt"))
    assert corpus.X.toarray().tolist() == [[1, 0, 5], [0, 2, 0]]


@pytest.mark.parametrize("kind", COMPRESS)
def test_compressed_streams_may_follow_one_another(file, kind):
    halves = COMPRESS[kind](CONTENT[:9]) + COMPRESS[kind](CONTENT[9:])
    assert len(read(file(halves))) == 2


@pytest.mark.parametrize("kind", COMPRESS)
def test_a_file_cut_short_is_refused_wherever_the_cut_is(file, kind):
    whole = COMPRESS[kind](CONTENT * 1000)
    for cut in (12, len(whole) // 2, len(whole) - 9, len(whole) - 1):
        path = file(whole[:cut])
        with pytest.raises(CorpusError, match="the compressed data are damaged or truncated"):
            open_all(path)


@pytest.mark.parametrize("kind", COMPRESS)
def test_broken_compressed_data_are_refused(file, kind):
    whole = bytearray(COMPRESS[kind](bytes(range(256)) * 300))
    whole[len(whole) // 2] ^= 0xFF
    whole[-3] ^= 0xFF
    with pytest.raises(CorpusError, match="the compressed data are damaged or truncated"):
        open_all(file(bytes(whole)))


def open_all(path) -> bytes:
    with open_source(path) as source:
        return source.stream.read()


def test_a_text_may_start_like_bzip2(file):
    assert open_all(file(b"BZh is not a word")) == b"BZh is not a word"


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_standard_input_is_a_file_named_dash(monkeypatch, compress):
    monkeypatch.setattr(sys, "stdin", Stdin(compress(CONTENT)))
    assert read("-").X.nnz == 3
    assert not sys.stdin.buffer.closed
    monkeypatch.setattr(sys, "stdin", Stdin(compress(b"2 3 2\nx")))
    with pytest.raises(CorpusError, match=r"^-, line 2: "):
        read("-")


@pytest.mark.parametrize(
    "content",
    [b"", gzip.compress(b""), bz2.compress(b""), lzma.compress(b"")],
    ids=["plain", "gzip", "bzip2", "xz"],
)
def test_an_empty_file_is_refused(file, content):
    with pytest.raises(CorpusError, match="the file is empty"):
        read(file(content))


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(CorpusError, match=r"nowhere.txt: the file cannot be opened \(No such file"):
        read(tmp_path / "nowhere.txt")


def test_zst_without_zstandard_names_the_extra(file, monkeypatch, tmp_path):
    path = file(COMPRESS["zst"](CONTENT))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r"Reading .zst files needs zstandard.*\[zstd\]"):
        read(path)
    with pytest.raises(MissingExtraError, match=r"Writing \.zst files"):
        write(Corpus([[1]], [[1]]), tmp_path / "out.txt.zst")


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_writing_compresses_by_the_ending(tmp_path, ending):
    path = tmp_path / f"out.txt{ending}"
    write(Corpus([[1, 0], [0, 0.5]], [[1], [0]]), path)
    assert open_all(path) == b"2 2 1\n0 0:1\n 1:0.5\n"
    assert (path.read_bytes()[:1] == b"2") == (ending == "")
    assert read(path).X.toarray().tolist() == [[1, 0], [0, 0.5]]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")

    def fail():
        with atomic_write(path) as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "old"
    assert [found.name for found in tmp_path.iterdir()] == ["out.txt"]


def test_writing_into_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(CorpusError, match="the file cannot be written"):
        write(Corpus([[1]], [[1]]), tmp_path / "none" / "out.txt")


def test_writing_to_standard_output(capfdbinary):
    write(Corpus([[1]], [[1]]), "-", format="xc")
    assert capfdbinary.readouterr().out == b"1 1 1\n0 0:1\n"
