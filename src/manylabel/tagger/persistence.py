"""Taggers that outlive their process."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol, Self

from scipy import sparse

from manylabel import store
from manylabel.exceptions import InputError, StoreError
from manylabel.store.journal import Journal
from manylabel.tagger.entries import Forget, Learn, encoded
from manylabel.tagger.home import Home
from manylabel.tagger.locks import ReadWriteLock
from manylabel.tagger.memory import Memory

__all__ = ["Persistent", "Write"]


class Write(Protocol):
    """What `Persistent._writing` gives to change a memory with."""

    def __call__(
        self, changes: Sequence[Learn | Forget], counts: sparse.csr_array | None = None
    ) -> None:
        """Make changes: on disk first, if there is a folder, then in memory."""


class Persistent:
    """The half of a tagger that keeps what it knows: in memory for many threads, and in a folder.

    Every change is in the journal of the folder before anybody hears of it.
    """

    n_jobs: int | None
    verbose: int = 0

    def __init__(self) -> None:
        self._lock = ReadWriteLock()
        self._memory: Memory | None = None
        self._home: Home | None = None
        self._fit_seconds: dict[str, float] = {}

    @property
    def model_name(self) -> str:
        """The name of the model, or of its class."""
        raise NotImplementedError

    @property
    def path(self) -> Path | None:
        """The folder where the tagger lives; None before it is saved."""
        return None if self._home is None else self._home.folder

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save to a folder; from now on, what is learnt and forgotten is kept there as well.

        A crash leaves the model that was there before, or this one.

        Parameters
        ----------
        path : path
            A new folder, or that of a model to be replaced.
        """
        folder = Path(path)
        if self._home is not None and _same_folder(folder, self._home.folder):
            self._fold(lambda memory: memory)
            return
        with ExitStack() as held:
            writer = None
            if Home.has_journal(folder):
                journal = held.enter_context(Journal(folder))
                writer = held.enter_context(journal.writing())
            held.enter_context(self._lock.writing())
            memory = self._fitted()
            before = memory.token, memory.sequence
            # A model in another place has a journal of its own.
            memory.token, memory.sequence = secrets.token_hex(8), 0
            try:
                self._write(folder, memory)
                if writer is not None:
                    writer.begin(memory.token, 0)
            except BaseException:
                memory.token, memory.sequence = before
                raise
            self._home = Home(folder, self._reloaded)
            self._home.saved()

    @classmethod
    def load(cls, path: str | os.PathLike[str], n_jobs: int | None = None) -> Self:
        """Read a tagger from its folder, with everything that was learnt since it was saved.

        What this tagger learns and forgets is in the folder before `learn` and `forget` return,
        and what other processes write there is known at the next call.

        Parameters
        ----------
        path : path
        n_jobs : int, optional
            Threads, if not as many as when it was saved.
        """
        found = store.load(path)
        if not isinstance(found, cls):
            raise StoreError(
                f"the folder holds {type(found).__name__}, not a tagger; read it with "
                "manylabel.load.",
                os.fspath(path),
            )
        if n_jobs is not None:
            found.n_jobs = n_jobs
            if found._memory is not None:
                found._memory.use_jobs(n_jobs)
        return found

    def compact(self, retrain: bool = False) -> None:
        """Make what was learnt and forgotten part of the saved model; the journal is then empty.

        InstanceKNN, FeatureKNN and LCIF, which keep their documents, are trained anew: searching
        is as fast as after `fit`, words are weighed anew, and forgotten documents leave no trace
        but their words in the vocabulary and the threshold. An Ensemble searches as fast as after
        `fit`, and its other parts stay as they are, as other models do.

        Parameters
        ----------
        retrain : bool, default=False
            Train any model anew, from the texts: what it learnt comes to all its parts and to the
            vocabulary, and what it forgot leaves them.
        """
        if self._home is not None:
            self._fold(self._retrained if retrain else _compacted)
            return
        with self._lock.writing():
            memory = self._fitted()
            self._memory = self._retrained(memory) if retrain else _compacted(memory)

    def _retrained(self, memory: Memory) -> Memory:
        """A memory of the same documents that is trained from nothing."""
        raise NotImplementedError

    def _fitted(self) -> Memory:
        if self._memory is None:
            raise InputError("this tagger is not fitted: call fit(texts, labels) first.")
        return self._memory

    def _latest(self) -> Memory:
        """The memory with everything that other processes wrote; the model may lag behind."""
        memory, home = self._fitted(), self._home
        if home is not None and home.has_changed():
            with self._lock.writing():
                self._memory = memory = home.latest(self._fitted())
        return memory

    def _remember(self, memory: Memory) -> None:
        """Know this from now on, and nothing else; the folder is not touched."""
        with self._lock.writing():
            self._memory, self._home = memory, None

    @contextmanager
    def _reading(self) -> Iterator[Memory]:
        """Everything learnt so far is in the model, and stays as it is meanwhile."""
        while True:
            memory = self._latest()
            if memory.learner.is_behind:
                with self._lock.writing():
                    memory.catch_up()
            with self._lock.reading():
                # Another thread may have learnt something between the two locks.
                if memory is self._memory and not memory.learner.is_behind:
                    yield memory
                    return

    @contextmanager
    def _writing(self) -> Iterator[tuple[Memory, Write]]:
        """The latest memory, which nobody else reads or writes, and what changes it."""
        home, memory = self._home, self._fitted()
        if home is None:
            with self._lock.writing():
                yield memory, memory.apply
            return
        # The journal first: while this waits for another process, other threads may read.
        with home.journal.writing() as writer, self._lock.writing():
            memory = self._memory = home.latest(self._fitted(), writer.read)
            home.begin(memory, writer)

            def write(
                changes: Sequence[Learn | Forget], counts: sparse.csr_array | None = None
            ) -> None:
                last = writer.append(encoded(changes))
                writer.commit()
                memory.apply(changes, counts)
                memory.sequence = last

            yield memory, write

    def _fold(self, change: Callable[[Memory], Memory]) -> None:
        """Make the journal part of the saved model, after a change that is none for others."""
        assert self._home is not None
        home = self._home
        with home.journal.writing() as writer, self._lock.writing():
            before = self._memory = home.latest(self._fitted(), writer.read)
            memory = self._memory = change(before)
            memory.token, memory.sequence = before.token, before.sequence
            self._write(home.folder, memory)
            home.begin(memory, writer)
            writer.fold(memory.sequence)
            home.saved()

    def _write(self, folder: Path, memory: Memory) -> None:
        """Write the model; the manifest tells which entries of the journal it has."""
        info = {
            "model": self.model_name,
            "documents": len(memory.documents),
            "labels": memory.n_labels,
            "tagger": {"token": memory.token, "sequence": memory.sequence},
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
            if self._memory is not None:
                self._memory.catch_up()
            return self._settings() | {"_memory": self._memory}

    @classmethod
    def _from_store_state(cls, state: dict[str, Any]) -> Self:
        tagger = cls.__new__(cls)
        Persistent.__init__(tagger)
        vars(tagger).update(state)
        return tagger

    def _on_load(self, folder: Path) -> None:
        """Catch up with the journal of the folder that this was read from."""
        self._home = Home(folder, self._reloaded)
        if self._memory is not None:
            self._memory = self._home.latest(self._memory)

    def _reloaded(self) -> Memory:
        """What the folder has now; the settings become its as well."""
        assert self._home is not None
        other = type(self).load(self._home.folder, self.n_jobs)
        vars(self).update(other._settings())
        return other._fitted()


def _compacted(memory: Memory) -> Memory:
    memory.compact()
    return memory


def _same_folder(a: Path, b: Path) -> bool:
    return a.exists() and b.exists() and a.samefile(b)
