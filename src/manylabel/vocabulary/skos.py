"""Read SKOS vocabularies from RDF files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from manylabel.corpus.files import Source
from manylabel.exceptions import MissingExtraError
from manylabel.vocabulary.label_names import ALTERNATIVE, HIDDEN, PREFERRED
from manylabel.vocabulary.vocabulary import Concept, Name

__all__ = ["read_jsonld", "read_ntriples", "read_rdfxml", "read_turtle"]

_SKOS = "http://www.w3.org/2004/02/skos/core#"
_SKOSXL = "http://www.w3.org/2008/05/skos-xl#"
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_NAMES = {
    f"{_SKOS}prefLabel": PREFERRED,
    f"{_SKOS}altLabel": ALTERNATIVE,
    f"{_SKOS}hiddenLabel": HIDDEN,
}
_XL_NAMES = {
    f"{_SKOSXL}prefLabel": PREFERRED,
    f"{_SKOSXL}altLabel": ALTERNATIVE,
    f"{_SKOSXL}hiddenLabel": HIDDEN,
}
_GROUPS = (f"{_SKOS}inScheme", f"{_SKOS}topConceptOf")
_NO_LABELS = {f"{_SKOS}ConceptScheme", f"{_SKOS}Collection", f"{_SKOS}OrderedCollection"}


def read_turtle(source: Source) -> Iterator[Concept]:
    """Read Turtle."""
    return _read(source, "TURTLE")


def read_ntriples(source: Source) -> Iterator[Concept]:
    """Read N-Triples."""
    return _read(source, "N_TRIPLES")


def read_rdfxml(source: Source) -> Iterator[Concept]:
    """Read RDF/XML."""
    return _read(source, "RDF_XML")


def read_jsonld(source: Source) -> Iterator[Concept]:
    """Read JSON-LD; its context must be in the file."""
    return _read(source, "JSON_LD")


def _read(source: Source, syntax: str) -> Iterator[Concept]:
    """Read the concepts of a file, in the order of their first occurrence."""
    try:
        import pyoxigraph
    except ImportError:
        raise MissingExtraError("Reading SKOS vocabularies", "pyoxigraph", "skos") from None
    format = getattr(pyoxigraph.RdfFormat, syntax)
    concepts: dict[str, Concept] = {}
    left_out: set[str] = set()
    written: dict[str, tuple[str, str]] = {}
    borrowed: list[tuple[str, int, str]] = []
    try:
        for quad in pyoxigraph.parse(source.stream, format=format):
            _take(quad, concepts, left_out, written, borrowed)
    except (SyntaxError, ValueError, OSError) as error:
        raise source.error(f"the RDF cannot be read ({error}).") from None
    for identifier, kind, label in borrowed:
        if label in written:
            text, language = written[label]
            concepts[identifier].names.append(Name(text, kind, language))
    for identifier, concept in concepts.items():
        # A resource without a name, such as a creator or a note, is not a label.
        if identifier not in left_out and concept.names:
            yield concept


def _take(
    quad: Any,
    found: dict[str, Concept],
    left_out: set[str],
    written: dict[str, tuple[str, str]],
    borrowed: list[tuple[str, int, str]],
) -> None:
    """Add one triple to the concepts, or to names that are resolved at the end."""
    subject = quad.subject.value
    predicate, value = quad.predicate.value, quad.object.value
    if predicate == _TYPE:
        if value in _NO_LABELS:
            left_out.add(subject)
        return
    if predicate == f"{_SKOSXL}literalForm":
        written[subject] = value, quad.object.language or ""
        return
    is_about = predicate.startswith((_SKOS, _SKOSXL)) or predicate.endswith("#deprecated")
    if not is_about:
        return
    if predicate == f"{_SKOS}member":
        found.setdefault(value, Concept(value)).collections.append(subject)
        return
    concept = found.setdefault(subject, Concept(subject))
    if predicate in _NAMES:
        concept.names.append(Name(value, _NAMES[predicate], quad.object.language or ""))
    elif predicate in _XL_NAMES:
        borrowed.append((subject, _XL_NAMES[predicate], value))
    elif predicate == f"{_SKOS}broader":
        concept.broader.append(value)
    elif predicate == f"{_SKOS}narrower":
        found.setdefault(value, Concept(value)).broader.append(subject)
    elif predicate == f"{_SKOS}related":
        concept.related.append(value)
    elif predicate == f"{_SKOS}notation":
        concept.notation = value
    elif predicate in (f"{_SKOS}definition", f"{_SKOS}scopeNote"):
        concept.description = concept.description or value
    elif predicate in _GROUPS:
        concept.collections.append(value)
    elif predicate.endswith("#deprecated"):
        concept.deprecated = value.lower() in ("true", "1")
