"""Model folders, taggers and parameters from the options of a command."""

from __future__ import annotations

import json
import secrets
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from manylabel.cli.output import note, working
from manylabel.exceptions import ManylabelError, StoreError

if TYPE_CHECKING:
    from manylabel.tagger import Tagger

__all__ = [
    "cause_of",
    "check_opened",
    "check_target",
    "folder_size",
    "open_tagger",
    "open_without_journal",
    "opened",
    "parsed_value",
    "settings_of",
]

#: Taggers of this command that may not be checked to the end.
opened: list[Tagger] = []


def check_target(path: str, force: bool) -> None:
    """Refuse an unusable target folder before the training starts."""
    if path == "-":
        raise typer.BadParameter("a model is a folder; it cannot go to standard output.")
    folder = Path(path)
    if folder.is_dir() and any(folder.iterdir()):
        if not (folder / "model.json").exists():
            raise ManylabelError(f"{path} is not empty and not a model; choose a new folder.")
        if not force:
            raise ManylabelError(
                f"{path} already contains a model; choose another folder, or give --force to "
                "replace it."
            )
    elif folder.exists() and not folder.is_dir():
        raise ManylabelError(f"{path} is a file; choose a new folder.")
    parent = next(p for p in (folder.absolute(), *folder.absolute().parents) if p.exists())
    # Permissions are not enough: the disk may be full or read-only.
    probe = parent / f".{secrets.token_hex(4)}.tmp"
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError as error:
        raise ManylabelError(
            f"{parent} cannot be written ({error.strerror or error}); choose another folder."
        ) from None


def open_tagger(path: str, jobs: int, quiet: bool) -> Tagger:
    """Load the tagger from a folder, with this number of threads."""
    from manylabel.tagger import Tagger

    with working(f"Loading {path} ...", quiet):
        tagger = Tagger.load(path, n_jobs=jobs)
    opened.append(tagger)
    return tagger


def check_opened() -> None:
    """Check the files of large models that were opened; the command may have used damaged ones."""
    try:
        for tagger in opened:
            with working(f"Checking {tagger.path} ...", quiet=False):
                tagger.check_files()
    except StoreError as error:
        raise ManylabelError(f"{error} Do not use the output of this command.") from None


def cause_of(error: Exception) -> Exception:
    """The damage of a large model that may have caused an error, or the error itself."""
    is_told = isinstance(error, ManylabelError) and not isinstance(error, StoreError)
    if not is_told and not hasattr(error, "format_message"):  # nor a usage error
        try:
            check_opened()
        except ManylabelError as damage:
            return damage
    return error


def open_without_journal(path: str, jobs: int, quiet: bool) -> Tagger:
    """Load the tagger from a folder without lost entries of its journal, and say how many."""
    from manylabel.tagger import Tagger

    with warnings.catch_warnings(record=True) as caught, working(f"Loading {path} ...", quiet):
        warnings.simplefilter("always")
        tagger = Tagger.load(path, n_jobs=jobs, without_journal=True)
    for warning in caught:
        note(str(warning.message), quiet=False)
    return tagger


def settings_of(given: list[str] | None) -> dict[str, Any]:
    """Parse the parameters of ``--set name=value``."""
    settings = {}
    for setting in given or []:
        name, equals, value = setting.partition("=")
        if not equals or not name.strip():
            raise typer.BadParameter(f"--set {setting} must be NAME=VALUE, such as k=50.")
        settings[name.strip()] = parsed_value(value)
    return settings


def parsed_value(text: str) -> Any:
    """Parse a number, true, false, null or a list as JSON; anything else stays a string."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def folder_size(path: str) -> int:
    """The total size of the files in a folder, in bytes."""
    return sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())
