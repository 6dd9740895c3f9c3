"""The bundled corpus: the catalogue of a small, invented public library."""

from __future__ import annotations

from importlib import resources

from manylabel.corpus.corpus import Corpus
from manylabel.corpus.formats import read
from manylabel.exceptions import ParameterError

__all__ = ["load_catalogue"]


def load_catalogue(subset: str = "train") -> Corpus:
    """Load descriptions of invented books, with subject headings as labels.

    Parameters
    ----------
    subset : {"train", "test", "all"}
        Each part of the fixed split has its own label names; "all" joins both.
    """
    if subset == "all":
        return load_catalogue("train").join(load_catalogue("test"))
    if subset not in ("train", "test"):
        raise ParameterError(f"`subset` must be 'train', 'test' or 'all'; got {subset!r}.")
    folder = resources.files("manylabel.corpus") / "catalogue"
    with resources.as_file(folder / f"{subset}.jsonl") as path:
        return read(path, format="jsonl")
