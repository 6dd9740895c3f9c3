import gzip
import sys

import pytest

from manylabel.exceptions import CorpusError, InputError, MissingExtraError
from manylabel.vocabulary import ALTERNATIVE, PREFERRED, Concept, Name, Vocabulary, read

TURTLE = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix ex: <http://ex.org/> .
ex:all a skos:ConceptScheme ; skos:prefLabel "everything"@en .
ex:cats a skos:Concept ; skos:prefLabel "cats"@en, "kissat"@fi ; skos:altLabel "felines"@en ;
  skos:broader ex:animals ; skos:inScheme ex:all ; skos:notation "C1" ;
  skos:definition "Small carnivores."@en .
ex:animals a skos:Concept ; skos:prefLabel "animals"@en ; skos:related ex:zoos .
ex:zoos a skos:Concept ; skos:prefLabel "zoos"@en ; owl:deprecated true .
ex:pets a skos:Collection ; skos:prefLabel "pets"@en ; skos:member ex:cats .
"""
NTRIPLES = """<http://ex.org/cats> <http://www.w3.org/2004/02/skos/core#prefLabel> "cats"@en .
<http://ex.org/cats> <http://www.w3.org/2004/02/skos/core#altLabel> "felines"@en .
"""
RDFXML = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:skos="http://www.w3.org/2004/02/skos/core#">
<skos:Concept rdf:about="http://ex.org/cats"><skos:prefLabel xml:lang="en">cats</skos:prefLabel>
<skos:altLabel xml:lang="en">felines</skos:altLabel></skos:Concept></rdf:RDF>
"""
JSONLD = """{"@context": {"skos": "http://www.w3.org/2004/02/skos/core#"},
 "@id": "http://ex.org/cats",
 "skos:prefLabel": {"@language": "en", "@value": "cats"},
 "skos:altLabel": {"@language": "en", "@value": "felines"}}
"""


def written(folder, name, content):
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def test_skos_in_turtle(tmp_path):
    pytest.importorskip("pyoxigraph")
    vocabulary = read(written(tmp_path, "v", TURTLE))
    assert list(vocabulary) == ["http://ex.org/cats", "http://ex.org/animals", "http://ex.org/zoos"]
    cats = vocabulary["<http://ex.org/cats>"]
    assert vocabulary.name(cats.identifier, "fi") == "kissat"
    assert vocabulary.name(cats.identifier, "en") == "cats"
    assert Name("felines", ALTERNATIVE, "en") in cats.names
    assert (cats.notation, cats.description) == ("C1", "Small carnivores.")
    assert cats.broader == ["http://ex.org/animals"]
    assert sorted(cats.collections) == ["http://ex.org/all", "http://ex.org/pets"]
    assert vocabulary.narrower("http://ex.org/animals") == ["http://ex.org/cats"]
    assert vocabulary.related("http://ex.org/zoos") == ["http://ex.org/animals"]
    assert vocabulary.in_collection("http://ex.org/pets") == ["http://ex.org/cats"]
    assert vocabulary["http://ex.org/zoos"].deprecated
    assert "http://ex.org/zoos" not in vocabulary.current


@pytest.mark.parametrize("content", [NTRIPLES, RDFXML, JSONLD], ids=["nt", "xml", "jsonld"])
def test_skos_in_other_syntaxes(tmp_path, content):
    pytest.importorskip("pyoxigraph")
    vocabulary = read(written(tmp_path, "v", content))
    assert [name.text for name in vocabulary["http://ex.org/cats"].names] == ["cats", "felines"]


def test_skos_without_its_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'manylabel\[skos\]'"):
        read(written(tmp_path, "v.ttl", TURTLE))


def test_broken_rdf_names_the_file(tmp_path):
    pytest.importorskip("pyoxigraph")
    with pytest.raises(CorpusError, match=r"v\.ttl: the RDF cannot be read"):
        read(written(tmp_path, "v.ttl", TURTLE + "ex:cats skos:broader"))


def test_annif_tsv_with_and_without_angle_brackets(tmp_path):
    one = read(written(tmp_path, "a.tsv", "<http://ex.org/c>\tcats\tC1\n"))
    other = read(written(tmp_path, "b.tsv", "http://ex.org/c\tcats\tSmall carnivores.\n"))
    assert list(one) == list(other) == ["http://ex.org/c"]
    assert one["http://ex.org/c"].notation == "C1"
    assert other["http://ex.org/c"].description == "Small carnivores."
    assert "<http://ex.org/c>" in one


def test_csv_with_a_header(tmp_path):
    content = 'uri,notation,label_en,label_fi,alt_en\n<http://ex.org/c>,C1,"cats, all",kissat,a|b\n'
    vocabulary = read(written(tmp_path, "v.csv", content))
    assert vocabulary.name("http://ex.org/c", "en") == "cats, all"
    assert vocabulary.name("http://ex.org/c", "fi") == "kissat"
    assert [name.text for name in vocabulary["http://ex.org/c"].names][2:] == ["a", "b"]


@pytest.mark.parametrize(
    "header", ["uri,label,alt", "id,name,altLabel", "uri,prefLabel@en,altLabel@en"]
)
def test_headers_as_people_write_them(tmp_path, header):
    vocabulary = read(written(tmp_path, "v.csv", f"{header}\nc1,cats,felines\n"))
    assert [(name.text, name.kind) for name in vocabulary["c1"].names] == [
        ("cats", PREFERRED),
        ("felines", ALTERNATIVE),
    ]


def test_json_lines_compressed(tmp_path):
    path = tmp_path / "v.jsonl.gz"
    path.write_bytes(
        gzip.compress(
            b'{"id": "c1", "name": "cats", "alt": ["felines"], "parents": ["c2"]}\n'
            b'{"id": "c2", "name": {"en": "animals", "fi": "el\xc3\xa4imet"}}\n'
        )
    )
    vocabulary = read(path)
    assert vocabulary.broader("c1") == ["c2"]
    assert vocabulary.name("c2", "fi") == "eläimet"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("rubbish\nmore\n", "line 1: expected a vocabulary: SKOS"),
        ('{"name": "cats"}\n', 'line 1: expected a JSON object with "id" and "name".'),
        ('{"id": 1, "name": [[]]}\n', 'line 1: expected a JSON object with "id" and "name", found'),
        ("c1\tcats\nc2\n", "line 2: expected a label and its name, separated by a tab."),
        ("id,notation\nx,y\n", "line 1: expected a header with 'uri' and at least one of 'label'"),
    ],
)
def test_what_is_no_vocabulary_is_refused(tmp_path, content, message):
    with pytest.raises(CorpusError) as caught:
        read(written(tmp_path, "v", content))
    assert message in str(caught.value)
    assert "v, " in str(caught.value)


def test_a_vocabulary_of_other_labels_is_refused():
    vocabulary = Vocabulary([Concept("http://ex.org/c1", [Name("cats")])])
    vocabulary.check_labels(["<http://ex.org/c1>", "x"])
    with pytest.raises(InputError) as caught:
        vocabulary.check_labels(["p1", "p2"])
    assert str(caught.value) == (
        "none of the documents' labels ('p1', 'p2') is in the vocabulary ('http://ex.org/c1'); "
        "give the vocabulary that the labels come from."
    )


def test_a_vocabulary_is_updated_label_by_label():
    one = Vocabulary([Concept("a", [Name("cats")]), Concept("b", [Name("dogs")])])
    both = one.updated(Vocabulary([Concept("b", [Name("hounds")]), Concept("c", [Name("owls")])]))
    assert [both.name(label) for label in both] == ["cats", "hounds", "owls"]
