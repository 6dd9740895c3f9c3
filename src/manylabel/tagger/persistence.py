"""Save and load taggers, and share them among threads and processes."""

from __future__ import annotations

import os
import secrets
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self

from manylabel import store
from manylabel.exceptions import InputError, JournalError, StoreError
from manylabel.scoring import Documents
from manylabel.store.checking import BackgroundCheck
from manylabel.store.folder import look_at_arrays
from manylabel.store.journal import Journal, Writer
from manylabel.store.saving import FolderWriter
from manylabel.tagger.changes import Changed, encoded
from manylabel.tagger.folder import TaggerFolder, is_tolerant, salvage, tolerating
from manylabel.tagger.state import TaggerState

__all__ = ["Persistent", "Write"]


class Write(Protocol):
    """The function that `Persistent._writing` provides to change a state."""

    def __call__(self, changes: Sequence[Changed], documents: Documents | None = None) -> None:
        """Write changes to the journal, if there is a folder, then apply them in memory."""


class Persistent:
    """The methods of a tagger that hold its state: in memory for several threads, and in a folder.

    Every change is in the journal of the folder before a call returns or another thread sees it.
    """

    n_jobs: int | None
    verbose: int = 0

    def __init__(self) -> None:
        self._lock = ReadWriteLock()
        self._state: TaggerState | None = None
        self._folder: TaggerFolder | None = None
        self._check: BackgroundCheck | None = None
        self._fit_seconds: dict[str, float] = {}

    @property
    @abstractmethod
    def model_name(self) -> str:
        """The name of the model, or of its class if it was given as an estimator."""

    @property
    def path(self) -> Path | None:
        """The folder of the tagger; None if it was not saved."""
        return None if self._folder is None else self._folder.path

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save to a folder; later changes are written there, too.

        A crash leaves the old model or the new one.

        Parameters
        ----------
        path : path
            A new folder, or that of a model to replace.
        """
        folder = Path(path)
        while (current := self._folder) is not None and _same_folder(folder, current.path):
            if self._fold(current, lambda state: state):
                return
        with store.writing(folder) as files, ExitStack() as held:
            writer = None
            journal = held.enter_context(Journal(folder))
            is_sound = _is_sound(journal)
            if TaggerFolder.has_journal(folder) and is_sound:
                writer = held.enter_context(journal.writing())
            held.enter_context(self._lock.writing())
            state = self._fitted()
            before = state.token, state.sequence
            # In another folder the model has another journal.
            state.token, state.sequence = secrets.token_hex(8), 0
            try:
                self._prepare(files, state)
                files.publish()
                if writer is not None:
                    writer.begin(state.token, 0)
                elif not is_sound:
                    # It belongs to the model that was just replaced.
                    journal.discard()
            except BaseException:
                state.token, state.sequence = before
                raise
            self._folder = TaggerFolder(folder, self._reloaded)
            self._folder.saved()

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        n_jobs: int | None = None,
        without_journal: bool = False,
    ) -> Self:
        """Load a tagger from its folder, with all changes since it was saved.

        What this tagger learns and forgets is in the folder before `learn` and `forget` return.
        Changes by other processes take effect at the next call.

        Parameters
        ----------
        path : path
        n_jobs : int, optional
            Threads; by default as many as when it was saved.
        without_journal : bool, default=False
            Ignore lost or damaged entries of the journal, and all entries after them. The tagger
            is then only in memory; `save` writes it to the folder again.

        Raises
        ------
        JournalError
            If a change since the model was saved is lost or damaged.
        """
        with tolerating(without_journal):
            tagger = store.load(path)
        if not isinstance(tagger, cls):
            raise StoreError(
                f"the folder contains {type(tagger).__name__}, not a tagger; read it with "
                "manylabel.load.",
                os.fspath(path),
            )
        if n_jobs is not None:
            tagger.n_jobs = n_jobs
            if tagger._state is not None:
                tagger._state.use_jobs(n_jobs)
        return tagger

    def check_files(self) -> None:
        """Wait until all files of the folder are checked.

        A model of more than 256 MB answers while it is checked in the background. Call this before
        you rely on the answers. Otherwise it returns at once: smaller models are checked when they
        are loaded.

        Raises
        ------
        StoreError
            If a file was damaged; answers so far may be wrong.

        Examples
        --------
        >>> from manylabel import Tagger
        >>> tagger = Tagger("lcif", parameters={"k": 1}).fit(["a cat"], [["cats"]])
        >>> tagger.check_files()
        """
        if (check := self._check) is not None:
            check.wait()
            check.raise_damage()

    def _fitted(self) -> TaggerState:
        if self._state is None:
            raise InputError("this tagger is not fitted; call fit(texts, labels) first.")
        return self._state

    def _latest(self) -> TaggerState:
        """The state with all changes of other processes; the model may not have caught up yet."""
        if self._check is not None:
            self._check.raise_damage()
        while True:
            state, folder = self._fitted(), self._folder
            if folder is None or not folder.has_changed():
                return state
            with self._lock.writing():
                if folder is self._folder:
                    self._state = state = folder.latest(self._fitted())
                    return state

    def _remember(self, state: TaggerState) -> None:
        """Replace the state; the tagger then has no folder, and the old one does not change."""
        with self._lock.writing():
            self._state, self._folder, self._check = state, None, None

    @contextmanager
    def _reading(self) -> Iterator[TaggerState]:
        """Lock the latest state for reading; the model has caught up with all changes."""
        while True:
            state = self._latest()
            if state.is_behind:
                with self._lock.writing():
                    state.catch_up()
            with self._lock.reading():
                # Another thread may have learned something between the two locks.
                if state is self._state and not state.is_behind:
                    yield state
                    return

    @contextmanager
    def _writing(self) -> Iterator[tuple[TaggerState, Write]]:
        """Lock the latest state for writing; yields it with the function that changes it."""
        while True:
            # Another thread may save the tagger in another folder while this one waits.
            folder, state = self._folder, self._fitted()
            if folder is None:
                with self._lock.writing():
                    if self._folder is None:
                        state = self._fitted()
                        yield state, state.apply
                        return
                continue
            # Lock the journal first: other threads may read while this waits for another process.
            with folder.journal.writing() as writer, self._lock.writing():
                if folder is self._folder:
                    state = self._state = folder.latest(self._fitted(), writer.read)
                    folder.begin(state, writer)
                    folder.sweep()
                    yield state, partial(_write_changes, folder, writer, state)
                    return

    def _change(self, change: Callable[[TaggerState], TaggerState]) -> None:
        """Make an internal-only change, in the folder too if there is one."""
        while (folder := self._folder) is not None:
            if self._fold(folder, change):
                return
        with self._lock.writing():
            self._state = change(self._fitted())

    def _fold(self, folder: TaggerFolder, change: Callable[[TaggerState], TaggerState]) -> bool:
        """Fold the journal into the saved model, after an internal-only change.

        False if another thread has meanwhile saved the tagger in another folder.
        """
        with (
            store.writing(folder.path, create=False) as files,
            folder.journal.writing() as writer,
            self._lock.writing(),
        ):
            if folder is not self._folder:
                return False
            self._state = folder.latest(self._fitted(), writer.read)
            state = self._state = change(self._state)
            self._prepare(files, state)
            files.publish()
            folder.begin(state, writer)
            writer.fold(state.sequence)
            folder.saved()
        folder.journal.scrub()
        return True

    def _prepare(self, files: FolderWriter, state: TaggerState) -> None:
        """Write the arrays; the manifest will record which entries of the journal they contain."""
        info = {
            "model": self.model_name,
            "documents": len(state.documents),
            "labels": state.n_labels,
            "tagger": {"token": state.token, "sequence": state.sequence},
        }
        files.prepare(self, info)

    def _settings(self) -> dict[str, Any]:
        """The tagger's parameters, except ``verbose``, which is for this process only."""
        return {
            name: value
            for name, value in vars(self).items()
            if not name.startswith("_") and name != "verbose"
        }

    @contextmanager
    def _storing(self) -> Iterator[None]:
        """Keep other threads from changing this while it is written; refuse a damaged model."""
        with self._lock.writing():
            # Its arrays would get a right checksum.
            self.check_files()
            yield

    def _store_state(self) -> dict[str, Any]:
        with self._lock.writing():
            if self._state is not None:
                self._state.catch_up()
            return self._settings() | {"_state": self._state}

    @classmethod
    def _from_store_state(cls, state: dict[str, Any]) -> Self:
        tagger = cls.__new__(cls)
        Persistent.__init__(tagger)
        vars(tagger).update(state)
        return tagger

    def _store_mark(self) -> tuple[str, int] | None:
        """The token of the model, and the last entry of the journal that it contains."""
        return None if self._state is None else (self._state.token, self._state.sequence)

    def _on_load(self, folder: Path) -> None:
        """Apply the journal of the folder that the tagger was loaded from."""
        if is_tolerant() and self._state is not None:
            salvage(folder, self._state)
            return
        self._folder = TaggerFolder(folder, self._reloaded)
        if self._state is not None:
            self._state = self._folder.latest(self._state)

    def _on_unverified(self, folder: Path, manifest: dict[str, Any]) -> None:
        """Verify the arrays of a large model in the background."""
        self._check = BackgroundCheck(folder, manifest, look_at_arrays)
        self._check.start()

    def _reloaded(self) -> TaggerState:
        """Load state and settings from the folder again."""
        assert self._folder is not None
        other = type(self).load(self._folder.path, self.n_jobs)
        vars(self).update(other._settings())
        self._check = other._check
        return other._fitted()


class ReadWriteLock:
    """Lets many threads read or one write; a waiting writer goes before new readers.

    A writer may acquire either lock again; a reader must not ask for the write lock.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._readers = 0
        self._waiting = 0
        self._writer: int | None = None
        self._depth = 0

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Wait until no thread writes."""
        if self._writer == threading.get_ident():
            yield
            return
        with self._changed:
            self._changed.wait_for(lambda: self._writer is None and not self._waiting)
            self._readers += 1
        try:
            yield
        finally:
            with self._changed:
                self._readers -= 1
                self._changed.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Wait until no other thread reads or writes."""
        me = threading.get_ident()
        with self._changed:
            if self._writer != me:
                self._waiting += 1
                try:
                    self._changed.wait_for(lambda: self._writer is None and not self._readers)
                finally:
                    self._waiting -= 1
                self._writer = me
            self._depth += 1
        try:
            yield
        finally:
            with self._changed:
                self._depth -= 1
                if not self._depth:
                    self._writer = None
                    self._changed.notify_all()


def _write_changes(
    folder: TaggerFolder,
    writer: Writer,
    state: TaggerState,
    changes: Sequence[Changed],
    documents: Documents | None = None,
) -> None:
    """Make changes: on disk first, then in memory."""
    last = writer.append(encoded(changes))
    writer.commit()
    folder.mark.write(state.token, last)
    state.apply(changes, documents)
    state.sequence = last


def _is_sound(journal: Journal) -> bool:
    """Whether a journal can be read and written."""
    try:
        journal.check()
    except JournalError:
        return False
    return True


def _same_folder(a: Path, b: Path) -> bool:
    return a.exists() and b.exists() and a.samefile(b)
