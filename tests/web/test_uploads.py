"""Office files as texts."""

from __future__ import annotations

import io
import os
import zipfile

import pytest

from manylabel.corpus import document_files_isolated
from manylabel.corpus.document_files_isolated import isolated_text
from manylabel.exceptions import CorpusError

BYTES = {"content-type": "application/octet-stream"}


def docx_of(*lines: str) -> bytes:
    docx = pytest.importorskip("docx", reason="needs the extra files")
    document = docx.Document()
    for line in lines:
        document.add_paragraph(line)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def pdf_of(text: str) -> bytes:
    """A page with a line of text, written by hand."""
    stream = f"BT /F1 24 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    content, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    start = len(content)
    content += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    content += b"".join(b"%010d 00000 n \n" % place for place in places)
    return content + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        start,
    )


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("a.docx", lambda: docx_of("A cat sleeps.", "A dog barks."), "A cat sleeps.\nA dog barks."),
        ("A.PDF", lambda: pdf_of("A cat sleeps."), "A cat sleeps."),
        ("a.htm", lambda: b"<title>Cats</title><p>They sleep.</p>", "Cats\nThey sleep."),
    ],
)
def test_the_text_of_an_office_file(client, name, content, text):
    answer = client.post("/v1/text", params={"name": name}, content=content(), headers=BYTES)
    assert answer.json() == {"name": name, "text": text}


@pytest.mark.parametrize(
    ("name", "content", "status", "sentence"),
    [
        ("a.pdf", b"%PDF-1.4 broken", 422, "a.pdf: the file cannot be read as .pdf ("),
        ("a.docx", b"PK\x03\x04", 422, "a.docx: the file cannot be read as .docx ("),
        ("a.html", b"<p> </p>", 422, "a.html: there is no text in this file."),
        ("a.xlsx", b"", 415, "Unknown type of file 'a.xlsx'; supported are .docx, .epub, "),
        ("a", b"", 415, "Unknown type of file 'a'"),
    ],
)
def test_other_files_are_refused_in_a_sentence(client, name, content, status, sentence):
    answer = client.post("/v1/text", params={"name": name}, content=content, headers=BYTES)
    assert answer.status_code == status
    assert sentence in answer.json()["detail"]


def test_only_bytes_are_taken(client):
    answer = client.post("/v1/text", params={"name": "a.html"}, json={})
    assert answer.status_code == 415
    assert "Content-Type: application/octet-stream" in answer.json()["detail"]


def test_a_file_that_takes_too_long_is_given_up():
    with pytest.raises(
        CorpusError, match=r"a.html: reading the file took longer than 0.01 seconds\."
    ):
        isolated_text("html", b"<p>A cat</p>", "a.html", 0.01)


@pytest.mark.slow
def test_a_bomb_ends_its_own_process_only():
    """More than a gigabyte of text in a small file."""
    docx = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(docx_of("a"))) as good,
        zipfile.ZipFile(docx, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as bomb,
    ):
        for entry in good.namelist():
            if entry != "word/document.xml":
                bomb.writestr(entry, good.read(entry))
        with bomb.open("word/document.xml", "w", force_zip64=True) as file:
            for _ in range(1200):
                file.write(b"a" * 1_000_000)
    with pytest.raises(CorpusError, match="raise the limit"):
        isolated_text("docx", docx.getvalue(), "bomb.docx", 60)


def test_without_the_extra_one_sentence_says_what_to_install(client, tmp_path, monkeypatch):
    """The process that reads finds a python-docx that cannot be imported."""
    (tmp_path / "docx.py").write_text("raise ImportError")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    answer = client.post("/v1/text", params={"name": "a.docx"}, content=b"PK", headers=BYTES)
    assert answer.status_code == 422
    assert answer.json()["detail"] == (
        "a.docx: Reading .docx files needs python-docx; install it with: "
        "pip install 'manylabel[files]'."
    )


def test_the_process_that_reads_knows_no_token(monkeypatch):
    monkeypatch.setenv("MANYLABEL_TOKEN", "sesam")
    monkeypatch.setenv("MANYLABEL_READ_TOKEN", "peep")
    assert not {"sesam", "peep"} & set(document_files_isolated._environment().values())
