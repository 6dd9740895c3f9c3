"""Mulan's ARFF: an XML file names the label attributes.

The XML file is next to the ARFF file and has the same name, with or without ``-train`` or
``-test``. Nested labels count like any other. Columns keep the order of the ARFF file.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from xml.etree import ElementTree  # nosec B405  # a document type is refused

from manylabel.corpus import arff, names
from manylabel.corpus.checks import require_features, shorten
from manylabel.corpus.corpus import Corpus
from manylabel.corpus.files import Source, atomic_write, bare_stem, open_source
from manylabel.corpus.names import Names
from manylabel.exceptions import CorpusError

__all__ = ["find_xml", "read", "write"]


def find_xml(source: Source) -> Path | None:
    """The XML file that belongs to an ARFF file."""
    if source.folder is None:
        return None
    stem = bare_stem(source.name)
    for name in (stem, re.sub("[-_](train|test)$", "", stem, flags=re.IGNORECASE)):
        candidate = source.folder / f"{name}.xml"
        if candidate.is_file():
            return candidate
    return None


def read(source: Source, labels: Names | None = None) -> Corpus:
    """Read a corpus of features."""
    given = labels if labels is not None else find_xml(source)
    if given is None:
        raise source.error(
            "expected an XML file with the same name next to this file, found none; "
            "name it with `labels`."
        )
    if isinstance(given, str | os.PathLike) and Path(given).suffix.lower() == ".xml":
        wanted = read_xml(given)
    else:
        wanted = names.given_names(given)
    table = arff.read_table(source)
    columns = {attribute.name: index for index, attribute in enumerate(table.attributes)}
    for name in wanted:
        if name not in columns:
            raise source.error(f"expected an attribute for the label {shorten(name)}, found none.")
    return arff.to_corpus(table, [columns[name] for name in wanted])


def read_xml(path: str | os.PathLike[str]) -> list[str]:
    """The names of all labels in Mulan's XML, at any depth."""
    with open_source(path) as source:
        data = source.stream.read()
        without_zeros = data.replace(b"\0", b"")  # finds a document type in UTF-16 or UTF-32 too
        if b"<!DOCTYPE" in without_zeros or b"<!ENTITY" in without_zeros:
            raise source.error("expected XML without a document type, found one.")
        try:
            root = ElementTree.fromstring(data)  # noqa: S314  # nosec B314  # no entities
        except (ElementTree.ParseError, LookupError, ValueError) as error:
            raise source.error(f"expected XML ({error}).") from None
        labels = [element for element in root.iter() if _tag(element) == "label"]
        named = [name for element in labels if (name := element.get("name")) is not None]
        if _tag(root) != "labels" or len(named) < len(labels):
            raise source.error('expected <labels> with elements <label name="...">.')
        return named


def _tag(element: ElementTree.Element) -> str:
    """An element's name without its namespace."""
    return re.sub("{.*}", "", element.tag)


def write(corpus: Corpus, path: str | os.PathLike[str]) -> None:
    """Write features, then labels, as sparse rows, and the XML file."""
    require_features(corpus, path)
    if os.fspath(path) == "-":
        raise CorpusError(
            "Mulan's format consists of two files, so it cannot be written to standard output; "
            "write 'meka' instead.",
            path="-",
        )
    label_names, feature_names = attribute_names(corpus, path)
    for name in label_names:
        if re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", name):
            raise CorpusError(
                f"the label {name!r} contains a character that XML does not allow; rename it.",
                path=str(path),
            )
    with atomic_write(Path(path).parent / f"{bare_stem(path)}.xml") as file:
        file.write(b'<?xml version="1.0" encoding="utf-8"?>\n')
        file.write(b'<labels xmlns="http://mulan.sourceforge.net/labels">\n')
        file.writelines(
            f"<label name={_attribute(name)}></label>\n".encode() for name in label_names
        )
        file.write(b"</labels>\n")
    arff.write_table(corpus, path, label_names, feature_names, labels_first=False)


def _attribute(name: str) -> str:
    """A name as a quoted attribute value."""
    from xml.sax.saxutils import quoteattr  # nosec B406  # only writes; slow to import

    return quoteattr(name, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def attribute_names(corpus: Corpus, path: str | os.PathLike[str]) -> tuple[list[str], list[str]]:
    """Distinct attribute names of labels and features; columns without names get numbered ones."""
    label_names, feature_names = corpus.label_names, corpus.feature_names
    if not corpus.has_label_names:
        label_names = [f"label-{name}" for name in label_names]
    if not corpus.has_feature_names:
        feature_names = [f"feature-{name}" for name in feature_names]
    shared = set(label_names) & set(feature_names)
    if shared:
        raise CorpusError(
            f"ARFF attributes must have distinct names, but {min(shared)!r} is both a feature and "
            "a label; rename one.",
            path=os.fspath(path),
        )
    return label_names, feature_names
