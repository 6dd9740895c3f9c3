"""Single documents, and collecting a stream of them into a corpus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from manylabel.corpus.corpus import Corpus, titled
from manylabel.corpus.vocabulary import Indicator
from manylabel.exceptions import CorpusError, InputError

__all__ = ["Document", "collect"]


class Document(NamedTuple):
    """One document of a stream.

    Attributes
    ----------
    id : str or None
        Its name, if the file has one.
    text : str
    labels : list of str
    title : str or None
    line : int or None
        The line in its file where it starts.
    incomplete : bool
        Whether missing labels are unknown, not false.
    """

    id: str | None
    text: str
    labels: list[str]
    title: str | None = None
    line: int | None = None
    incomplete: bool = False

    @property
    def full_text(self) -> str:
        """The title and the text."""
        return titled(self.title, self.text)


def collect(
    documents: Iterable[Document], path: str, label_names: Sequence[str] | None = None
) -> Corpus:
    """Collect a stream of documents into a corpus.

    A document without an id is named by its row number. A missing title is empty if others have
    one.
    """
    ids: list[str | None] = []
    texts: list[str] = []
    titles: list[str | None] = []
    labels = Indicator(label_names)
    for document in documents:
        ids.append(document.id)
        texts.append(document.text)
        titles.append(document.title)
        try:
            labels.add(document.labels)
        except InputError as error:
            raise CorpusError(str(error), path, document.line) from None
    if not texts:
        raise CorpusError("expected at least one document, found none.", path)
    Y, names = labels.finish()
    return Corpus(
        None,
        Y,
        ids=None
        if all(name is None for name in ids)
        else [str(row) if name is None else name for row, name in enumerate(ids)],
        label_names=names,
        texts=texts,
        titles=None
        if all(title is None for title in titles)
        else [title or "" for title in titles],
    )
