"""The folder that client and workers share: immutable objects, named by the hash of their content.

An object appears under its name when it is complete. If the name exists already, the object is the
same and is left alone. So a task may run twice, at the same time or after a crash, and nothing is
written twice.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from manylabel import __version__, store
from manylabel.exceptions import StoreError
from manylabel.store.encoding import Encoder
from manylabel.store.manifest import MANIFEST, parse, read_bytes
from manylabel.store.mark import Mark

__all__ = ["Spool", "digest_of", "keep", "name_of_job"]

_INPUTS, _RESULTS, _CHECKPOINTS = "inputs", "results", "checkpoints"


def digest_of(thing: Any) -> str:
    """A hash of the content of anything that a model folder can hold.

    Examples
    --------
    >>> digest_of([1, 2]) == digest_of([1, 2]) != digest_of([2, 1])
    True
    """
    encoded = Encoder(thing)
    digest = hashlib.sha256(json.dumps(encoded.tree).encode())
    for name, array in encoded.arrays.items():
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()[:32]


def name_of_job(*parts: str) -> str:
    """A hash of other names and the version of manylabel."""
    return hashlib.sha256("\n".join([__version__, *parts]).encode()).hexdigest()[:32]


def keep(thing: Any, path: Path) -> None:
    """Save an object under its name, unless it exists."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    store.save(thing, unfinished)
    _publish(unfinished, path)


def _publish(unfinished: Path, path: Path) -> None:
    """Give a finished folder its name, unless another process was quicker."""
    try:
        os.rename(unfinished, path)
    except OSError:
        shutil.rmtree(unfinished, ignore_errors=True)
        if not path.exists():
            raise


def _link(source: str, target: str) -> None:
    """Hard-link a file; copy it where links are not possible."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


class Spool:
    """The inputs, results and checkpoints of tasks.

    Parameters
    ----------
    folder : Path
    lasting : bool
        Whether results are kept for a later run.
    """

    def __init__(self, folder: Path, lasting: bool) -> None:
        self.folder, self.lasting = folder.absolute(), lasting
        self.folder.mkdir(parents=True, exist_ok=True)

    def put(self, thing: Any) -> Path:
        """Save an object, and return its path."""
        path = self.folder / _INPUTS / digest_of(thing)
        keep(thing, path)
        return path

    def put_folder(self, folder: Path) -> Path:
        """Link a model that `store` saved in a folder, which may change later; return its path.

        No arrays are read: the name is a hash of the manifest, which has checksums, and files are
        linked where the system can.
        """
        manifest = read_bytes(folder)
        path = self.folder / _INPUTS / hashlib.sha256(manifest).hexdigest()[:32]
        if not path.exists():
            unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
            described = parse(folder, manifest)
            data = described["data"]
            shutil.copytree(folder / data, unfinished / data, copy_function=_link)
            if "mark" in described:
                # A copy: the mark of the original changes with its journal.
                mark = Mark(folder).path(described["mark"])
                shutil.copyfile(mark, unfinished / mark.name)
            (unfinished / MANIFEST).write_bytes(manifest)
            _publish(unfinished, path)
        return path

    def place_of_result(self, job: str, name: str) -> Path:
        """Where a result of a job is, or will be."""
        return self.folder / _RESULTS / job / name

    def finished(self, job: str) -> set[str]:
        """The names of the finished results of a job."""
        folder = self.folder / _RESULTS / job
        names = os.listdir(folder) if folder.is_dir() else []
        return {name for name in names if not name.endswith(".tmp")}

    def result(self, path: Path) -> Any:
        """A result; a damaged one is removed, and None is returned."""
        try:
            return store.load(path, verify=self.lasting)
        except StoreError:
            shutil.rmtree(path, ignore_errors=True)
            return None

    def save_progress(self, work: str, state: Any) -> None:
        """Save a checkpoint of some work, then remove the earlier ones."""
        folder = self.folder / _CHECKPOINTS / work
        before = list(folder.iterdir()) if folder.is_dir() else []
        keep(state, folder / f"{len(before)}-{digest_of(state)}")
        for path in before:
            shutil.rmtree(path, ignore_errors=True)

    def load_progress(self, work: str) -> Any:
        """A checkpoint of some work; None if there is none."""
        folder = self.folder / _CHECKPOINTS / work
        kept = [path for path in folder.glob("*") if path.suffix != ".tmp"]
        states = [self.result(path) for path in kept]
        return next((state for state in states if state is not None), None)

    def drop(self, paths: Iterable[Path]) -> None:
        """Remove objects that are no longer needed, unless results are kept for a later run."""
        if not self.lasting:
            for path in paths:
                shutil.rmtree(path, ignore_errors=True)

    def remove(self) -> None:
        """Remove the whole folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
