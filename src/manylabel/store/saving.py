"""Write model folders.

Each `save` writes its arrays to a new subfolder, a generation. The manifest names its
generation, and is replaced atomically when all of the generation is on disk.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from manylabel import __version__
from manylabel.exceptions import StoreError
from manylabel.store import known
from manylabel.store import manifest as manifests
from manylabel.store.arrays import write_array, write_file
from manylabel.store.classes import is_estimator, name_of
from manylabel.store.encoding import Encoder
from manylabel.store.folder import checks_itself, loaded
from manylabel.store.locks import LOCK, exclusive
from manylabel.store.manifest import FORMAT, FORMAT_VERSION, MANIFEST
from manylabel.store.mark import MARK_NAME, Mark

__all__ = ["FolderWriter", "leftovers", "save", "sweep", "writing"]

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
    with writing(path) as writer:
        writer.prepare(model, info)
        writer.publish()


@contextmanager
def writing(path: str | os.PathLike[str], create: bool = True) -> Iterator[FolderWriter]:
    """Keep other writers out of a model folder, after waiting for the current one.

    Readers do not notice, and neither does the journal of a tagger. A model that was prepared, but
    not published, is removed at the end.

    Parameters
    ----------
    path : path
    create : bool, default=True
        Make the folder if it does not exist.

    Raises
    ------
    StoreError
        If the folder cannot be written or has other files, or if another process writes it for
        more than two minutes.
    """
    folder = Path(path)
    if not create and not folder.is_dir():
        raise StoreError("no such folder.", folder)
    with ExitStack() as held:
        with _reporting(folder):
            held.enter_context(_made(folder))
            held.enter_context(exclusive(folder))
            _sweep(folder)
        writer = FolderWriter(folder)
        try:
            yield writer
        except BaseException:
            _sweep(folder, writer.generation)
            if os.listdir(folder) == [LOCK]:
                _remove(folder / LOCK)
            raise
        _sweep(folder)


class FolderWriter:
    """Replaces the model of a folder in two steps: a slow one, and one that takes an instant.

    Attributes
    ----------
    generation : str or None
        The subfolder of the prepared model.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._manifest: dict[str, Any] = {}
        self.generation: str | None = None

    def prepare(self, model: Any, info: dict[str, Any] | None = None) -> None:
        """Write all arrays of a model to disk; the folder still has the old model."""
        with model._storing() if hasattr(model, "_storing") else nullcontext():
            encoded = Encoder(model)
            manifest = _described(model) | {"info": _checked_info(info)}
            mark = model._store_mark() if hasattr(model, "_store_mark") else None
            self.generation = manifest["data"] = f"data-{secrets.token_hex(8)}"
            with _reporting(self._folder):
                data = self._folder / self.generation
                manifest["files"] = _write_arrays(data, encoded.arrays)
                if mark is not None:
                    # The journal has entries up to this one, whether the model is published or not.
                    manifest["mark"] = mark[0]
                    Mark(self._folder).write(*mark)
        manifest["model"] = encoded.tree
        self._manifest = manifest

    def load(self) -> Any:
        """The prepared model, memory-mapped; its files were just written and are not verified."""
        return loaded(self._folder, self._manifest, verify=False)

    def publish(self) -> None:
        """Replace the old model by the prepared one, atomically."""
        with _reporting(self._folder):
            _replace_manifest(self._folder, self._manifest)
            if checks_itself(self._manifest):
                content = manifests.read_bytes(self._folder)
                known.remember(known.digest_of(self._folder, content, self._manifest))


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
