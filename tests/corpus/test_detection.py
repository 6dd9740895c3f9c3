"""The format is detected from the file extension and the content."""

from __future__ import annotations

import pytest

from manylabel.corpus.detection import detect, format_of_name
from manylabel.corpus.files import open_source
from manylabel.exceptions import CorpusError


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.txt", "1 2 3\n", "xc"),
        ("a.svm", "1 2 3\r\n0 1:1\n", "xc"),
        ("a", "1,2 3:4 5:6\n", "svmlight"),
        ("a.dat", "3\n1:2.5e3\n 1:1 # note\n", "svmlight"),
        ("a.dat", "# note\n3 1:1\n", "svmlight"),
        ("a.dat", "0 " + " ".join(f"{i}:1" for i in range(50_000)), "svmlight"),
        ("a.dat", "12:30 in the morning\tnews\n", "tsv"),
        ("a.libsvm", "x", "svmlight"),
        ("a.json", "x", "jsonl"),
        ("a.dat", '\n {"text": "a"}\n', "jsonl"),
        ("a.dat", "one\tx\n", "tsv"),
        ("a.tsv", "one", "tsv"),
        ("a.dat", 'id,"text",labels\n', "csv"),
        ("a.csv", "one", "csv"),
        ("a.dat", "% note\n@relation x\n", "meka"),
        ("a.ARFF", "@relation x\n", "meka"),
    ],
)
def test_formats_are_told_apart(file, name, content, kind):
    with open_source(file(content, name)) as source:
        assert detect(source) == kind


def test_xml_beside_arff_makes_it_mulans(file):
    file("<labels/>", "a.xml")
    with open_source(file("@relation x\n", "a-test.arff.gz")) as source:
        assert detect(source) == "mulan"


def test_what_is_none_of_them_is_refused(file):
    with (
        open_source(file("once upon a time\n")) as source,
        pytest.raises(CorpusError, match="cannot be detected from the name or the content"),
    ):
        detect(source)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.txt.gz", "xc"),
        ("a.jsonl", "jsonl"),
        ("a.arff", "mulan"),
        ("a.svm", "svmlight"),
        ("a", "folder"),
    ],
)
def test_a_name_tells_what_to_write(name, kind):
    assert format_of_name(name) == kind
