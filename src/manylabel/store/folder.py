"""Load model folders."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Any

from manylabel import __version__
from manylabel.exceptions import InputError, StoreError
from manylabel.parallel import run_blocks
from manylabel.store import arrays as array_files
from manylabel.store import known
from manylabel.store import manifest as manifests
from manylabel.store.arrays import as_array, check_sum, open_file
from manylabel.store.classes import class_named
from manylabel.store.decoding import ChangedClassError, Decoder, UnknownClassError
from manylabel.store.manifest import MANIFEST

__all__ = ["checks_itself", "load", "loaded", "look_at_arrays"]

#: Taggers whose memory-mapped files are larger in total are checked in the background.
VERIFIED = 1 << 28


def load(path: str | os.PathLike[str], *, verify: bool | None = None) -> Any:
    """Read a model from a folder.

    Arrays are memory-mapped: loading takes milliseconds, and processes that load the same model
    share its memory. Changes to a loaded model stay within the process.

    Parameters
    ----------
    path : str or path
        A folder that :func:`save` wrote.
    verify : bool, optional
        Compare the checksums of the memory-mapped files, which reads them from end to end, and
        look for indices that point nowhere. By default this is done, except that the checksums of
        a tagger of more than 256 MB are compared in the background while it is in use, which
        raises an error once damage is found (:meth:`Tagger.check_files` waits for that). Its
        indices are looked at before, unless this user has saved or loaded the folder on this
        machine. Names, sizes and the checksums of small files are always compared.

    Returns
    -------
    object
        The saved object. Its predictions are the same bit for bit.

    Raises
    ------
    StoreError
        If the folder is not a model folder, is incomplete, was altered or is too new.
    """
    folder = Path(path)
    while True:
        content, is_deep = manifests.read_bytes(folder), False
        try:
            manifest = manifests.parse(folder, content)
            in_background = verify is None and checks_itself(manifest)
            digest = known.digest_of(folder, content, manifest) if in_background else None
            is_deep = in_background and not known.is_known(digest)
            model = loaded(folder, manifest, verify, is_deep)
            if is_deep:
                known.remember(digest)
            break
        except StoreError:
            # A writer may have replaced the model meanwhile.
            if content == manifests.read_bytes(folder):
                if is_deep:
                    _raise_damage(folder)
                raise
    if hasattr(model, "_on_load"):
        model._on_load(folder)
    if in_background:
        model._on_unverified(folder, manifest)
    return model


def _raise_damage(folder: Path) -> None:
    """Name a file that was altered, which explains more than the index that it has changed."""
    from manylabel.store.checking import damaged_files

    for error in damaged_files(folder):
        raise error


def checks_itself(manifest: dict[str, Any]) -> bool:
    """Whether a model is checked in the background: it is large, and its class can do that."""
    if _mapped_bytes(manifest) <= VERIFIED:
        return False
    try:
        return hasattr(class_named(manifest["model"]["object"]["class"]), "_on_unverified")
    except (KeyError, TypeError):
        return False


def _mapped_bytes(manifest: dict[str, Any]) -> int:
    """The total size of the memory-mapped files."""
    sizes = [record["bytes"] for record in manifest["files"].values()]
    return sum(size for size in sizes if size >= array_files.MAPPED)


def look_at_arrays(folder: Path, manifest: dict[str, Any]) -> None:
    """Refuse a model with indices that point nowhere, even where checksums are right.

    Raises
    ------
    StoreError
    """
    loaded(folder, manifest, verify=False, is_deep=True)


def loaded(
    folder: Path, manifest: dict[str, Any], verify: bool | None, is_deep: bool = False
) -> Any:
    """The model of a manifest; its indices are looked at with the checksums, or if asked for."""
    data, records = folder / manifest["data"], manifest["files"]
    if data.is_symlink():
        raise StoreError(
            "this is a link, which is not allowed in a model folder; replace it by the folder.",
            data,
        )
    files = {name: open_file(data / name, record) for name, record in records.items()}
    mapped = [name for name, buffer in files.items() if isinstance(buffer, mmap.mmap)]
    if verify is None:
        verify = not checks_itself(manifest)
    checked = [name for name in files if verify or name not in mapped]

    def check(start: int, stop: int) -> None:
        for name in checked[start:stop]:
            check_sum(data / name, files[name], records[name])

    run_blocks(check, len(checked), 1, -1 if verify and mapped else 1)
    arrays = {name: as_array(data / name, buffer, records[name]) for name, buffer in files.items()}
    path = folder / MANIFEST
    try:
        return Decoder(arrays.__getitem__, verify or is_deep).decode(manifest["model"])
    except UnknownClassError as error:
        raise StoreError(
            f"the file has the class {str(error)!r}, which manylabel {__version__} does not have; "
            f"it was written by version {manifest['library']}: update manylabel if that is newer.",
            path,
        ) from None
    except ChangedClassError as error:
        raise StoreError(
            f"the file has a {str(error)!r} in a form unknown to manylabel {__version__}; it was "
            f"written by version {manifest['library']}: use that version, or train again.",
            path,
        ) from None
    except InputError as error:
        what = str(error).rstrip(".")
        raise StoreError(f"the model is damaged ({what}); {array_files.REPAIR}.", path) from None
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError):
        raise manifests.malformed(path) from None
