"""ARFF, Weka's format, which Mulan and MEKA use for multi-label data; sparse and dense.

Attributes are numeric or nominal. A nominal attribute whose values are all numbers becomes these
numbers. One with two values such as no and yes, or false and true, becomes 0 and 1. Any other
becomes a column ``name=value`` for each of its values. An attribute that a sparse row omits has the
value 0 if it is numeric, and *the first of its declared values* if it is nominal. Strings, dates
and missing values (``?``) are refused.
"""

from __future__ import annotations

import math
import os
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from manylabel.corpus.arff_rows import Attribute, BadRowError, Decoder
from manylabel.corpus.arff_words import quote, split_words, take_word, unquote
from manylabel.corpus.checks import NUMBER, require_features, shorten
from manylabel.corpus.corpus import Corpus
from manylabel.corpus.files import Source, atomic_write, bare_stem
from manylabel.corpus.rows import number
from manylabel.corpus.vocabulary import first_repeated

__all__ = ["Table", "read_table", "to_corpus", "write_table"]

_BINARY_WORDS = {
    word: value
    for value, words in enumerate(("no n false f off absent", "yes y true t on present"))
    for word in words.split()
}
_NUMERIC = ("numeric", "real", "integer")


@dataclass
class Table:
    """The contents of a file: declarations, and all columns as one matrix."""

    source: Source
    relation: str = ""
    attributes: list[Attribute] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    matrix: sparse.csr_array | None = None
    lines: array[int] = field(default_factory=lambda: array("q"))


def read_table(source: Source) -> Table:
    """Read the declarations and the data."""
    table = Table(source)
    lines = (
        (position, line.strip())
        for position, line in source.lines()
        if line.strip() and not line.lstrip().startswith("%")
    )
    last = 1
    for last, line in lines:
        keyword = line.split(None, 1)[0].lower()
        if keyword == "@relation":
            table.relation = unquote(line[len(keyword) :].strip())
        elif keyword == "@attribute":
            table.attributes.append(_attribute(source, line[len(keyword) :], last))
        elif keyword == "@data":
            break
        else:
            raise source.error(
                f"expected @relation, @attribute or @data, found {shorten(line)}.", last
            )
    else:
        raise source.error("expected a line @data, found the end of the file.", last)
    table.columns = [name for attribute in table.attributes for name in attribute.columns]
    repeated = first_repeated(table.columns)
    if repeated is not None:
        raise source.error(f"expected distinct attributes, found {shorten(repeated)} twice.", last)
    _read_data(table, lines)
    return table


def _word(source: Source, text: str, line: int) -> tuple[str, str]:
    """The first word of a declaration, unquoted, and the rest."""
    taken = take_word(text)
    if taken is None:
        raise source.error(
            f"expected a name, quoted if it has spaces, found {shorten(text)}.", line
        )
    return taken


def _attribute(source: Source, text: str, line: int) -> Attribute:
    name, kind = _word(source, text, line)
    kind = kind.strip()
    if kind.lower() in _NUMERIC:
        return Attribute(name, [name])
    values = split_words(kind[1:-1]) if kind.startswith("{") and kind.endswith("}") else None
    if not values:
        raise source.error(
            f"expected numeric or {{value,value,...}} as the type of {shorten(name)}, "
            f"found {shorten(kind)}.",
            line,
        )
    if len(set(values)) != len(values):
        raise source.error(f"expected distinct values of {shorten(name)}.", line)
    columns = [name]
    if all(NUMBER.fullmatch(value) and math.isfinite(float(value)) for value in values):
        codes = {value: (0, float(value)) for value in values}
    elif len(values) == 2 and {_BINARY_WORDS.get(value.lower()) for value in values} == {0, 1}:
        codes = {value: (0, float(_BINARY_WORDS[value.lower()])) for value in values}
    else:
        columns = [f"{name}={value}" for value in values]
        codes = {value: (position, 1.0) for position, value in enumerate(values)}
    return Attribute(name, columns, codes, codes[values[0]])


def _read_data(table: Table, lines: Iterator[tuple[int, str]]) -> None:
    """Fill the matrix."""
    decoder = Decoder(table.attributes)
    columns, values, bounds = array("q"), array("d"), array("q", [0])
    for line, text in lines:
        try:
            cells = decoder.sparse(text) if text.startswith("{") else decoder.dense(text)
        except BadRowError as error:
            raise table.source.error(str(error), line) from None
        for column, value in cells:
            if value:
                columns.append(column)
                values.append(value)
        bounds.append(len(columns))
        table.lines.append(line)
    table.matrix = sparse.csr_array(
        (np.array(values), np.array(columns, dtype=np.int64), np.array(bounds, dtype=np.int64)),
        shape=(len(bounds) - 1, len(table.columns)),
    )
    table.matrix.sort_indices()


def to_corpus(table: Table, labels: Sequence[int]) -> Corpus:
    """Split the attributes into labels, given by their positions, and features."""
    assert table.matrix is not None
    is_label = np.zeros(len(table.columns), bool)
    first_columns = np.cumsum([0, *(len(attribute.columns) for attribute in table.attributes)])
    for position in labels:
        attribute = table.attributes[position]
        if len(attribute.columns) > 1:
            raise table.source.error(
                f"expected {{0,1}} as the type of the label {shorten(attribute.name)}, found words."
            )
        is_label[first_columns[position]] = True
    Y = table.matrix[:, np.flatnonzero(is_label)]
    wrong = Y.data != 1
    if wrong.any():
        entry = int(np.argmax(wrong))
        row = int(np.searchsorted(Y.indptr, entry, side="right")) - 1
        name = table.columns[np.flatnonzero(is_label)[Y.indices[entry]]]
        raise table.source.error(
            f"expected 0 or 1 as the label {shorten(name)}, found {number(float(Y.data[entry]))}.",
            table.lines[row],
        )
    return Corpus(
        table.matrix[:, np.flatnonzero(~is_label)],
        Y,
        feature_names=[table.columns[column] for column in np.flatnonzero(~is_label)],
        label_names=[table.columns[column] for column in np.flatnonzero(is_label)],
    )


def write_table(
    corpus: Corpus,
    path: str | os.PathLike[str],
    label_names: Sequence[str],
    feature_names: Sequence[str],
    *,
    labels_first: bool,
) -> None:
    """Write sparse rows; labels are ``{0,1}``, features numeric."""
    X = require_features(corpus, path)
    relation = "corpus" if os.fspath(path) == "-" else bare_stem(path)
    declared = [
        [f"@attribute {quote(name)} numeric\n" for name in feature_names],
        [f"@attribute {quote(name)} {{0,1}}\n" for name in label_names],
    ]
    parts = [X, corpus.Y.astype(np.float64)]
    if labels_first:
        relation = f"{relation}: -C {corpus.n_labels}"
        declared.reverse()
        parts.reverse()
    both = sparse.hstack(parts, format="csr")
    with atomic_write(path) as file:
        file.write(f"@relation {quote(relation)}\n\n".encode())
        file.writelines(line.encode() for part in declared for line in part)
        file.write(b"\n@data\n")
        for row in range(both.shape[0]):
            start, stop = both.indptr[row], both.indptr[row + 1]
            pairs = zip(
                both.indices[start:stop].tolist(), both.data[start:stop].tolist(), strict=True
            )
            cells = ",".join(f"{column} {number(value)}" for column, value in pairs)
            file.write(f"{{{cells}}}\n".encode())
