"""Read and count a file of texts in chunks, so that no process needs memory for all texts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from manylabel.corpus.columns import Columns
from manylabel.corpus.corpus import Corpus
from manylabel.corpus.documents import Document
from manylabel.corpus.vocabulary import Indicator
from manylabel.exceptions import CorpusError, InputError
from manylabel.parallel import current_place, map_items
from manylabel.strings import StringFile
from manylabel.text import CountVectorizer
from manylabel.text.blocks import Rows
from manylabel.text.dictionaries import Dictionary, merge_in_tree

__all__ = ["TextFile", "read_in_chunks"]

#: Bytes per chunk, as many as a vectorizer counts at a time.
CHUNK = 1 << 23
#: All bytes of a character in UTF-8 but the first.
_CONTINUES = bytes(range(0x80, 0xC0))


def read_in_chunks(
    path: str | os.PathLike[str], vectorizer: CountVectorizer, format: str | None = None
) -> Corpus:
    r"""Read texts and count their words in chunks, here or on a cluster.

    The result has counts, ids and labels. No process holds the texts of more than a few chunks.

    Parameters
    ----------
    path : path
        JSON Lines, TSV or CSV, plain or compressed. If the workers of a cluster see the file, they
        read JSON Lines and TSV themselves; otherwise this process sends them its lines.
    vectorizer : CountVectorizer
        Fitted here, with the same result as on all texts at once.
    format : str, optional
        "jsonl", "tsv" or "csv"; detected by default.

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
    return TextFile(path, format).count(vectorizer, 0)


class _Counted(NamedTuple):
    """What a worker sends of the documents of a chunk.

    Parameters
    ----------
    ids : list of str
    named : ndarray of bool
        Which documents have an id.
    texts : list of str
        Their beginnings, or as a whole.
    labels : csr_array
        Columns in the order in which labels appear first.
    rows : Rows
    features, words, label_names : Dictionary
    """

    ids: Sequence[str]
    named: NDArray[np.bool_]
    texts: Sequence[str]
    labels: sparse.csr_array
    rows: Rows
    features: Dictionary
    words: Dictionary
    label_names: Dictionary


class TextFile:
    """A file of texts that is read in chunks, here or on a cluster.

    Parameters
    ----------
    path : path
        JSON Lines, TSV or CSV, plain or compressed.
    format : str, optional
        "jsonl", "tsv" or "csv"; detected by default.
    columns : Columns, optional
        The columns that the user has named; the others are detected.
    encoding : str, optional
        Detected by default.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        format: str | None = None,
        columns: Columns | None = None,
        encoding: str | None = None,
    ) -> None:
        self.name = os.fspath(path)
        absolute = self.name if self.name == "-" else str(Path(path).absolute())
        # A server that suggests labels knows the class and reads no file.
        from manylabel.corpus.pieces import form_of

        self.form = form_of(absolute, format, columns, encoding)
        #: Sentences on the detected columns, and on those that are ignored.
        self.notes = self.form.notes
        self._has_ranges = self.form.has_ranges
        self._sizes: list[int] = []

    @classmethod
    def at(cls, path: str | os.PathLike[str], *given: Any) -> TextFile | None:
        """The file, or None if it cannot be read in chunks."""
        try:
            return cls(path, *given)
        except (CorpusError, OSError):
            return None

    def count(self, vectorizer: CountVectorizer, n_characters: int | None = None) -> Corpus:
        """Fit a vectorizer to the texts, and return the counts.

        Parameters
        ----------
        vectorizer : CountVectorizer
        n_characters : int, optional
            Keep this many characters of each text in the corpus, by default all; with 0 it has no
            texts. On a cluster they are kept on the disk.
        """
        vectorizer._check_limits()
        rules = vectorizer._counter().rules
        ids: list[str] = []
        labels: list[sparse.csr_array] = []
        rows: list[Rows] = []
        texts = _texts_here()
        self._sizes = []

        def dictionaries() -> Iterator[tuple[Dictionary, ...]]:
            for counted in self._map(_count_chunk, vectorizer, n_characters):
                if not counted:
                    raise _IsOldError
                chunk = _Counted(*counted)
                self._sizes.append(len(chunk.ids))
                if not chunk.ids:
                    continue
                ids.extend(
                    name if has_name else str(row)
                    for row, (name, has_name) in enumerate(
                        zip(chunk.ids, chunk.named.tolist(), strict=True), len(ids)
                    )
                )
                texts.extend(chunk.texts)
                labels.append(chunk.labels)
                rows.append(chunk.rows)
                yield chunk.features, chunk.label_names, chunk.words

        try:
            merged, positions = merge_in_tree(dictionaries(), n_placed=2)
        except _IsOldError:
            # A line is not in UTF-8: this process must read it to know how to read the others.
            self._has_ranges = False
            return self.count(vectorizer, n_characters)
        if not ids:
            raise CorpusError("expected at least one document, found none.", self.name)
        features, label_names, words = merged
        placed = [(own, at[0]) for own, at in zip(rows, positions, strict=True)]
        X = vectorizer._fit_merged(placed, features, words, rules)
        Y, names = _joined_labels(labels, [at[1] for at in positions], label_names.names)
        return Corpus(
            X,
            Y,
            ids=ids,
            feature_names=list(vectorizer.get_feature_names_out()),
            label_names=names,
            texts=None if n_characters == 0 else texts.finish(),
        )

    def texts(self, rows: ArrayLike) -> list[str]:
        """Full texts of some documents."""
        if not self._sizes:
            self._sizes = list(self._map(_count_documents))
        wanted = np.asarray(rows, np.int64)
        order = np.argsort(wanted, kind="stable")
        bounds = np.cumsum([0, *self._sizes])
        picked = [text for chunk in self._map(_pick_chunk, wanted[order], bounds) for text in chunk]
        return [picked[position] for position in np.argsort(order).tolist()]

    def sample(self, n: int) -> list[str]:
        """Full texts of some documents, evenly spaced: at most ``n``."""
        if not self._sizes:
            self._sizes = list(self._map(_count_documents))
        total = sum(self._sizes)
        return self.texts(np.linspace(0, total - 1, min(n, total)).astype(np.int64))

    def _map(self, task: Any, *more: Any) -> Iterator[Any]:
        """The results of a task for each chunk."""
        from manylabel.corpus.pieces import pieces

        place = current_place()
        if self._has_ranges and (place is None or place.sees_files):
            size = os.path.getsize(self.form.path)
            ranges = [
                (True, number, start, min(start + CHUNK, size))
                for number, start in enumerate(range(0, size, CHUNK))
            ]
            return map_items(task, (self.form.to_json(), *more), ranges)
        # Workers never see the file: what they do depends on its content alone.
        form = replace(self.form, changed=0)
        lines = ((False, *piece) for piece in pieces(self.form, CHUNK))
        return map_items(task, (form.to_json(), *more), lines)


class _IsOldError(Exception):
    """A line is not in UTF-8."""


class _TextsHere:
    """Collects texts in memory."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self.extend = self._texts.extend

    def finish(self) -> list[str]:
        """All texts."""
        return self._texts


def _texts_here() -> _TextsHere | StringFile:
    """Where this process keeps texts: on a cluster, in a file."""
    place = current_place()
    return _TextsHere() if place is None else StringFile(place.scratch)


def _joined_labels(
    parts: list[sparse.csr_array], positions: list[NDArray[np.int32]], names: Sequence[str]
) -> tuple[sparse.csr_array, list[str]]:
    """The labels of all chunks with columns in the order of their names."""
    listed = list(names)
    order = sorted(range(len(listed)), key=listed.__getitem__)
    rank = np.empty(len(listed), np.int64)
    rank[order] = np.arange(len(listed))
    columns = np.concatenate(
        [rank[at[part.indices]] for part, at in zip(parts, positions, strict=True)]
    )
    sizes = np.concatenate([np.diff(part.indptr) for part in parts])
    pointers = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    Y = sparse.csr_array(
        (np.ones(columns.size, np.int8), columns, pointers), shape=(sizes.size, len(listed))
    )
    Y.sort_indices()
    return Y, [listed[column] for column in order]


def _count_chunk(
    form: str, vectorizer: Any, n_characters: int | None, *where: Any
) -> tuple[Any, ...]:
    """Count the documents of a chunk; nothing if they may be in Windows-1252."""
    from manylabel.corpus.pieces import Form

    try:
        documents = _documents(form, where)
    except CorpusError:
        if _may_be_old(form, where):
            return ()
        raise
    labels = Indicator()
    for document in documents:
        try:
            labels.add(document.labels)
        except InputError as error:
            raise CorpusError(str(error), Form.from_json(form).path, document.line) from None
    Y, label_names = labels.unsorted()
    block = vectorizer._counter()([document.full_text for document in documents])
    features, words = block.dictionaries()
    return tuple(
        _Counted(
            [document.id or "" for document in documents],
            np.array([document.id is not None for document in documents], np.bool_),
            [document.full_text[:n_characters] for document in documents],
            Y,
            block.rows,
            features,
            words,
            Dictionary(label_names, np.empty((0, len(label_names)), np.int64)),
        )
    )


def _count_documents(form: str, *where: Any) -> int:
    """The number of documents of a chunk."""
    return len(_documents(form, where))


def _pick_chunk(
    form: str, rows: NDArray[np.int64], bounds: NDArray[np.int64], *where: Any
) -> list[str]:
    """The texts of the rows that are in a chunk, in order."""
    number = where[1]
    first, end = bounds[number], bounds[number + 1]
    mine = rows[np.searchsorted(rows, first) : np.searchsorted(rows, end)] - first
    if mine.size == 0:
        return []
    documents = _documents(form, where)
    return [documents[row].full_text for row in mine.tolist()]


def _documents(form: str, where: tuple[Any, ...]) -> list[Document]:
    """The documents of a chunk."""
    from manylabel.corpus.pieces import Form, Piece, Range

    is_range, *place = where
    return list(Form.from_json(form).documents(Range(*place) if is_range else Piece(*place)))


def _may_be_old(form: str, where: tuple[Any, ...]) -> bool:
    """Whether a range of a table is not in UTF-8."""
    from manylabel.corpus.pieces import Form
    from manylabel.corpus.texts import MAY_BE_OLD

    is_range, _, start, stop = where
    told = Form.from_json(form)
    if not is_range or told.kind not in MAY_BE_OLD or told.encoding is not None:
        return False
    with open(told.path, "rb") as file:
        file.seek(start)
        data = file.read(stop - start)
    # A character may be cut at both ends.
    cut = len(data) - len(data.lstrip(_CONTINUES))
    try:
        data[min(cut, 3) :].decode()
    except UnicodeDecodeError as error:
        return error.start + cut < len(data) - 4
    return False
