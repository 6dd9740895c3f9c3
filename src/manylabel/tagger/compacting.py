"""Fold changes into the saved model while it goes on answering and learning."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from contextlib import closing
from typing import Any, Self

from manylabel import store
from manylabel.store.saving import FolderWriter
from manylabel.tagger.folder import TaggerFolder
from manylabel.tagger.persistence import Persistent
from manylabel.tagger.state import TaggerState

__all__ = ["Compacting"]


class Compacting(Persistent):
    """The methods of a tagger that rewrite its model."""

    def compact(self, retrain: bool = False) -> None:
        """Fold all changes into the saved model and empty the journal.

        If the tagger has a folder, this works on a copy: meanwhile all threads and processes can
        ask, learn and forget. What they change meanwhile stays in the journal. A crash leaves the
        old model or the new one. Without a folder, other threads wait.

        Forgotten texts are removed from the disk, and words that only they had from the vocabulary
        (unless ``keep_texts=False`` and the model keeps no rows). The rest depends on the model:

        - InstanceKNN, FeatureKNN and LCIF are trained again on the rows that they keep, with new
          word weights. Of forgotten documents there remain labels that no other document has, and
          the threshold of "auto".
        - An Ensemble rebuilds its index, so that searching is as fast as after `fit`. Its
          `not_updated_` parts, its curves and word weights stay.
        - Other models do not change.

        Parameters
        ----------
        retrain : bool, default=False
            Train the model again on the texts. It is then equal, bit for bit, to a model fitted to
            the remaining documents in their order: vocabulary, word weights, every part, threshold
            and labels.
        """
        change = type(self)._retrained if retrain else type(self)._compacted
        while (folder := self._folder) is not None:
            if self._rewrite(folder, change):
                return
        with self._lock.writing():
            self._state = change(self, self._fitted())

    @abstractmethod
    def _retrained(self, state: TaggerState) -> TaggerState:
        """Train a new state on the same documents, from scratch."""

    def _compacted(self, state: TaggerState) -> TaggerState:
        state.compact()
        return state

    def _rewrite(
        self, folder: TaggerFolder, change: Callable[[Any, TaggerState], TaggerState]
    ) -> bool:
        """Change a copy of the model, write it, and put it in the place of this one.

        False if another thread has meanwhile saved the tagger in another folder.
        """
        with store.writing(folder.path, create=False) as files:
            copy, followed = self._copied(folder)
            with closing(followed.journal):
                copy._change_and_prepare(change, files)
                state = files.load()._fitted()
                if self.n_jobs is not None:
                    state.use_jobs(self.n_jobs)
                contained = state.sequence
                # Most of what others changed meanwhile is applied before they have to wait.
                state = followed.latest(state)
                state.catch_up()
                with folder.journal.writing() as writer, self._lock.writing():
                    if folder is not self._folder:
                        return False
                    state = followed.latest(state, writer.read)
                    files.publish()
                    folder.begin(state, writer)
                    writer.fold(contained)
                    folder.saved()
                    self._state, self._check = state, None
                    self._fit_seconds = copy._fit_seconds
        folder.journal.scrub()
        return True

    def _copied(self, folder: TaggerFolder) -> tuple[Self, TaggerFolder]:
        """A tagger like this one, with arrays of its own, and the folder that it follows."""
        # Another process may have saved another model.
        self._latest()
        self.check_files()
        # What is written later gets right checksums.
        copy = store.load(folder.path, verify=True)
        vars(copy).update(self._settings(), verbose=self.verbose, _fit_seconds=self._fit_seconds)
        if self.n_jobs is not None:
            copy._fitted().use_jobs(self.n_jobs)
        return copy, copy._folder

    def _change_and_prepare(
        self, change: Callable[[Any, TaggerState], TaggerState], files: FolderWriter
    ) -> None:
        """Change the model, which no other thread uses, and write its arrays."""
        before = self._fitted()
        state = self._state = change(self, before)
        state.token, state.sequence = before.token, before.sequence
        self._prepare(files, state)
