"""A file of texts, read and counted by workers: no process ever has all the texts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from manylabel.corpus import Corpus
from manylabel.corpus.detection import detect
from manylabel.corpus.files import Source, bare_suffix, open_source
from manylabel.corpus.tables import header_columns
from manylabel.corpus.vocabulary import Indicator
from manylabel.exceptions import CorpusError
from manylabel.parallel import map_blocks
from manylabel.text import CountVectorizer
from manylabel.text.blocks import Block

__all__ = ["read_parts"]

#: Bytes of a part: as many as a vectorizer counts at once.
PART = 1 << 23
_LINES = ("jsonl", "tsv")


#: Of the documents of a part: ids, how many labels each has, the labels, and the counted texts.
_Counted = tuple[list[str], list[int], list[str], Block]


def read_parts(
    path: str | os.PathLike[str], vectorizer: CountVectorizer, format: str | None = None
) -> Corpus:
    r"""Read texts and count their words, part by part, wherever blocks run.

    The client gets counts, ids and labels; no process holds the texts of more than a part.

    Parameters
    ----------
    path : path
        JSON Lines or TSV, not compressed, where all workers see it.
    vectorizer : CountVectorizer
        Is fitted, as by the whole of the texts.
    format : {"jsonl", "tsv"}, optional
        By default found out.

    Returns
    -------
    Corpus
        With features and without texts.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "pets.tsv"
    ...     _ = path.write_text("a cat sleeps\tcats\nthe dog barks\tdogs\n")
    ...     corpus = read_parts(path, CountVectorizer(stop_words="english"))
    >>> corpus
    <Corpus: 2 documents, 4 features, 2 labels, 1.00 labels a document>
    """
    name = str(Path(path).absolute())
    with open_source(name) as source:
        kind = format or detect(source)
        if kind not in _LINES or bare_suffix(name) != Path(name).suffix.lower():
            raise source.error(
                "parts can be read of JSON Lines and TSV that are not compressed; use `read`, or "
                "convert the file."
            )
        first = source.peek().split(b"\n", 1)[0].decode("utf-8", "replace")
    has_header = kind == "tsv" and header_columns(first.split("\t")) is not None
    header = first if has_header else ""
    stat = os.stat(name)
    ids: list[str] = []
    labels = Indicator()

    def blocks() -> Iterator[Block]:
        # The time of the last change is there so that another file is another piece of work.
        shared = (name, stat.st_mtime_ns, kind, header, vectorizer)
        for named, sizes, flat, block in map_blocks(
            _count_part, shared, stat.st_size, PART, fixed=True
        ):
            ids.extend(named)
            rest = iter(flat)
            for size in sizes:
                labels.add(islice(rest, size))
            if named:
                yield block

    X = vectorizer._fit_blocks(blocks(), vectorizer._counter().rules)
    Y, label_names = labels.finish()
    return Corpus(
        X,
        Y,
        ids=[name or str(row) for row, name in enumerate(ids)],
        feature_names=list(vectorizer.get_feature_names_out()),
        label_names=label_names,
    )


def _count_part(
    path: str, changed: int, kind: str, header: str, vectorizer: Any, start: int, stop: int
) -> _Counted:
    """Count the documents whose lines begin between two bytes of a file."""
    if os.stat(path).st_mtime_ns != changed:
        raise CorpusError("the file was changed while it was read; read it again.", path)
    documents = list(
        import_module(f"manylabel.corpus.{kind}").iter_documents(_Lines(path, header, start, stop))
    )
    return (
        # An empty name stands for none.
        [document.id or "" for document in documents],
        [len(document.labels) for document in documents],
        [label for document in documents for label in document.labels],
        vectorizer._counter()([document.text for document in documents]),
    )


class _Lines(Source):
    """The lines that begin between two bytes of a file, below its header."""

    def __init__(self, path: str, header: str, start: int, stop: int) -> None:
        self.name = path
        self._header, self._start, self._stop = header, start, stop

    def error(self, message: str, line: int | None = None) -> CorpusError:
        """An error; of lines, only the first part knows the number."""
        where = "" if line is None else f" in line {line} of the lines from byte {self._start} on"
        return CorpusError(f"{message.rstrip('.')}{where}.", self.name)

    def raw_lines(self) -> Iterator[tuple[int, str]]:
        if self._header and self._start > 0:
            yield 0, f"{self._header}\n"
        with open(self.name, "rb") as file:
            if self._start > 0:
                # The line that the byte before belongs to is another part's.
                file.seek(self._start - 1)
                file.readline()
            number = 0
            while file.tell() < self._stop and (line := file.readline()):
                number += 1
                if file.tell() == len(line):
                    line = line.removeprefix(b"\xef\xbb\xbf")
                yield number, self.decode(line, number)
