"""Where a saved tagger lives: its folder, and the journal in it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from manylabel.exceptions import StoreError
from manylabel.store import read_manifest
from manylabel.store.journal import JOURNAL, Journal, Snapshot, Writer
from manylabel.store.manifest import MANIFEST
from manylabel.tagger.entries import decoded
from manylabel.tagger.memory import Memory

__all__ = ["Home"]


class Home:
    """Keeps what a tagger knows and what its folder says the same.

    The saved model knows which entries of the journal are part of it. So it does not matter at
    which moment a writer dies: entries that the model has are passed over, and a journal that
    belongs to another model, which was there before, counts for nothing.

    Parameters
    ----------
    folder : path
    reload : callable
        Reads the tagger's memory from the folder.
    """

    def __init__(self, folder: str | os.PathLike[str], reload: Callable[[], Memory]) -> None:
        self.folder = Path(folder)
        self.journal = Journal(folder)
        self._reload = reload
        self._stamp: tuple[int, int, int] | None = None

    def has_changed(self) -> bool:
        """Whether somebody wrote to the folder; if it is gone, nobody did."""
        stamp = self._current_stamp()
        return stamp is not None and (stamp != self._stamp or self.journal.has_changed())

    def saved(self) -> None:
        """Remember that the model on disk is our own."""
        self._stamp = self._current_stamp()

    def latest(self, memory: Memory, read: Callable[[int], Snapshot] | None = None) -> Memory:
        """The memory with everything that others wrote; another one if they saved the model.

        Parameters
        ----------
        memory : Memory
            Is brought up to date.
        read : callable, optional
            Reads the journal; that of a writer, while others are kept out.
        """
        read = self.journal.read if read is None else read
        while True:
            stamp = self._current_stamp()
            if stamp != self._stamp:
                # Just loaded, the memory is that on disk unless somebody was very quick.
                if self._stamp is not None or not self._is_of(memory):
                    memory = self._reload()
                self._stamp = stamp
            journal = read(memory.sequence)
            if journal.token == memory.token and journal.folded > memory.sequence:
                memory = self._newer(memory, journal.folded)
            elif journal.token == memory.token:
                if journal.entries:
                    memory.apply(decoded(journal.entries))
                    memory.sequence = journal.entries[-1].number
                return memory
            elif stamp == self._current_stamp():
                return memory

    def begin(self, memory: Memory, writer: Writer) -> None:
        """Make the journal that of this memory."""
        if writer.read(memory.sequence).token != memory.token:
            writer.begin(memory.token, memory.sequence)

    @staticmethod
    def has_journal(folder: Path) -> bool:
        """Whether there is something to write to besides the model."""
        return (folder / JOURNAL).exists()

    def _newer(self, memory: Memory, folded: int) -> Memory:
        """The memory from disk, which must have entries that the journal has no more."""
        found = self._reload()
        if found.token == memory.token and found.sequence < folded:
            raise StoreError(
                "the journal is newer than the model; restore the folder from a copy.", self.folder
            )
        return found

    def _is_of(self, memory: Memory) -> bool:
        """Whether the model on disk is this memory."""
        known = read_manifest(self.folder)["info"].get("tagger")
        return known in (None, {"token": memory.token, "sequence": memory.sequence})

    def _current_stamp(self) -> tuple[int, int, int] | None:
        """Something that changes when the model is saved; None if it is not there."""
        try:
            found = os.stat(self.folder / MANIFEST)
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size
