"""Read and count a file of texts in chunks, so that no process needs memory for all texts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manylabel.corpus.corpus import Corpus
from manylabel.corpus.documents import Document
from manylabel.corpus.files import bare_suffix, open_source
from manylabel.corpus.vocabulary import Indicator
from manylabel.exceptions import CorpusError
from manylabel.parallel import map_blocks
from manylabel.text import CountVectorizer
from manylabel.text.blocks import Block

__all__ = ["TextFile", "read_in_chunks"]

#: Bytes per chunk, as many as a vectorizer counts at a time.
CHUNK = 1 << 23
_LINES = ("jsonl", "tsv")


#: For the documents of a chunk: ids, beginnings of texts, numbers of labels, the labels, and the
#: counted texts.
_Counted = tuple[list[str], list[str], list[int], list[str], Block]


def read_in_chunks(
    path: str | os.PathLike[str], vectorizer: CountVectorizer, format: str | None = None
) -> Corpus:
    r"""Read texts and count their words in chunks, in threads or on a cluster.

    The result has counts, ids and labels. No process holds the texts of more than one chunk.

    Parameters
    ----------
    path : path
        JSON Lines or TSV, not compressed, at a path that is valid for all workers.
    vectorizer : CountVectorizer
        Fitted here, with the same result as on all texts at once.
    format : str, optional
        "jsonl" or "tsv"; detected by default.

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
    ...     corpus = read_in_chunks(path, CountVectorizer(stop_words="english"))
    >>> corpus
    <Corpus: 2 documents, 4 features, 2 labels, 1.00 labels per document>
    """
    return TextFile(path, format).count(vectorizer)


class TextFile:
    """A file of texts that is read in chunks, in threads or on a cluster.

    Parameters
    ----------
    path : path
        JSON Lines or TSV, not compressed.
    format : str, optional
        "jsonl" or "tsv"; detected by default.
    """

    def __init__(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        from manylabel.corpus.detection import detect
        from manylabel.corpus.texts import reader_of_lines

        self.name = str(Path(path).absolute())
        with open_source(self.name) as source:
            self.kind = format or detect(source)
            reader = None
            if self.kind in _LINES and bare_suffix(self.name) == Path(self.name).suffix.lower():
                reader = reader_of_lines(source, self.kind)
            if reader is None:
                raise source.error(
                    "reading in chunks needs JSON Lines or TSV in UTF-8, neither quoted nor "
                    "compressed; use `read`, or convert the file."
                )
        #: The detected columns, for the readers of chunks.
        self.detected = reader.to_json()
        self._sizes: list[int] = []

    @classmethod
    def at(cls, path: str | os.PathLike[str], format: str | None = None) -> TextFile | None:
        """The file, or None if it cannot be read in chunks."""
        try:
            return cls(path, format)
        except CorpusError:
            return None

    def count(self, vectorizer: CountVectorizer, n_characters: int | None = None) -> Corpus:
        """Fit a vectorizer to the texts, and return the counts.

        Parameters
        ----------
        vectorizer : CountVectorizer
        n_characters : int, optional
            Keep this many characters of each text in the corpus; by default it has no texts.
        """
        ids: list[str] = []
        texts: list[str] = []
        labels = Indicator()
        self._sizes = []

        def blocks() -> Iterator[Block]:
            for named, beginnings, sizes, flat, block in self._map(
                _count_chunk, vectorizer, n_characters or 0
            ):
                ids.extend(named)
                texts.extend(beginnings)
                rest = iter(flat)
                for size in sizes:
                    labels.add(islice(rest, size))
                self._sizes.append(len(named))
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
            texts=None if n_characters is None else texts,
        )

    def texts(self, rows: ArrayLike) -> list[str]:
        """Full texts of some documents; call :meth:`count` first."""
        wanted = np.asarray(rows, np.int64)
        order = np.argsort(wanted, kind="stable")
        bounds = np.cumsum([0, *self._sizes])
        picked = [text for chunk in self._map(_pick_chunk, wanted[order], bounds) for text in chunk]
        return [picked[position] for position in np.argsort(order).tolist()]

    def _map(self, task: Any, *more: Any) -> Iterator[Any]:
        """The results of a task for each chunk."""
        stat = os.stat(self.name)
        # The modification time is part of the arguments, so that cached results of an older version
        # of the file are not used.
        shared = (self.name, stat.st_mtime_ns, self.kind, self.detected, *more)
        return map_blocks(task, shared, stat.st_size, CHUNK, fixed=True)


def _count_chunk(
    path: str,
    changed: int,
    kind: str,
    detected: str,
    vectorizer: Any,
    n_characters: int,
    start: int,
    stop: int,
) -> _Counted:
    """Count the documents whose lines start in a byte range of a file."""
    documents = _documents(path, changed, kind, detected, start, stop)
    return (
        # An empty id means that there is none.
        [document.id or "" for document in documents],
        [document.full_text[:n_characters] for document in documents],
        [len(document.labels) for document in documents],
        [label for document in documents for label in document.labels],
        vectorizer._counter()([document.full_text for document in documents]),
    )


def _pick_chunk(
    path: str,
    changed: int,
    kind: str,
    detected: str,
    rows: NDArray[np.int64],
    bounds: NDArray[np.int64],
    start: int,
    stop: int,
) -> list[str]:
    """The texts of the rows that are in a chunk, in order."""
    first, end = bounds[start // CHUNK], bounds[start // CHUNK + 1]
    mine = rows[np.searchsorted(rows, first) : np.searchsorted(rows, end)] - first
    if mine.size == 0:
        return []
    documents = _documents(path, changed, kind, detected, start, stop)
    return [documents[row].full_text for row in mine.tolist()]


def _documents(
    path: str, changed: int, kind: str, detected: str, start: int, stop: int
) -> list[Document]:
    """The documents whose lines start in a byte range of a file."""
    from manylabel.corpus.texts import chunk_of_lines

    if os.stat(path).st_mtime_ns != changed:
        raise CorpusError("the file changed while it was being read; read it again.", path)
    return list(chunk_of_lines(path, kind, detected, start, stop))
