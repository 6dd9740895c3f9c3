"""Read and write corpora: formats, splits, statistics, the bundled corpus."""

from __future__ import annotations

from manylabel.corpus.catalogue import load_catalogue
from manylabel.corpus.corpus import Corpus
from manylabel.corpus.documents import Document
from manylabel.corpus.file_limits import limits
from manylabel.corpus.formats import iter_documents, read, write

__all__ = ["Corpus", "Document", "iter_documents", "limits", "load_catalogue", "read", "write"]
