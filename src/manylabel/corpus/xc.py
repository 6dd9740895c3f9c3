"""Extreme Classification text: a line ``N M L``, then rows ``label,label feature:value ...``.

Columns are counted from 0. A row without labels starts with a space or its first feature; a blank
line is a row without labels and features. Repeated features in a row are refused; repeated labels
count once. Negative values are allowed; NaN and infinity are refused. Names of labels and features
may be in files next to the corpus, one per line: ``labels.txt`` and ``features.txt``.
"""

from __future__ import annotations

import os
import re

from manylabel.corpus import names
from manylabel.corpus.checks import require_features, shorten
from manylabel.corpus.corpus import Corpus
from manylabel.corpus.files import Source, atomic_write
from manylabel.corpus.names import Names
from manylabel.corpus.rows import LIMIT, format_rows, parse_rows
from manylabel.wording import counted

__all__ = ["HEADER", "read", "write"]

HEADER = re.compile(r"\s*(\d+)\s+(\d+)\s+(\d+)\s*", re.ASCII)


def read(
    source: Source,
    labels: Names | None = None,
    features: Names | None = None,
) -> Corpus:
    """Read a corpus of features."""
    line = source.decode(source.stream.readline(), 1)
    header = HEADER.fullmatch(line)
    if header is None:
        raise source.error(
            "expected a header of three whole numbers (rows, features, labels), "
            f"found {shorten(line.rstrip())}.",
            1,
        )
    n_rows, n_features, n_labels = (int(size[:20]) for size in header.groups())
    if max(n_features, n_labels) > LIMIT:
        raise source.error(f"expected at most {LIMIT} features and labels.", 1)
    rows = parse_rows(source, 2, n_labels, n_features, max_rows=n_rows)
    if rows.n_rows < n_rows:
        raise source.error(
            f"expected {counted(n_rows, 'row')} as in the header, found {rows.n_rows}.",
            rows.n_lines,
        )
    return Corpus(
        rows.matrix(n_features),
        rows.indicator(n_labels),
        label_names=names.find(source, "labels", labels, n_labels),
        feature_names=names.find(source, "features", features, n_features),
    )


def write(corpus: Corpus, path: str | os.PathLike[str]) -> None:
    """Write features and labels, and files with their names if there are any."""
    X = require_features(corpus, path)
    names.write_beside(corpus, path)
    with atomic_write(path) as file:
        file.write(f"{len(corpus)} {X.shape[1]} {corpus.n_labels}\n".encode())
        file.writelines(f"{line}\n".encode() for line in format_rows(corpus))
