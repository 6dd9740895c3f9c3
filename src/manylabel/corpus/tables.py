"""Rows of the tables of texts that are written: TSV and CSV.

The columns are ``text`` and ``labels``, and ``id`` and ``title`` if the corpus has them. Labels are
joined by a separator, or written as a JSON list if a reader could detect another separator.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import islice

from manylabel.corpus.cells import guess_separator
from manylabel.corpus.checks import require_texts
from manylabel.corpus.columns import SAMPLE
from manylabel.corpus.corpus import Corpus
from manylabel.exceptions import CorpusError, ParameterError

__all__ = ["rows_of"]


def rows_of(corpus: Corpus, path: str | os.PathLike[str], separator: str) -> Iterator[list[str]]:
    """The header and the rows of a corpus; an error for labels that cannot be read back."""
    if not separator or separator.isspace() or separator in "<>":
        raise ParameterError(f"`separator` must not be empty, a space, < or >; got {separator!r}.")
    texts = require_texts(corpus, path)
    _check_label_names(corpus, path, separator)
    named = corpus.has_ids or corpus.titles is not None
    optional = {"id": corpus.ids if named else None, "title": corpus.titles}
    shown = {name: values for name, values in optional.items() if values is not None}
    yield [*shown, "text", "labels"]
    as_lists = _need_lists(corpus, separator)
    for row, labels in enumerate(corpus.label_lists()):
        cell = separator.join(labels)
        if as_lists and labels:
            cell = json.dumps(labels, ensure_ascii=False)
        yield [*(values[row] for values in shown.values()), texts[row], cell]


def _need_lists(corpus: Corpus, separator: str) -> bool:
    """Whether to write labels as JSON lists, because a reader would detect another separator."""
    cells = (separator.join(labels) for labels in islice(corpus.label_lists(), SAMPLE))
    is_guessed = guess_separator(cells) == separator or separator != ";"
    return not is_guessed or any(name.startswith("[") for name in corpus.label_names)


def _check_label_names(corpus: Corpus, path: str | os.PathLike[str], separator: str) -> None:
    used = set(corpus.Y.indices.tolist())
    for label, name in enumerate(corpus.label_names):
        if label in used and (
            not name or name != name.strip() or separator in name or name.startswith("<")
        ):
            raise CorpusError(
                f"the label {name!r} cannot be read back: it is empty, starts or ends with a "
                f"space, starts with '<' or contains the separator {separator!r}. Write JSON Lines "
                "instead, or choose another separator.",
                path=os.fspath(path),
            )
