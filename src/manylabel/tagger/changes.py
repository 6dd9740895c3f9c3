"""What learning and forgetting did."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Change"]


@dataclass(frozen=True)
class Change:
    """The answer of `Tagger.learn` and `Tagger.forget`.

    Parameters
    ----------
    learnt, forgotten : tuple of str
        Ids of documents. A document that took the place of another is in ``learnt`` and
        ``replaced``.
    replaced : tuple of str
    new_labels : tuple of str
        Labels that no document had before.
    not_updated : tuple of str
        Parts of the model that stay as they were when it was trained. Everything else is as if
        the learnt documents had always been there and the forgotten ones never.

    Examples
    --------
    >>> print(Change(learnt=("x1",), new_labels=("cats",), not_updated=("word weights",)))
    1 document learnt, 1 new label. As they were: word weights.
    """

    learnt: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    new_labels: tuple[str, ...] = ()
    not_updated: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether every part of the model knows of the change."""
        return not self.not_updated

    def __str__(self) -> str:
        told = [
            _counted(len(self.learnt), "document", " learnt"),
            _counted(len(self.replaced), "", "replaced"),
            _counted(len(self.forgotten), "document", " forgotten"),
            _counted(len(self.new_labels), "new label"),
        ]
        sentence = ", ".join(part for part in told if part) or "nothing changed"
        stay = f" As they were: {', '.join(self.not_updated)}." if self.not_updated else ""
        return f"{sentence}.{stay}"


def _counted(number: int, thing: str, done: str = "") -> str:
    """A number of things, or nothing if there are none."""
    plural = "s" if thing and number != 1 else ""
    return f"{number:,} {thing}{plural}{done}" if number else ""
