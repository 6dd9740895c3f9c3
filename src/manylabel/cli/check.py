"""``manylabel check``: whether a model folder is what was written."""

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
    """Read a model folder from end to end and say what is damaged.

    Compares the checksums of all files and looks at all indices, including those of a model that is
    too large to check when it is loaded, reads the journal, and looks for what killed writers left
    behind. The exit code is 1 if something is damaged. Other processes can use the model meanwhile.

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
            note(f"{model}: {counted(n_files, 'file')}, {size}, all as they were written.", quiet)
            note(f"Changes since the model was saved: {changes:,}.", quiet)
        if left:
            note(f"Left by a writer, and removed by the next: {', '.join(left)}.", quiet)
    if damage:
        raise typer.Exit(1)
