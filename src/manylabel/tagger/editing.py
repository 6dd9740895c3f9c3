"""Labels of a trained model that people rename, merge, hide, delete and add."""

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
    """The part of a tagger with which people edit its labels."""

    def edit_labels(
        self,
        action: str,
        labels: str | Iterable[str] = (),
        to: str | None = None,
        name: str | None = None,
    ) -> LabelChange:
        """Rename, merge, hide, show, delete or add labels, or take the last edit back.

        The next call knows of it. A saved tagger's edit is in the journal of its folder before this
        returns, like what `learn` is given. Edits stay in force when the model is trained again or
        the vocabulary is replaced. The last 50 can be taken back, the latest first.

        What is exact: documents, neighbours and words are as if the documents had always had these
        labels. ``not_updated`` names parts of the model that only training changes.

        Parameters
        ----------
        action : {"rename", "merge", "hide", "show", "delete", "add", "undo"}
            - "rename": a label becomes ``to``, or people read another ``name`` of it, or both.
            - "merge": the documents of all labels have ``to`` instead, and its names are theirs.
              ``to`` may be one of them, another label, or a new one.
            - "hide": labels are not suggested or listed any more, but keep their documents. A
              collection or scheme of the vocabulary stands for all its labels.
            - "show": the opposite.
            - "delete": documents lose the labels.
            - "add": labels that no document has yet. In a model that was trained with a vocabulary,
              they are suggested where their names stand in a text.
            - "undo": takes the last edit back.
        labels : str or list of str
        to : str, optional
        name : str, optional
            What people read; also of a label that is added. Without it, a label added to a model
            that reads names is looked for as it is written.

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
        Took back the last edit: merge 'kittens' into 'cats': 1 document.
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
        """Labels that were hidden, in alphabetical order."""
        return sorted(self._latest().labels.edits.hidden)

    @property
    def label_edits(self) -> int:
        """How many edits of labels were made; rises with each."""
        return self._latest().labels.edits.version


def _check_form(action: str, labels: list[str], to: str | None, name: str | None) -> None:
    """Refuse what makes no sense whatever the labels are."""
    if action not in ACTIONS:
        near = get_close_matches(str(action), ACTIONS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ParameterError(f"`action` must be one of {', '.join(ACTIONS)}; got {action!r}{hint}")
    if action != "undo" and not labels:
        raise InputError(f"`labels` is empty: name a label to {action}.")
    for given in (*labels, to, name):
        if given is not None and not given.strip():
            raise InputError("a label and its name must not be empty.")
    if action == "rename" and len(labels) > 1:
        raise InputError(f"one label can be renamed at a time; got {len(labels)}.")
    if action == "rename" and to is None and name is None:
        raise InputError("`to` is missing: say what to rename the label to.")
    if action == "merge" and to is None:
        raise InputError("`to` is missing: say which label to merge into.")
    if action not in ("rename", "merge") and to is not None:
        raise InputError(f"`to` has no meaning for {action!r}; leave it out.")
    if name is not None and (action not in ("rename", "add") or len(labels) > 1):
        raise InputError("`name` is for one label that is renamed or added; leave it out.")


def _checked(state: TaggerState, model_name: str, edit: Edit) -> Edit | None:
    """An edit that can be made, with labels instead of collections; None if it changes nothing."""
    labels, action = state.labels, edit.action
    edits = labels.edits
    taken = {*state.offered(), *edits.hidden}
    if action == "undo":
        if not edits.history:
            raise InputError("there is no edit of labels to take back.")
        last = edits.history[-1]
        if last.action == "rename" and last.to is not None and last.labels[0] in taken:
            raise InputError(
                f"the last edit cannot be taken back: {last.labels[0]!r} is a label again. Merge "
                "the two instead."
            )
        return edit
    if action == "add":
        for label in edit.labels:
            if label in taken:
                raise InputError(f"{label!r} is a label already; choose another.")
        if not state.model.can_learn:
            raise InputError(
                f"{model_name} cannot learn single documents, so it would never suggest a new "
                "label; train it again with documents that have the label."
            )
        return edit
    columns = labels.columns(edit.labels, None, collections=action in ("hide", "show"))
    named = list(dict.fromkeys(labels.listed[column] for column in columns.tolist()))
    if action == "rename":
        if edit.to is not None and edit.to in taken:
            if edit.to == edit.labels[0]:
                raise InputError(f"`to` is {edit.to!r}, the same label; give another.")
            raise InputError(f"`to` is {edit.to!r}, which is a label already; merge them instead.")
        return edit._replace(labels=named)
    if action in ("hide", "show"):
        named = [label for label in named if (label in edits.hidden) == (action == "show")]
    if action == "merge":
        named = [label for label in named if label != edit.to]
    return edit._replace(labels=named) if named else None
