"""Files that are small and become huge, lines without an end: refused soon, in little memory."""

from __future__ import annotations

import gzip
import io
import time
import tracemalloc
import zipfile

import pytest
import zstandard

from manylabel.corpus import limits, read
from manylabel.exceptions import CorpusError, ParameterError

BLOCK = 1 << 20
LINE = "a line has more than 1,048,576 bytes; if that is correct, raise the limit " \
    "(`manylabel.corpus.limits(line=...)`, or MANYLABEL_MAX_LINE)."  # fmt: skip


def packed(content: bytes) -> bytes:
    return gzip.compress(content, 1)


def zst(content: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(content)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "newlines.jsonl.gz",
            lambda: packed(b"\n" * (99 * BLOCK)),
            "consecutive bytes of white space",
        ),
        ("spaces.tsv.gz", lambda: packed(b" " * (99 * BLOCK)), "consecutive bytes of white space"),
        pytest.param(
            "rows.svm.gz",
            lambda: packed(b"0 1:1\n" * (33 * BLOCK)),
            "compressed bytes expand",
            marks=pytest.mark.slow,
        ),
        ("zeros.jsonl.zst", lambda: zst(bytes(200 * BLOCK)), "compressed bytes expand"),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value else "",
)
def test_compressed_bombs_are_refused(file, name, content, message):
    path = file(content(), name)
    tracemalloc.start()
    begun = time.monotonic()
    # White space may fill at most a sixteenth of the limit of a line.
    with (
        limits(line=16 * BLOCK if "space" in message else None),
        pytest.raises(CorpusError, match=message),
    ):
        read(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The seconds are generous: a busy machine, and every allocation is watched.
    assert time.monotonic() - begun < 100
    assert peak < 1 << 30


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_lines_without_an_end(file, compress):
    path = file(compress(b'{"text": "short"}\n{"text": "' + b"abcdefgh" * BLOCK), "x.jsonl")
    with limits(line=BLOCK), pytest.raises(CorpusError) as error:
        read(path)
    assert str(error.value) == f"{path}: {LINE}"


def test_limits_can_be_raised(file, monkeypatch):
    path = file(b'{"text": "' + b"a" * (BLOCK + 9) + b'"}\n', "x.jsonl")
    assert len(read(path)) == 1
    monkeypatch.setenv("MANYLABEL_MAX_LINE", str(BLOCK))
    with pytest.raises(CorpusError, match="a line has more than"):
        read(path)
    with limits(line=2 * BLOCK):
        assert len(read(path)) == 1
    monkeypatch.setenv("MANYLABEL_MAX_LINE", "long")
    with pytest.raises(ParameterError) as error:
        read(path)
    assert str(error.value) == "MANYLABEL_MAX_LINE must be a number; got 'long'."
    with (
        pytest.raises(ParameterError, match="`expansion` must be a number above 0; got 0"),
        limits(expansion=0),
    ):
        pass


def test_what_compresses_well_is_read_if_told(file):
    content = b'{"text": "' + b"a" * 1000 + b'", "labels": ["x"]}\n'
    path = file(gzip.compress(content * 34_000, 9), "x.jsonl.gz")
    with pytest.raises(CorpusError, match="more than 100 times as many"):
        read(path)
    with limits(expansion=2000):
        assert len(read(path)) == 34_000


@pytest.mark.parametrize("kind", ["xlsx", "ods", "docx", "epub"])
def test_office_files_that_expand_without_measure_are_refused(file, kind):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("content.xml", bytes(33 * BLOCK))
    with pytest.raises(CorpusError, match=r"compressed bytes expand to 34,603,008, more than 100"):
        read(file(out.getvalue(), f"x.{kind}"), kind)


def test_a_row_of_a_workbook_that_cannot_be_read(file):
    openpyxl = pytest.importorskip("openpyxl")
    book, out, broken = openpyxl.Workbook(), io.BytesIO(), io.BytesIO()
    for row in [["text", "labels"], ["a cat", "cats"], ["a dog", "dogs"]]:
        book.active.append(row)
    book.save(out)
    with zipfile.ZipFile(out) as good, zipfile.ZipFile(broken, "w") as bad:
        for name in good.namelist():
            content = good.read(name)
            if "sheet1" in name:
                content = content.replace(b'<row r="3"', b"<row r=<<")
            bad.writestr(name, content)
    with pytest.raises(CorpusError, match=r"the file cannot be read as \.xlsx"):
        read(file(broken.getvalue(), "x.xlsx"))
