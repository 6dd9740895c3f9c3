"""Edits of labels on lists of documents; each keeps what it needs to be undone."""

from __future__ import annotations

from copy import deepcopy


class NaiveLabels:
    """Documents by id, with the sets of their labels; labels that people hid or added."""

    def __init__(self, documents: dict[str, set[str]]) -> None:
        self.documents = deepcopy(documents)
        self.hidden: set[str] = set()
        self.added: set[str] = set()
        self.history: list[tuple[str, dict, set, set]] = []

    @property
    def labels(self) -> set[str]:
        """Labels that are listed."""
        return set().union(self.added, *self.documents.values()) - self.hidden

    def edit(self, action: str, labels: list[str], to: str | None = None) -> None:
        self.history.append(
            (action, deepcopy(self.documents), set(self.hidden), set(self.added), set(labels), to)
        )
        if action == "hide":
            self.hidden |= set(labels)
        elif action == "show":
            self.hidden -= set(labels)
        elif action == "add":
            self.added |= set(labels)
        else:
            sources = set(labels) - {to}
            if action == "merge" and to not in self.labels | self.hidden:
                self.added.add(to)
            for given in self.documents.values():
                if given & sources:
                    given -= sources
                    given |= set() if to is None else {to}
            if action == "rename":
                for kept in (self.hidden, self.added):
                    if kept & sources:
                        kept -= sources
                        kept.add(to)
            self.hidden -= sources
            self.added -= sources

    def undo(self) -> None:
        """Documents that did not change since get their labels back."""
        _, documents, self.hidden, self.added, *_ = self.history.pop()
        self.documents = documents

    def learn(self, name: str, labels: set[str]) -> None:
        # It comes last, as in a tagger: among equally near documents, the first win.
        self.documents.pop(name, None)
        self.documents[name] = set(labels)
        # Documents that came later stay when an earlier edit is undone.
        self.history.clear()

    def forget(self, name: str) -> None:
        del self.documents[name]
        self.history.clear()
