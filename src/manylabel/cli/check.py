"""``manylabel check``: verify a model folder."""

from __future__ import annotations

from pathlib import Path

import typer

from manylabel.cli.models import folder_size
from manylabel.cli.options import Debug, Json, ModelPath, Quiet
from manylabel.cli.output import counted, note, print_json, readable_size, working

__all__ = ["check"]


def check(
    model: ModelPath,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Verify a model folder and report what is damaged.

    Compares the checksums of all files, checks all indices, reads the journal, and looks for
    temporary files of interrupted commands. Unlike loading, it waits until even large files are
    compared. The exit code is 1 if something is damaged. Other processes can use the model at the
    same time.

    For example:
      manylabel check model
      manylabel check model --json
    """
    from manylabel.exceptions import StoreError
    from manylabel.store import damaged_files, leftovers, load, read_manifest
    from manylabel.store.folder import look_at_arrays
    from manylabel.store.journal import Journal

    damage: list[str] = []
    n_files = changes = 0
    with working(f"Checking {model} ...", quiet):
        try:
            manifest = read_manifest(model)
            n_files = len(manifest["files"])
            damage += map(str, damaged_files(model))
            with Journal(model) as journal:
                journal.check()
                changes = len(journal.read().entries)
            if not damage:
                look_at_arrays(Path(model), manifest)
                load(model, verify=False)
        except StoreError as error:
            damage.append(str(error))
    left = leftovers(model)
    if as_json:
        print_json({"files": n_files, "changes": changes, "leftovers": left, "damage": damage})
    else:
        for sentence in damage:
            print(sentence)
        if not damage:
            size = readable_size(folder_size(model))
            note(f"{model}: {counted(n_files, 'file')}, {size}, no damage.", quiet)
            note(f"Changes since the model was saved: {changes:,}.", quiet)
        if left:
            names = ", ".join(left)
            note(f"Left by an interrupted command; the next change removes it: {names}.", quiet)
    if damage:
        raise typer.Exit(1)
