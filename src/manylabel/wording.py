"""Sentences that fit what they speak of: one document, two documents."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, thing: str) -> str:
    """A number of things.

    Parameters
    ----------
    number : int
    thing : str
        One of them, such as "document" or "column of labels".

    Examples
    --------
    >>> counted(1, "document"), counted(1200, "label"), counted(2, "category")
    ('1 document', '1,200 labels', '2 categories')
    >>> counted(1, "pair of labels"), counted(2, "pair of labels")
    ('1 pair of labels', '2 pairs of labels')
    """
    if number == 1:
        return f"1 {thing}"
    noun, space, rest = thing.partition(" of ")
    several = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {several}{space}{rest}"
