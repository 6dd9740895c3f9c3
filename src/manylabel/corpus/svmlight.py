"""Multi-label svmlight: one row ``label,label feature:value ...`` per line, without a header.

Blank lines and everything after ``#`` are skipped. Labels keep their numbers. Features are counted
from 0 if a feature 0 occurs and from 1 otherwise, unless `zero_based` or a comment at the top
specifies it: a test file may lack the feature 0 that its training file has. Otherwise rows are as
in Extreme Classification text, and names may be in files next to the corpus in the same way.

`write` puts the sizes into a comment at the top, which `read` uses and other programs skip.
"""

from __future__ import annotations

import os
import re

import numpy as np

from manylabel.corpus import names
from manylabel.corpus.checks import require_features
from manylabel.corpus.corpus import Corpus
from manylabel.corpus.files import Source, atomic_write
from manylabel.corpus.names import Names
from manylabel.corpus.rows import LIMIT, Rows, format_rows, parse_rows
from manylabel.exceptions import CorpusError
from manylabel.wording import counted

__all__ = ["read", "write"]

_SIZES = re.compile(
    r"#\s*(\d{1,15}) rows, (\d{1,15}) features from ([01]), (\d{1,15}) labels", re.ASCII
)
# Written by scikit-learn's `dump_svmlight_file`.
_BASE = re.compile(r"#\s*Column indices are (zero|one)-based", re.ASCII)


def read(
    source: Source,
    labels: Names | None = None,
    features: Names | None = None,
    zero_based: bool | None = None,
) -> Corpus:
    """Read a corpus of features."""
    n_rows, n_features, n_labels, base = _comments(source)
    if zero_based is not None:
        base = 0 if zero_based else 1
    label_names = names.find(source, "labels", labels, n_labels)
    feature_names = names.find(source, "features", features, n_features)
    rows = parse_rows(source, 1, loose=True)
    if n_rows is None and rows.n_rows == 0:
        raise source.error("expected at least one row, found none.")
    if n_rows is not None and rows.n_rows != n_rows:
        raise source.error(
            f"expected {counted(n_rows, 'row')} as in the comment, found {rows.n_rows}."
        )
    sized = n_features is not None or feature_names is not None
    used = rows.all_features()
    if base is None:
        base = 1 if used.size and used.min() > 0 else 0
    n_features = _size("feature", rows, used, base, n_features, feature_names)
    n_labels = _size("label", rows, rows.all_labels(), 0, n_labels, label_names)
    return Corpus(
        rows.matrix(n_features, base),
        rows.indicator(n_labels),
        label_names=label_names,
        feature_names=feature_names,
        sized=sized,
    )


def _comments(source: Source) -> tuple[int | None, int | None, int | None, int | None]:
    """Numbers of rows, features and labels, and the first feature's number, from comments."""
    base = None
    for line in source.peek().decode("utf-8", "replace").splitlines():
        if not line.startswith("#"):
            break
        sizes = _SIZES.match(line)
        if sizes is not None:
            n_rows, n_features, base, n_labels = map(int, sizes.groups())
            if max(n_features, n_labels) > LIMIT:
                raise source.error(f"expected at most {LIMIT} features and labels.", 1)
            return n_rows, n_features, n_labels, base
        stated = _BASE.match(line)
        if stated is not None:
            base = 0 if stated[1] == "zero" else 1
    return None, None, None, base


def _size(
    what: str,
    rows: Rows,
    used: np.ndarray,
    base: int,
    declared: int | None,
    named: list[str] | None,
) -> int:
    """The number of columns; columns outside the declared range are refused."""
    if named is not None:
        declared = len(named)
    size = declared if declared is not None else int(used.max(initial=base - 1)) + 1 - base
    outside = (used < base) | (used >= size + base)
    if outside.any():
        entry = int(np.argmax(outside))
        raise rows.source.error(
            f"expected {what}s from {base} to {size + base - 1}, found {used[entry]}.",
            rows.line_of(what, entry),
        )
    return size


def write(corpus: Corpus, path: str | os.PathLike[str]) -> None:
    """Write features and labels, counted from 0, and files with their names if there are any."""
    X = require_features(corpus, path)
    empty = (np.diff(X.indptr) == 0) & (np.diff(corpus.Y.indptr) == 0)
    if empty.any() and X.shape[1] == 0:
        raise CorpusError(
            "a row without labels and features would be a blank line, which readers skip; "
            "write Extreme Classification text instead.",
            path=os.fspath(path),
        )
    names.write_beside(corpus, path)
    with atomic_write(path) as file:
        sizes = f"# {len(corpus)} rows, {X.shape[1]} features from 0, {corpus.n_labels} labels\n"
        file.write(sizes.encode())
        for row, line in enumerate(format_rows(corpus)):
            # An explicit zero keeps an empty row.
            file.write((" 0:0" if empty[row] else line).encode() + b"\n")
