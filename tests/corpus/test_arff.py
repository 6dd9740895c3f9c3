"""ARFF as Mulan and MEKA write it, sparse and dense."""

from __future__ import annotations

from pathlib import Path

import pytest

from manylabel.corpus import Corpus, read, write
from manylabel.exceptions import CorpusError

XML = '<labels xmlns="http://mulan.sourceforge.net/labels">{}</labels>'
HEADER = """% a comment
@RELATION pets

@attribute 'it\\'s furry' numeric
@Attribute "two words" REAL
@attribute size\tinteger
@attribute cats {0,1}
@attribute dogs {0, 1}
@data
"""


@pytest.fixture
def mulan(file):
    """Writes an ARFF file with an XML file that makes cats and dogs labels."""

    def make(content: str | bytes, xml: str = '<label name="dogs"/><label name="cats"/>'):
        file(XML.format(xml), "pets.xml")
        return file(content, "pets-train.arff")

    return make


def test_dense_rows(mulan):
    corpus = read(mulan(HEADER + "1,-2.5,0,0,1\n% comment\n\n 0 , 1e2 ,3, 1 , 0\n"))
    assert corpus.X.toarray().tolist() == [[1, -2.5, 0], [0, 100, 3]]
    assert corpus.Y.toarray().tolist() == [[0, 1], [1, 0]]
    assert corpus.feature_names == ["it's furry", "two words", "size"]
    assert corpus.label_names == ["cats", "dogs"]


def test_sparse_rows_leave_out_zeros(mulan):
    corpus = read(mulan(HEADER + "{0 1, 4 1}\n{ }\n{2 -7,3 1}\n"))
    assert corpus.X.toarray().tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, -7]]
    assert corpus.Y.toarray().tolist() == [[0, 1], [0, 0], [1, 0]]


def test_sparse_rows_leave_out_the_first_nominal_value_even_if_it_is_no_zero(mulan):
    header = (
        "@relation r\n@attribute up {1,0}\n@attribute cats {1,0}\n@attribute dogs {0,1}\n@data\n"
    )
    corpus = read(mulan(header + "{}\n{0 0,1 0,2 1}\n"))
    assert corpus.X.toarray().tolist() == [[1], [0]]
    assert corpus.Y.toarray().tolist() == [[1, 0], [0, 1]]


def test_nominal_words_become_zero_and_one_or_columns_of_their_own(mulan):
    header = (
        "@relation r\n@attribute wild {YES,NO}\n@attribute hue {red,'sky blue',\"green\"}\n"
        "@attribute cats {0,1}\n@attribute dogs {false,true}\n@data\n"
    )
    corpus = read(
        mulan(header + "NO,'sky blue',1,false\nYES,red,0,true\n{1 green}\n{1 'sky blue'}")
    )
    assert corpus.feature_names == ["wild", "hue=red", "hue=sky blue", "hue=green"]
    assert corpus.X.toarray().tolist() == [[0, 0, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1], [1, 0, 1, 0]]
    assert corpus.Y.toarray().tolist() == [[1, 0], [0, 1], [0, 0], [0, 0]]


def test_labels_within_labels_count(mulan):
    path = mulan(HEADER + "1,1,1,1,1\n", '<label name="cats"><label name="dogs"/></label>')
    assert read(path).n_labels == 2


def test_the_xml_may_be_named(mulan, file):
    path = mulan(HEADER + "1,1,1,1,1\n")
    other = file(XML.format('<label name="size"/>'), "other.xml")
    assert read(path, labels=other).label_names == ["size"]
    assert read(path, labels=["dogs"]).label_names == ["dogs"]


@pytest.mark.parametrize(("option", "labels"), [("-C 2", ["a", "b"]), ("-C -1", ["c"])])
def test_meka_counts_labels_from_either_end(file, option, labels):
    header = f"@relation 'pets: {option} -split 5'\n"
    header += "".join(f"@attribute {name} {{0,1}}\n" for name in "abc")
    corpus = read(file(header + "@data\n1,0,1\n{0 1,2 1}\n", "pets.arff"))
    assert corpus.label_names == labels
    assert corpus.Y.toarray()[0].tolist() == ([1, 0] if option == "-C 2" else [1])


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (HEADER + "1,2,3,0\n", 10, "expected 5 values separated by commas, found 4"),
        (HEADER + "1,x,3,0,1\n", 10, "expected a finite number as 'two words', found 'x'"),
        (HEADER + "1,nan,3,0,1\n", 10, "expected a finite number"),
        (HEADER + "1,1e999,3,0,1\n", 10, "expected a finite number"),
        (HEADER + "1,1_0,3,0,1\n", 10, "expected a finite number"),
        (HEADER + "1,?,3,0,1\n", 10, "missing values are not supported"),
        (HEADER + "1,2,3,0,2\n", 10, "expected one of the declared values of 'dogs', found '2'"),
        (HEADER + "{5 1}\n", 10, "with an attribute from 0 to 4, found '5 1'"),
        (HEADER + "{0}\n", 10, "expected 'attribute value'"),
        (HEADER + "{0 1,}\n", 10, "expected 'attribute value'"),
        (HEADER + "{0 1,0 2}\n", 10, "expected each attribute once, found 0 twice"),
        (HEADER + "{0 1\n", 10, "expected a row that ends with '}'"),
        (HEADER + "{0 1}, {2}\n", 10, "expected"),
        (HEADER + "'1,2,3,0,1\n", 10, "found broken quotes"),
        (HEADER.replace("@data", "@date"), 9, "expected @relation, @attribute or @data"),
        (HEADER.replace("@data\n", ""), 8, "expected a line @data, found the end of the file"),
        (HEADER.replace("REAL", "string"), 5, "as the type of 'two words', found 'string'"),
        (HEADER.replace("{0,1}", "{0,0}"), 7, "expected distinct values of 'cats'"),
        (HEADER.replace("size", "cats"), 9, "expected distinct attributes, found 'cats' twice"),
        (HEADER.replace("size\tinteger", "'size integer"), 6, "expected a name, quoted"),
        (HEADER.replace("dogs", "cows") + "1,2,3,0,1\n", None, "for the label 'dogs', found none"),
        (
            HEADER.replace("cats {0,1}", "cats {0,1,2}") + "1,2,3,2,1\n",
            10,
            "expected 0 or 1 as the label 'cats', found 2",
        ),
        (
            HEADER.replace("cats {0,1}", "cats {a,b,c}") + "1,2,3,a,1\n",
            None,
            "expected {0,1} as the type of the label 'cats', found words",
        ),
        ((HEADER + "1,2,3,0,").encode() + b"\xff\n", 10, "expected UTF-8 text"),
    ],
)
def test_bad_arff_is_refused(mulan, content, line, message):
    path = mulan(content)
    with pytest.raises(CorpusError) as caught:
        read(path)
    assert message in str(caught.value)
    assert caught.value.line == line
    assert caught.value.path == str(path)


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ("<labels>", "expected XML"),
        ("<label name='a'/>", "expected <labels>"),
        ("<labels><label/></labels>", "expected <labels> with elements <label name"),
        ("<!DOCTYPE a><labels/>", "expected XML without a document type"),
        ("<?xml version='1.0' encoding='no-such'?><labels/>", "expected XML"),
    ],
)
def test_bad_xml_is_refused(mulan, file, xml, message):
    path = mulan(HEADER + "1,1,1,1,1\n")
    file(xml, "pets.xml")
    with pytest.raises(CorpusError) as caught:
        read(path)
    assert message in str(caught.value)


def test_another_encoding_hides_no_document_type(mulan, file):
    path = mulan(HEADER + "1,1,1,1,1\n")
    xml = "<?xml version='1.0' encoding='utf-16'?><!DOCTYPE a [<!ENTITY b 'c'>]><labels/>"
    Path(path).with_name("pets.xml").write_bytes(xml.encode("utf-16"))
    with pytest.raises(CorpusError, match="expected XML without a document type"):
        read(path)


@pytest.mark.parametrize(
    ("relation", "message"),
    [
        ("pets", "expected '-C n' in the relation's name or an XML file next to this file"),
        ("'pets: -C 9'", "expected at most 1 label after -C"),
    ],
)
def test_without_a_word_about_labels_arff_is_refused(file, relation, message):
    path = file(f"@relation {relation}\n@attribute a {{0,1}}\n@data\n1\n", "pets.arff")
    with pytest.raises(CorpusError, match=message):
        read(path)
    with pytest.raises(CorpusError, match="expected an XML file with the same name"):
        read(path, format="mulan")


def test_columns_without_names_get_some(tmp_path):
    write(Corpus([[1, 0]], [[1]]), tmp_path / "out.arff")
    corpus = read(tmp_path / "out.arff")
    assert corpus.feature_names == ["feature-0", "feature-1"]
    assert corpus.label_names == ["label-0"]


@pytest.mark.parametrize(
    ("corpus", "path", "message"),
    [
        (
            Corpus([[1]], [[1]], label_names=["a"], feature_names=["a"]),
            "out.arff",
            "ARFF attributes must have distinct names, but 'a' is both a feature and a label",
        ),
        (Corpus.from_texts(["a"], [["b"]]), "out.arff", "vectorise it first"),
        (
            Corpus([[1]], [[1]], label_names=["\x01"]),
            "out.arff",
            "a character that XML does not allow",
        ),
    ],
)
def test_what_arff_cannot_carry_is_refused(tmp_path, corpus, path, message):
    with pytest.raises(CorpusError, match=message):
        write(corpus, tmp_path / path)
    assert list(tmp_path.iterdir()) == []


def test_mulans_two_files_do_not_fit_on_standard_output():
    with pytest.raises(CorpusError, match="cannot be written to standard output; write 'meka'"):
        write(Corpus([[1]], [[1]]), "-", format="mulan")
