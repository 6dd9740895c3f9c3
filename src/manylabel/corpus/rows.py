"""Rows ``label,label feature:value ...`` of Extreme Classification text and svmlight."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.corpus.checks import NUMBER, shorten
from manylabel.corpus.corpus import Corpus
from manylabel.corpus.files import Source
from manylabel.wording import counted

__all__ = ["LIMIT", "Rows", "format_rows", "number", "parse_rows"]

#: Maximum number of columns: kernels use 32-bit column numbers.
LIMIT = 2**31 - 1

_WHOLE = re.compile(r"\d+", re.ASCII)


@dataclass
class Rows:
    """The rows read so far: lists of arrays, one array per block."""

    source: Source
    labels: list[NDArray[np.int32]] = field(default_factory=list)
    label_counts: list[NDArray[np.int64]] = field(default_factory=list)
    features: list[NDArray[np.int32]] = field(default_factory=list)
    values: list[NDArray[np.float64]] = field(default_factory=list)
    feature_counts: list[NDArray[np.int64]] = field(default_factory=list)
    lines: list[NDArray[np.int64]] = field(default_factory=list)
    increasing: bool = True
    n_rows: int = 0
    n_lines: int = 0

    def all_features(self) -> NDArray[np.int32]:
        """All features, numbered as in the file, row after row."""
        return _joined(self.features, np.int32)

    def all_labels(self) -> NDArray[np.int32]:
        """All labels, row after row."""
        return _joined(self.labels, np.int32)

    def line_of(self, what: str, entry: int) -> int:
        """The line of an entry of `all_features` or `all_labels`."""
        counts = self.feature_counts if what == "feature" else self.label_counts
        row = int(np.searchsorted(_bounds(counts), entry, side="right")) - 1
        return int(_joined(self.lines, np.int64)[row])

    def matrix(self, n_features: int, base: int = 0) -> sparse.csr_array:
        """The values as a canonical matrix; ``base`` is the number of the first column."""
        matrix = sparse.csr_array(
            (
                _joined(self.values, np.float64),
                self.all_features() - np.int32(base),
                _bounds(self.feature_counts),
            ),
            shape=(self.n_rows, n_features),
        )
        if not self.increasing:
            matrix.sort_indices()
            again = matrix.indices[1:] == matrix.indices[:-1]
            starts = matrix.indptr[1:-1]
            again[starts[(starts > 0) & (starts < matrix.nnz)] - 1] = False
            if again.any():
                entry = int(np.argmax(again))
                feature = matrix.indices[entry] + base
                raise self.source.error(
                    f"expected each feature once, found feature {feature} twice.",
                    self.line_of("feature", entry),
                )
        matrix.eliminate_zeros()
        return matrix

    def indicator(self, n_labels: int) -> sparse.csr_array:
        """The labels as a canonical indicator matrix; repeated labels count once."""
        columns = self.all_labels()
        matrix = sparse.csr_array(
            (np.ones(columns.size, np.int8), columns, _bounds(self.label_counts)),
            shape=(self.n_rows, n_labels),
        )
        matrix.sum_duplicates()
        matrix.data[:] = 1
        return matrix


def parse_rows(
    source: Source,
    first_line: int,
    n_labels: int = LIMIT,
    n_features: int = LIMIT,
    *,
    loose: bool = False,
    max_rows: int | None = None,
) -> Rows:
    """Read the rest of a file as rows.

    Parameters
    ----------
    source : Source
    first_line : int
        The number of the next line.
    n_labels, n_features : int
        Refuse columns from these numbers on.
    loose : bool
        Skip blank lines and comments, as in svmlight; otherwise each line is a row.
    max_rows : int, optional
        Refuse more rows; blank lines after the last row do not count.
    """
    from manylabel.kernels import corpus_parsing

    rows = Rows(source)
    line = first_line
    for text in source.blocks():
        block = np.frombuffer(text, np.uint8)
        # The maximum that the block can need.
        n_lines, capacity = text.count(b"\n") + 1, text.count(b":")
        label_capacity = n_lines + text.count(b",")
        labels, label_ends = np.empty(label_capacity, np.int32), np.empty(n_lines, np.int64)
        features, feature_ends = np.empty(capacity, np.int32), np.empty(n_lines, np.int64)
        values, row_lines = np.empty(capacity), np.empty(n_lines, np.int64)
        long_entries, long_bounds = np.empty(capacity, np.int64), np.empty((capacity, 2), np.int64)
        n, n_long, n_lines, bad, increasing = corpus_parsing.parse_rows(
            block, n_labels, n_features, loose, labels, label_ends, features, values,
            feature_ends, row_lines, long_entries, long_bounds,
        )  # fmt: skip
        if bad >= 0:
            explain(source, text, bad, line, n_labels, n_features, loose)
        for entry, (start, stop) in zip(
            long_entries[:n_long].tolist(), long_bounds[:n_long].tolist(), strict=True
        ):
            values[entry] = float(text[start:stop])
            if math.isinf(values[entry]):
                row = int(np.searchsorted(feature_ends[:n], entry, side="right"))
                explain(source, text, row_lines[row], line, n_labels, n_features, loose)
        label_counts = np.diff(label_ends[:n], prepend=0)
        feature_counts = np.diff(feature_ends[:n], prepend=0)
        if max_rows is not None and rows.n_rows + n > max_rows:
            n = max_rows - rows.n_rows
            filled = (label_counts + feature_counts)[n:] > 0
            if filled.any():
                raise source.error(
                    f"expected {counted(max_rows, 'row')} as in the header, found more.",
                    line + int(row_lines[n + np.argmax(filled)]),
                )
            label_counts, feature_counts = label_counts[:n], feature_counts[:n]
        rows.labels.append(labels[: label_counts.sum()].copy())
        rows.label_counts.append(label_counts)
        rows.features.append(features[: feature_counts.sum()].copy())
        rows.values.append(values[: feature_counts.sum()].copy())
        rows.feature_counts.append(feature_counts)
        rows.lines.append(row_lines[:n] + line)
        rows.increasing &= bool(increasing)
        rows.n_rows += n
        line += n_lines
    rows.n_lines = line - 1
    return rows


def explain(
    source: Source,
    text: bytes,
    position: int,
    first_line: int,
    n_labels: int,
    n_features: int,
    loose: bool,
) -> NoReturn:
    """Raise an error that says what is wrong with a line of a block."""
    number = first_line + int(position)
    line = source.decode(text.split(b"\n", position + 1)[position], number).removesuffix("\r")
    if loose:
        line = line.split("#", 1)[0]
    head, *pairs = re.split("[ \t]+", line)
    if ":" in head:
        pairs.insert(0, head)
    elif head:
        for label in head.split(","):
            if not _WHOLE.fullmatch(label):
                raise source.error(
                    f"expected whole numbers as labels, separated by commas, "
                    f"found {shorten(label)}.",
                    number,
                )
            if int(label[:20]) >= n_labels:
                raise source.error(
                    f"expected labels below {n_labels}, found {shorten(label)}.", number
                )
    for pair in filter(None, pairs):
        feature, colon, value = pair.partition(":")
        if not colon or not _WHOLE.fullmatch(feature):
            raise source.error(
                f"expected 'feature:value' with a whole number as feature, found {shorten(pair)}.",
                number,
            )
        if int(feature[:20]) >= n_features:
            raise source.error(
                f"expected features below {n_features}, found {shorten(feature)}.", number
            )
        if not NUMBER.fullmatch(value) or math.isinf(float(value)):
            raise source.error(
                f"expected a finite number as the value of feature {feature}, "
                f"found {shorten(value)}.",
                number,
            )
    raise source.error("expected 'label,label feature:value ...'.", number)


def format_rows(corpus: Corpus, base: int = 0) -> Iterator[str]:
    """The lines of a corpus, without line ends."""
    assert corpus.X is not None
    step = 1 << 14
    for first in range(0, len(corpus), step):
        X, Y = corpus.X[first : first + step], corpus.Y[first : first + step]
        columns = (X.indices + base).tolist()
        pairs = [f"{f}:{number(v)}" for f, v in zip(columns, X.data.tolist(), strict=True)]
        labels = list(map(str, Y.indices.tolist()))
        bounds = zip(pairwise(Y.indptr.tolist()), pairwise(X.indptr.tolist()), strict=True)
        for (label_start, label_stop), (start, stop) in bounds:
            yield " ".join([",".join(labels[label_start:label_stop]), *pairs[start:stop]])


def number(value: float) -> str:
    """The shortest text that reads back as the same number.

    Examples
    --------
    >>> number(3.0), number(0.1)
    ('3', '0.1')
    """
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def _joined(parts: list[Any], dtype: Any) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, dtype)


def _bounds(counts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(_joined(counts, np.int64))])
