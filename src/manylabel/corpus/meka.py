"""MEKA's ARFF: ``-C n`` in the relation's name declares the label attributes.

Labels are the first n attributes, or the last n if the number is negative.
"""

from __future__ import annotations

import os
import re

from manylabel.corpus import arff, mulan
from manylabel.corpus.corpus import Corpus
from manylabel.corpus.files import Source
from manylabel.corpus.names import Names
from manylabel.wording import counted

__all__ = ["read", "write"]

_OPTION = re.compile(r"(?:^|[\s:])-C\s+(-?\d{1,9})(?!\d)", re.ASCII)


def read(source: Source, labels: Names | None = None) -> Corpus:
    """Read a corpus of features; ``labels``, if given, name the label attributes instead."""
    if labels is not None:
        return mulan.read(source, labels)
    table = arff.read_table(source)
    option = _OPTION.search(table.relation)
    if option is None:
        raise source.error(
            "expected '-C n' in the relation's name or an XML file next to this file, found "
            "neither; name the label attributes with `labels`."
        )
    n_labels, n_attributes = int(option[1]), len(table.attributes)
    if abs(n_labels) > n_attributes:
        raise source.error(
            f"expected at most {counted(n_attributes, 'label')} after -C, as many as there are "
            f"attributes, found {n_labels}."
        )
    positions = range(n_labels) if n_labels > 0 else range(n_attributes + n_labels, n_attributes)
    return arff.to_corpus(table, positions)


def write(corpus: Corpus, path: str | os.PathLike[str]) -> None:
    """Write labels, then features, as sparse rows."""
    label_names, feature_names = mulan.attribute_names(corpus, path)
    arff.write_table(corpus, path, label_names, feature_names, labels_first=True)
