"""Documents one at a time, and the corpus that a stream of them makes."""

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
        Its name, if the file gives one.
    text : str
    labels : list of str
    title : str or None
    line : int or None
        Where it begins in its file.
    incomplete : bool
        Whether labels that it lacks are unknown, not wrong.
    """

    id: str | None
    text: str
    labels: list[str]
    title: str | None = None
    line: int | None = None
    incomplete: bool = False

    @property
    def full_text(self) -> str:
        """The text below its title."""
        return titled(self.title, self.text)


def collect(
    documents: Iterable[Document], path: str, label_names: Sequence[str] | None = None
) -> Corpus:
    """A corpus of all the documents of a stream.

    A document without a name is named after its row, a missing title is empty if others have one.
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
