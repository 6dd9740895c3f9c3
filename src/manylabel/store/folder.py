"""Save and load model folders.

Each `save` writes its arrays to a new subfolder, a generation. The manifest names its
generation, and is replaced atomically when all of the generation is on disk.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from manylabel import __version__
from manylabel.exceptions import InputError, StoreError
from manylabel.parallel import run_blocks
from manylabel.store import arrays as array_files
from manylabel.store import known
from manylabel.store import manifest as manifests
from manylabel.store.arrays import as_array, check_sum, open_file, write_array, write_file
from manylabel.store.classes import class_named, is_estimator, name_of
from manylabel.store.decoding import ChangedClassError, Decoder, UnknownClassError
from manylabel.store.encoding import Encoder
from manylabel.store.locks import LOCK, exclusive
from manylabel.store.manifest import FORMAT, FORMAT_VERSION, MANIFEST
from manylabel.store.mark import MARK_NAME, Mark

__all__ = ["leftovers", "load", "look_at_arrays", "save", "sweep"]

#: Taggers whose memory-mapped files are larger in total are checked in the background.
VERIFIED = 1 << 28

_UNFINISHED = re.compile(
    rf"data-[0-9a-f]{{16}}|model\.json\.[0-9a-f]{{16}}\.tmp|{MARK_NAME.pattern}"
)


def save(model: Any, path: str | os.PathLike[str], *, info: dict[str, Any] | None = None) -> None:
    """Write a model to a folder.

    A crash at any time leaves either the old model or the new one. `save` waits for other writers,
    but not for readers.

    Parameters
    ----------
    model : object
        Any classifier, vectorizer, weighting, threshold or index of manylabel, fitted or not.
    path : str or path
        A new folder, or that of a model to replace, which may be the one that this model was
        loaded from.
    info : dict, optional
        JSON to keep in the manifest; :func:`read_manifest` returns it.

    Raises
    ------
    StoreError
        If the model contains an object that cannot be stored, or the folder cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from manylabel import LCIF, load, save
    >>> model = LCIF(k=2).fit([[1, 0], [0, 1], [1, 1]], [[1, 0], [0, 1], [0, 1]])
    >>> with TemporaryDirectory() as folder:
    ...     save(model, folder)
    ...     same = load(folder)
    >>> same.predict([[1, 0]])
    array([[1, 0]])
    """
    folder = Path(path)
    with model._storing() if hasattr(model, "_storing") else nullcontext():
        _save(model, folder, info)


def _save(model: Any, folder: Path, info: dict[str, Any] | None) -> None:
    """Write a model that does not change meanwhile."""
    encoded = Encoder(model)
    manifest = _described(model) | {"info": _checked_info(info)}
    mark = model._store_mark() if hasattr(model, "_store_mark") else None
    with _reporting(folder), _made(folder), exclusive(folder):
        generation = f"data-{secrets.token_hex(8)}"
        _sweep(folder)
        try:
            manifest["data"] = generation
            manifest["files"] = _write_arrays(folder / generation, encoded.arrays)
            manifest["model"] = encoded.tree
            if mark is not None:
                # Before the manifest, which requires it.
                manifest["mark"] = mark[0]
                Mark(folder).write(*mark)
            _replace_manifest(folder, manifest)
            if _checks_itself(manifest):
                known.remember(known.digest_of(folder, manifests.read_bytes(folder), manifest))
        except BaseException:
            _sweep(folder, generation)
            if os.listdir(folder) == [LOCK]:
                _remove(folder / LOCK)
            raise
        _sweep(folder)


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
            in_background = verify is None and _checks_itself(manifest)
            digest = known.digest_of(folder, content, manifest) if in_background else None
            is_deep = in_background and not known.is_known(digest)
            model = _loaded(folder, manifest, verify, is_deep)
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


def _checks_itself(manifest: dict[str, Any]) -> bool:
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


def leftovers(path: str | os.PathLike[str]) -> list[str]:
    """The names of files and folders that a writer left unfinished in a model folder.

    Those that are being written right now are included.
    """
    folder = Path(path)
    with suppress(StoreError, OSError):
        manifest = manifests.read_manifest(folder)
        kept = {manifest["data"], f"journal-{manifest.get('mark')}.mark"}
        names = [name for name in os.listdir(folder) if _UNFINISHED.fullmatch(name)]
        if "mark" not in manifest:
            names = [name for name in names if not MARK_NAME.fullmatch(name)]
        return sorted(set(names) - kept)
    return []


def sweep(path: str | os.PathLike[str]) -> None:
    """Remove what killed writers left in a model folder, unless another process is writing."""
    folder = Path(path)
    if leftovers(folder):
        with suppress(StoreError, OSError), exclusive(folder, patience=0):
            _sweep(folder)


def _described(model: Any) -> dict[str, Any]:
    """The entries of a manifest that describe the model to readers."""
    cls = type(model)
    parameters = model.get_params(deep=False) if is_estimator(cls) else {}
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "library": __version__,
        "class": name_of(cls) or cls.__name__,
        "parameters": {name: _readable(value) for name, value in parameters.items()},
    }


def _readable(value: Any) -> Any:
    """A readable form of a parameter; the model itself has it exactly."""
    plain = value is None or type(value) in (bool, int, str)
    return value if plain or (type(value) is float and abs(value) < float("inf")) else repr(value)


def _checked_info(info: Any) -> dict[str, Any]:
    if info is None:
        return {}
    try:
        if json.loads(json.dumps(info, allow_nan=False)) == info:
            return info
        reason = "use only lists, and dicts with strings as keys"
    except (TypeError, ValueError) as error:
        reason = str(error)
    raise StoreError(f"`info` must be a dict that JSON can represent; {reason}.")


def _write_arrays(folder: Path, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Write a generation, and return the size and checksum of each file."""
    folder.mkdir()
    records = {name: write_array(folder / name, array) for name, array in arrays.items()}
    _flush_folder(folder)
    return records


def _replace_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Switch to the new model, atomically."""
    temporary = folder / f"{MANIFEST}.{secrets.token_hex(8)}.tmp"
    write_file(temporary, manifests.as_bytes(manifest))
    _flush_folder(folder)
    os.replace(temporary, folder / MANIFEST)
    # The new model is in effect already, even if its name is not durable yet.
    with suppress(OSError):
        _flush_folder(folder)


def _flush_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the system can."""
    if os.name == "posix":
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def _sweep(folder: Path, failed: str | None = None) -> None:
    """Remove what the manifest does not name; only ``failed`` if the manifest is unreadable."""
    named: set[str] | None = None
    mark: str | None = None
    with suppress(StoreError):
        manifest = manifests.read_manifest(folder)
        named, mark = {manifest["data"]}, manifest.get("mark")
    for name in os.listdir(folder):
        if name in (named or ()) or not _UNFINISHED.fullmatch(name):
            continue
        known = named is not None or not (folder / MANIFEST).exists()
        marked = MARK_NAME.fullmatch(name)
        if marked is not None:
            # Manifests of older versions do not name their mark: keep it.
            known = known and (named is None or mark not in (None, marked[1]))
        if known or name == failed or name.endswith(".tmp"):
            _remove(folder / name)


def _remove(path: Path) -> None:
    """Remove a file or folder; if a process has it open, the next save removes it."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


@contextmanager
def _reporting(folder: Path) -> Iterator[None]:
    """Turn OSError into StoreError."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"the model cannot be written ({error.strerror or error}); free some space or choose "
            "another folder.",
            folder,
        ) from None


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make the folder; remove it again on failure."""
    if folder.exists() and not folder.is_dir():
        raise StoreError("this is a file; choose a new folder.", folder)
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _check_free(folder)
        yield
    except BaseException:
        for parent in missing:
            with suppress(OSError):
                parent.rmdir()
        raise
    for parent in missing:
        with suppress(OSError):
            _flush_folder(parent.parent)


def _check_free(folder: Path) -> None:
    """Refuse a folder with other files and no model."""
    others = {name for name in os.listdir(folder) if not _UNFINISHED.fullmatch(name)} - {LOCK}
    if others and MANIFEST not in others:
        raise StoreError(
            f"the folder has other files ({min(others)}) and no model; choose a new folder.",
            folder,
        )


def look_at_arrays(folder: Path, manifest: dict[str, Any]) -> None:
    """Refuse a model with indices that point nowhere, even where checksums are right.

    Raises
    ------
    StoreError
    """
    _loaded(folder, manifest, verify=False, is_deep=True)


def _loaded(
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
        verify = not _checks_itself(manifest)
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
