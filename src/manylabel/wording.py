"""Plurals and numbers in messages: one document, two documents."""

from __future__ import annotations

__all__ = ["counted", "percent"]


def counted(number: int, thing: str) -> str:
    """A number with its noun, in the plural if needed.

    Parameters
    ----------
    number : int
    thing : str
        The noun in the singular, such as "document" or "column of labels".

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


def percent(share: float) -> str:
    """A share as a percentage; values near 0 and 1 are not rounded to 0 % and 100 %.

    Examples
    --------
    >>> percent(0.567), percent(0.004), percent(0.9991), percent(1.0)
    ('57 %', '< 1 %', '> 99 %', '100 %')
    """
    if 0 < share < 0.01:
        return "< 1 %"
    return "> 99 %" if 0.99 < share < 1 else f"{100 * share:.0f} %"
