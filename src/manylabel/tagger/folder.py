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

__all__ = ["TaggerFolder", "is_tolerant", "salvage", "tolerating"]


class TaggerFolder:
    """Where a saved tagger lives; keeps what the tagger knows and what the folder says the same.

    The saved model knows which entries of the journal are part of it. So it does not matter at
    which moment a writer dies: entries that the model has are passed over, and a journal that
    belongs to another model, which was there before, counts for nothing.

    Parameters
    ----------
    path : path
    reload : callable
        Reads the tagger's state from the folder.
    """

    def __init__(self, path: str | os.PathLike[str], reload: Callable[[], TaggerState]) -> None:
        self.path = Path(path)
        self.journal = Journal(path)
        self.mark = Mark(path)
        self._reload = reload
        self._stamp: tuple[int, int, int] | None = None
        self._is_swept = False

    def has_changed(self) -> bool:
        """Whether the folder was written to; not if it is gone."""
        stamp = self._current_stamp()
        return stamp is not None and (stamp != self._stamp or self.journal.has_changed())

    def saved(self) -> None:
        """Remember that the model on disk is our own."""
        self._stamp = self._current_stamp()

    def latest(
        self, state: TaggerState, read: Callable[[int], Snapshot] | None = None
    ) -> TaggerState:
        """The state with everything that others wrote; another one if they saved the model.

        Parameters
        ----------
        state : TaggerState
            Is brought up to date.
        read : callable, optional
            Reads the journal; that of a writer, while others are kept out.
        """
        read = self.journal.read if read is None else read
        while True:
            stamp = self._current_stamp()
            if stamp != self._stamp:
                # Just loaded, the state is that on disk unless another process was very quick.
                if self._stamp is not None or not self._is_of(state):
                    state = self._reload()
                self._stamp = stamp
            try:
                # First the mark: what others write meanwhile is in the journal then.
                known = self._known(state)
                journal = self._read(state, known, read)
                if journal.token == state.token and journal.folded > state.sequence:
                    state = self._newer(state, journal.folded)
                    continue
                entries = journal.entries if journal.token == state.token else []
                self._check_complete(state, known, len(entries))
            except JournalError:
                # Another model may have taken the place of this one.
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
        """The last entry that a caller was told of."""
        known = self.mark.read(state.token)
        if known is None and state.marked:
            raise self.mark.missing(state.token)
        return 0 if known is None else known

    def _read(self, state: TaggerState, known: int, read: Callable[[int], Snapshot]) -> Snapshot:
        """The journal; a damaged one counts as empty if the model has all of it."""
        try:
            return read(state.sequence)
        except JournalError:
            if state.marked and known <= state.sequence:
                return Snapshot("", 0, [])
            raise

    def _check_complete(self, state: TaggerState, known: int, found: int) -> None:
        """Refuse a journal that lacks entries at its end."""
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
        """Make the journal that of this state."""
        if writer.read(state.sequence).token != state.token:
            writer.begin(state.token, state.sequence)

    def sweep(self) -> None:
        """Remove what killed writers left behind, once."""
        if not self._is_swept:
            store.sweep(self.path)
            self._is_swept = True

    @staticmethod
    def has_journal(folder: Path) -> bool:
        """Whether there is something to write to besides the model."""
        return (folder / JOURNAL).exists()

    def _newer(self, state: TaggerState, folded: int) -> TaggerState:
        """The state from disk, which must have entries that the journal has no more."""
        reloaded = self._reload()
        if reloaded.token == state.token and reloaded.sequence < folded:
            raise StoreError(
                "the journal is newer than the model; restore the folder from a copy.", self.path
            )
        return reloaded

    def _is_of(self, state: TaggerState) -> bool:
        """Whether the model on disk is this state."""
        known = store.read_manifest(self.path)["info"].get("tagger")
        return known in (None, {"token": state.token, "sequence": state.sequence})

    def _current_stamp(self) -> tuple[int, int, int] | None:
        """Something that changes when the model is saved; None if it is not there."""
        try:
            status = os.stat(self.path / MANIFEST)
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size


#: Whether a journal that is lost or damaged is done without.
_tolerant = ContextVar("tolerant", default=False)


def is_tolerant() -> bool:
    """Whether a journal that is lost or damaged is done without."""
    return _tolerant.get()


@contextmanager
def tolerating(wanted: bool) -> Iterator[None]:
    """Do without what is lost of a journal, while something is loaded."""
    before = _tolerant.set(wanted)
    try:
        yield
    finally:
        _tolerant.reset(before)


def salvage(folder: Path, state: TaggerState) -> None:
    """Apply what can be read of a journal, and say how much that is not."""
    with Journal(folder) as journal:
        readable = journal.readable(state.sequence)
    known = None
    with suppress(JournalError):
        known = Mark(folder).read(state.token)
    if readable.token == state.token and readable.folded <= state.sequence and readable.entries:
        state.apply(decoded(readable.entries))
        state.sequence = readable.entries[-1].number
    if known is None and state.marked:
        warnings.warn("Changes of the journal may be given up.", stacklevel=4)
    elif known is not None and known > state.sequence:
        lost = known - state.sequence
        changes = (
            "1 change of the journal is" if lost == 1 else f"{lost:,} changes of the journal are"
        )
        warnings.warn(f"{changes} given up.", stacklevel=4)
