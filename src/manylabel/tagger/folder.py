"""The folder of a saved tagger, and its journal."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from manylabel import store
from manylabel.exceptions import JournalError, StoreError
from manylabel.store.journal import JOURNAL, Journal, Snapshot, Writer
from manylabel.store.manifest import MANIFEST
from manylabel.store.mark import Mark
from manylabel.tagger.changes import decoded
from manylabel.tagger.state import TaggerState
from manylabel.wording import counted

__all__ = ["TaggerFolder", "is_tolerant", "salvage", "tolerating"]


class TaggerFolder:
    """The folder of a saved tagger; keeps the tagger and the files in step.

    The saved model records which entries of the journal it contains. So a writer may die at any
    moment: entries that the model contains are skipped, and the journal of an earlier model is
    ignored.

    Parameters
    ----------
    path : path
    reload : callable
        Reads the tagger's state from the folder.
    """

    def __init__(self, path: str | os.PathLike[str], reload: Callable[[], TaggerState]) -> None:
        self.path = Path(path)
        # Asked about for each document.
        self._manifest = str(self.path / MANIFEST)
        self.journal = Journal(path)
        self.mark = Mark(path)
        self._reload = reload
        self._stamp: tuple[int, int, int] | None = None
        self._is_swept = False

    def has_changed(self) -> bool:
        """Whether another process wrote to the folder; False if the folder was deleted."""
        stamp = self._current_stamp()
        return stamp is not None and (stamp != self._stamp or self.journal.has_changed())

    def saved(self) -> None:
        """Record that the model on disk is the one in memory."""
        self._stamp = self._current_stamp()

    def latest(
        self, state: TaggerState, read: Callable[[int], Snapshot] | None = None
    ) -> TaggerState:
        """Bring a state up to date with the folder; a new state if another process saved the model.

        Parameters
        ----------
        state : TaggerState
            Changed in place.
        read : callable, optional
            Reads the journal: a writer's own method, while it holds the lock.
        """
        read = self.journal.read if read is None else read
        while True:
            stamp = self._current_stamp()
            if stamp != self._stamp:
                # A state that was just loaded needs no reload, unless another process saved since.
                if self._stamp is not None or not self._is_of(state):
                    state = self._reload()
                self._stamp = stamp
            try:
                # Read the mark first: what others write in between is then in the journal.
                known = self._known(state)
                journal = self._read(state, known, read)
                if journal.token == state.token and journal.folded > state.sequence:
                    state = self._newer(state, journal.folded)
                    continue
                entries = journal.entries if journal.token == state.token else []
                self._check_complete(state, known, len(entries))
            except JournalError:
                # Another process may have replaced the model.
                if stamp == self._current_stamp():
                    raise
                continue
            if journal.token == state.token:
                if entries:
                    state.apply(decoded(entries))
                    state.sequence = entries[-1].number
                return state
            if stamp == self._current_stamp():
                return state

    def _known(self, state: TaggerState) -> int:
        """The last entry that was confirmed to a caller."""
        known = self.mark.read(state.token)
        if known is None and state.marked:
            raise self.mark.missing(state.token)
        return 0 if known is None else known

    def _read(self, state: TaggerState, known: int, read: Callable[[int], Snapshot]) -> Snapshot:
        """Read the journal; a damaged one counts as empty if the model contains all of it."""
        try:
            return read(state.sequence)
        except JournalError:
            if state.marked and known <= state.sequence:
                return Snapshot("", 0, [])
            raise

    def _check_complete(self, state: TaggerState, known: int, found: int) -> None:
        """Raise an error if the journal lacks its last entries."""
        expected = known - state.sequence
        if found < expected:
            is_one = expected - found == 1
            changes = "1 change that was" if is_one else f"{expected - found:,} changes that were"
            entries = "entry" if expected == 1 else "entries"
            raise JournalError(
                f"{changes} made since the model was saved {'is' if is_one else 'are'} lost: the "
                f"journal should have {expected:,} {entries} and has {found or 'none'}",
                self.journal.path,
                "it" if is_one else "them",
            )

    def begin(self, state: TaggerState, writer: Writer) -> None:
        """Start a journal for this state, unless the journal is already for it."""
        if writer.read(state.sequence).token != state.token:
            writer.begin(state.token, state.sequence)

    def sweep(self) -> None:
        """Remove what killed writers left behind; only the first call does something."""
        if not self._is_swept:
            store.sweep(self.path)
            self._is_swept = True

    @staticmethod
    def has_journal(folder: Path) -> bool:
        """Whether the folder has a journal."""
        return (folder / JOURNAL).exists()

    def _newer(self, state: TaggerState, folded: int) -> TaggerState:
        """Reload the state, which must contain the entries that the journal no longer has."""
        reloaded = self._reload()
        if reloaded.token == state.token and reloaded.sequence < folded:
            raise StoreError(
                "the journal is newer than the model; restore the folder from a backup.", self.path
            )
        return reloaded

    def _is_of(self, state: TaggerState) -> bool:
        """Whether this state is the model on disk."""
        known = store.read_manifest(self.path)["info"].get("tagger")
        return known in (None, {"token": state.token, "sequence": state.sequence})

    def _current_stamp(self) -> tuple[int, int, int] | None:
        """A value that changes whenever the model is saved; None if there is no model."""
        try:
            status = os.stat(self._manifest)
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size


#: Whether to ignore lost or damaged entries of a journal.
_tolerant = ContextVar("tolerant", default=False)


def is_tolerant() -> bool:
    """Whether to ignore lost or damaged entries of a journal."""
    return _tolerant.get()


@contextmanager
def tolerating(wanted: bool) -> Iterator[None]:
    """Ignore lost or damaged entries of journals within this context."""
    before = _tolerant.set(wanted)
    try:
        yield
    finally:
        _tolerant.reset(before)


def salvage(folder: Path, state: TaggerState) -> None:
    """Apply the readable entries of a journal, and warn about those that are lost."""
    with Journal(folder) as journal:
        readable = journal.readable(state.sequence)
    known = None
    with suppress(JournalError):
        known = Mark(folder).read(state.token)
    if readable.token == state.token and readable.folded <= state.sequence and readable.entries:
        state.apply(decoded(readable.entries))
        state.sequence = readable.entries[-1].number
    if known is None and state.marked:
        warnings.warn("Changes in the journal may be lost.", stacklevel=4)
    elif known is not None and known > state.sequence:
        lost = known - state.sequence
        are = "is" if lost == 1 else "are"
        warnings.warn(f"{counted(lost, 'change')} in the journal {are} lost.", stacklevel=4)
