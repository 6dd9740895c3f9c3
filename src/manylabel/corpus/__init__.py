"""Read and write corpora: formats, splits, statistics, the bundled corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manylabel.corpus.corpus import Corpus
from manylabel.corpus.documents import Document
from manylabel.corpus.file_limits import limits
from manylabel.public import lazy_exports

if TYPE_CHECKING:
    from manylabel.corpus.catalogue import load_catalogue
    from manylabel.corpus.formats import iter_documents, read, write

__all__ = ["Corpus", "Document", "iter_documents", "limits", "load_catalogue", "read", "write"]

# A model that is loaded reads no files: import the formats on first use.
__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "iter_documents": "manylabel.corpus.formats",
        "load_catalogue": "manylabel.corpus.catalogue",
        "read": "manylabel.corpus.formats",
        "write": "manylabel.corpus.formats",
    },
    "Corpus",
    "Document",
    "limits",
)
