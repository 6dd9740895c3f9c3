"""Taggers that outlive their process, and that threads share."""

from __future__ import annotations

import os
import secrets
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol, Self

from manylabel import store
from manylabel.exceptions import InputError, JournalError, StoreError
from manylabel.scoring import Documents
from manylabel.store.checking import BackgroundCheck
from manylabel.store.journal import Journal
from manylabel.tagger.changes import Changed, encoded
from manylabel.tagger.folder import TaggerFolder, is_tolerant, salvage, tolerating
from manylabel.tagger.state import TaggerState

__all__ = ["Persistent", "Write"]


class Write(Protocol):
    """What `Persistent._writing` gives to change a state with."""

    def __call__(self, changes: Sequence[Changed], documents: Documents | None = None) -> None:
        """Make changes: on disk first, if there is a folder, then in memory."""


class Persistent:
    """The half of a tagger that keeps what it knows: in memory for many threads, and in a folder.

    Every change is in the journal of the folder before anybody hears of it.
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
        """The name of the model, or of its class."""

    @property
    def path(self) -> Path | None:
        """The folder where the tagger lives; None before it is saved."""
        return None if self._folder is None else self._folder.path

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save to a folder; from now on, what is learned and forgotten is kept there as well.

        A crash leaves the model that was there before, or this one.

        Parameters
        ----------
        path : path
            A new folder, or that of a model to be replaced.
        """
        folder = Path(path)
        if self._folder is not None and _same_folder(folder, self._folder.path):
            self._fold(lambda state: state)
            return
        with ExitStack() as held:
            writer = None
            journal = held.enter_context(Journal(folder))
            is_sound = _is_sound(journal)
            if TaggerFolder.has_journal(folder) and is_sound:
                writer = held.enter_context(journal.writing())
            held.enter_context(self._lock.writing())
            state = self._fitted()
            before = state.token, state.sequence
            # A model in another place has a journal of its own.
            state.token, state.sequence = secrets.token_hex(8), 0
            try:
                self._write(folder, state)
                if writer is not None:
                    writer.begin(state.token, 0)
                elif not is_sound:
                    # Of a model that is there no more.
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
        """Read a tagger from its folder, with everything that was learned since it was saved.

        What this tagger learns and forgets is in the folder before `learn` and `forget` return,
        and what other processes write there is known at the next call.

        Parameters
        ----------
        path : path
        n_jobs : int, optional
            Threads, if not as many as when it was saved.
        without_journal : bool, default=False
            Do without the entries of the journal that are lost or damaged, and those after them.
            The tagger is then in memory alone; `save` puts it into the folder again.

        Raises
        ------
        JournalError
            If something that was learned or forgotten since the model was saved is lost or damaged.
        """
        with tolerating(without_journal):
            tagger = store.load(path)
        if not isinstance(tagger, cls):
            raise StoreError(
                f"the folder holds {type(tagger).__name__}, not a tagger; read it with "
                "manylabel.load.",
                os.fspath(path),
            )
        if n_jobs is not None:
            tagger.n_jobs = n_jobs
            if tagger._state is not None:
                tagger._state.use_jobs(n_jobs)
        return tagger

    def compact(self, retrain: bool = False) -> None:
        """Make what was learned and forgotten part of the saved model; the journal is then empty.

        Forgotten texts leave the disk, and words that only they had leave the vocabulary (unless
        ``keep_texts=False`` and the model keeps no rows). What the model knows depends on its kind:

        - InstanceKNN, FeatureKNN and LCIF are trained again on the rows that they keep, with new
          word weights. What is left of forgotten documents is their labels, if no other document
          has them, and the threshold of "auto".
        - An Ensemble rebuilds its index, so that searching is as fast as after `fit`. Its
          `not_updated_` parts, its curves and word weights stay.
        - Other models stay as they are.

        Parameters
        ----------
        retrain : bool, default=False
            Train the model again from the texts. It is then equal, bit for bit, to one that was
            fitted to the documents that are left, in their order: vocabulary, word weights, every
            part, threshold and labels.
        """
        if self._folder is not None:
            self._fold(self._retrained if retrain else _compacted)
            return
        with self._lock.writing():
            state = self._fitted()
            self._state = self._retrained(state) if retrain else _compacted(state)

    @abstractmethod
    def _retrained(self, state: TaggerState) -> TaggerState:
        """A state of the same documents that is trained from nothing."""

    def _fitted(self) -> TaggerState:
        if self._state is None:
            raise InputError("this tagger is not fitted: call fit(texts, labels) first.")
        return self._state

    def _latest(self) -> TaggerState:
        """The state with everything that other processes wrote; the model may lag behind."""
        state, place = self._fitted(), self._folder
        if self._check is not None:
            self._check.raise_damage()
        if place is not None and place.has_changed():
            with self._lock.writing():
                self._state = state = place.latest(self._fitted())
        return state

    def _remember(self, state: TaggerState) -> None:
        """Know this from now on, and nothing else; the folder is not touched."""
        with self._lock.writing():
            self._state, self._folder, self._check = state, None, None

    @contextmanager
    def _reading(self) -> Iterator[TaggerState]:
        """Everything learned so far is in the model, and stays as it is meanwhile."""
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
        """The latest state, locked against other readers and writers, and what changes it."""
        place, state = self._folder, self._fitted()
        if place is None:
            with self._lock.writing():
                yield state, state.apply
            return
        # The journal first: while this waits for another process, other threads may read.
        with place.journal.writing() as writer, self._lock.writing():
            state = self._state = place.latest(self._fitted(), writer.read)
            place.begin(state, writer)
            place.sweep()

            def write(changes: Sequence[Changed], documents: Documents | None = None) -> None:
                last = writer.append(encoded(changes))
                writer.commit()
                place.mark.write(state.token, last)
                state.apply(changes, documents)
                state.sequence = last

            yield state, write

    def _fold(self, change: Callable[[TaggerState], TaggerState]) -> None:
        """Make the journal part of the saved model, after an internal-only change."""
        assert self._folder is not None
        place = self._folder
        with place.journal.writing() as writer, self._lock.writing():
            before = self._state = place.latest(self._fitted(), writer.read)
            state = self._state = change(before)
            state.token, state.sequence = before.token, before.sequence
            self._write(place.path, state)
            place.begin(state, writer)
            writer.fold(state.sequence)
            place.saved()
        place.journal.scrub()

    def _write(self, folder: Path, state: TaggerState) -> None:
        """Write the model; the manifest tells which entries of the journal it has."""
        info = {
            "model": self.model_name,
            "documents": len(state.documents),
            "labels": state.n_labels,
            "tagger": {"token": state.token, "sequence": state.sequence},
        }
        store.save(self, folder, info=info)

    def _settings(self) -> dict[str, Any]:
        """What the tagger was made with, but for what it shows: that is for this process."""
        return {
            name: value
            for name, value in vars(self).items()
            if not name.startswith("_") and name != "verbose"
        }

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
        """The token of the model, and the last entry of the journal that is part of it."""
        return None if self._state is None else (self._state.token, self._state.sequence)

    def _on_load(self, folder: Path) -> None:
        """Catch up with the journal of the folder that this was read from."""
        if is_tolerant() and self._state is not None:
            salvage(folder, self._state)
            return
        self._folder = TaggerFolder(folder, self._reloaded)
        if self._state is not None:
            self._state = self._folder.latest(self._state)

    def _on_unverified(self, folder: Path, manifest: dict[str, Any]) -> None:
        """Check the arrays of a large model while it is used."""
        self._check = BackgroundCheck(folder, manifest)
        self._check.start()

    def _reloaded(self) -> TaggerState:
        """What the folder has now; the settings become its as well."""
        assert self._folder is not None
        other = type(self).load(self._folder.path, self.n_jobs)
        vars(self).update(other._settings())
        self._check = other._check
        return other._fitted()


class ReadWriteLock:
    """Lets threads read together and write alone; a waiting writer goes before new readers.

    A writer may write again and read inside; a reader must not ask for writing.
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
        """Wait until no thread reads or writes."""
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


def _is_sound(journal: Journal) -> bool:
    """Whether a journal can be read and written."""
    try:
        journal.check()
    except JournalError:
        return False
    return True


def _compacted(state: TaggerState) -> TaggerState:
    state.compact()
    return state


def _same_folder(a: Path, b: Path) -> bool:
    return a.exists() and b.exists() and a.samefile(b)
