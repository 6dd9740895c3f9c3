"""Rename, merge, hide, delete and add labels of a trained model."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from manylabel.exceptions import InputError, ParameterError
from manylabel.tagger.changes import Edit
from manylabel.tagger.label_edits import ACTIONS, LabelChange
from manylabel.tagger.persistence import Persistent
from manylabel.tagger.state import TaggerState

__all__ = ["LabelEditing"]


class LabelEditing(Persistent):
    """The methods of a tagger that edit labels."""

    def edit_labels(
        self,
        action: str,
        labels: str | Iterable[str] = (),
        to: str | None = None,
        name: str | None = None,
    ) -> LabelChange:
        """Rename, merge, hide, show, delete or add labels, or undo the last edit.

        The edit takes effect at once. If the tagger was saved, the edit is in the journal of its
        folder before this returns. Edits survive training and a new vocabulary. The last 50 can be
        undone, the latest first.

        Documents, neighbours and words are then exactly as if the documents had always had the new
        labels. ``not_updated`` names the parts of the model that change only at the next training.

        Parameters
        ----------
        action : {"rename", "merge", "hide", "show", "delete", "add", "undo"}
            - "rename": change the label to ``to``, or its name to ``name``, or both.
            - "merge": replace the labels by ``to``, which also takes over their names. ``to`` may
              be one of them, another label, or a new one.
            - "hide": stop suggesting and listing the labels; documents keep them. A collection or
              scheme of the vocabulary stands for all its labels.
            - "show": undo "hide".
            - "delete": remove the labels from all documents.
            - "add": add labels that no document has yet. A model that was trained with a vocabulary
              suggests them for texts that contain their names.
            - "undo": undo the last edit.
        labels : str or list of str
        to : str, optional
        name : str, optional
            The name to show for a renamed or added label. By default, an added label is its own
            name.

        Returns
        -------
        LabelChange

        Examples
        --------
        >>> from manylabel import Tagger
        >>> texts, labels = ["a cat", "a kitten", "a dog"], [["cats"], ["kittens"], ["dogs"]]
        >>> tagger = Tagger("lcif", parameters={"k": 2}).fit(texts, labels)
        >>> print(tagger.edit_labels("merge", ["cats", "kittens"], to="cats"))
        Merged 'kittens' into 'cats': 1 document.
        >>> tagger.labels
        ['cats', 'dogs']
        >>> print(tagger.edit_labels("undo"))
        Undid the last edit: merge 'kittens' into 'cats': 1 document.
        """
        wanted = [labels] if isinstance(labels, str) else [str(label) for label in labels]
        _check_form(action, wanted, to, name)
        with self._writing() as (state, write):
            edit = _checked(state, self.model_name, Edit(action, wanted, to, name))
            if edit is None:
                return LabelChange(action)
            undone = state.labels.edits.history[-1] if action == "undo" else None
            write([edit])
            record = undone or state.labels.edits.history[-1]
            return LabelChange(
                action,
                tuple(record.labels),
                record.to,
                len(record.documents),
                None if undone is None else undone.action,
                state.not_updated_by_edit(self.model_name, record),
            )

    @property
    def hidden_labels(self) -> list[str]:
        """The hidden labels, in alphabetical order."""
        return sorted(self._latest().labels.edits.hidden)

    @property
    def version(self) -> tuple[str, int, int, int, int]:
        """A value that differs after every change of documents or labels."""
        state = self._latest()
        documents, edits = state.documents, state.labels.edits
        return state.token, state.sequence, documents.n_numbers, len(documents), edits.version

    @property
    def label_edits(self) -> int:
        """A counter that rises with every edit of labels."""
        return self._latest().labels.edits.version


def _check_form(action: str, labels: list[str], to: str | None, name: str | None) -> None:
    """Refuse invalid combinations of arguments."""
    if action not in ACTIONS:
        near = get_close_matches(str(action), ACTIONS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ParameterError(f"`action` must be one of {', '.join(ACTIONS)}; got {action!r}{hint}")
    if action != "undo" and not labels:
        raise InputError(f"`labels` is empty: name a label to {action}.")
    for given in (*labels, to, name):
        if given is not None and not given.strip():
            raise InputError("labels and names must not be empty.")
    if action == "rename" and len(labels) > 1:
        raise InputError(f"rename one label at a time; got {len(labels)}.")
    if action == "rename" and to is None and name is None:
        raise InputError("`to` is missing: give the new label, or a `name`.")
    if action == "merge" and to is None:
        raise InputError("`to` is missing: give the label to merge into.")
    if action not in ("rename", "merge") and to is not None:
        raise InputError(f"`to` is for 'rename' and 'merge', not for {action!r}; leave it out.")
    if name is not None and (action not in ("rename", "add") or len(labels) > 1):
        raise InputError("`name` needs exactly one label to rename or add; leave it out.")


def _checked(state: TaggerState, model_name: str, edit: Edit) -> Edit | None:
    """Check an edit and expand collections to labels; None if the edit changes nothing."""
    labels, action = state.labels, edit.action
    edits = labels.edits
    taken = {*state.offered(), *edits.hidden}
    if action == "undo":
        if not edits.history:
            raise InputError("there is no edit to undo.")
        last = edits.history[-1]
        if last.action == "rename" and last.to is not None and last.labels[0] in taken:
            raise InputError(
                f"the last edit cannot be undone: {last.labels[0]!r} is in use again. Merge the "
                "two labels instead."
            )
        return edit
    if action == "add":
        for label in edit.labels:
            if label in taken:
                raise InputError(f"the label {label!r} already exists; choose another.")
        if not state.model.can_learn:
            raise InputError(
                f"{model_name} cannot learn single documents, so it would never suggest the new "
                "label; train it again with documents that have the label."
            )
        return edit
    columns = labels.columns(edit.labels, None, collections=action in ("hide", "show"))
    named = list(dict.fromkeys(labels.listed[column] for column in columns.tolist()))
    if action == "rename":
        if edit.to is not None and edit.to in taken:
            if edit.to == edit.labels[0]:
                raise InputError(f"`to` is the label itself, {edit.to!r}; give another.")
            raise InputError(f"`to` is an existing label, {edit.to!r}; merge the two instead.")
        return edit._replace(labels=named)
    if action in ("hide", "show"):
        named = [label for label in named if (label in edits.hidden) == (action == "show")]
    if action == "merge":
        named = [label for label in named if label != edit.to]
    return edit._replace(labels=named) if named else None
