"""Immutable objects that client and workers share; inputs are named by the hash of their content.

They are in a folder that all machines can access, or in a depot, or go through Dask. An object
appears under its name when it is complete. If the name exists already, the object is the same and
is not written again. So a task may run twice, at the same time or after a crash.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from manylabel import __version__, store
from manylabel.distributed.depot import Depot
from manylabel.distributed.publishing import publish
from manylabel.exceptions import ClusterError, StoreError
from manylabel.store.encoding import Encoder
from manylabel.store.manifest import MANIFEST, parse, read_bytes
from manylabel.store.mark import Mark

__all__ = ["Spool", "digest_of", "keep", "name_of_job"]

_INPUTS, _RESULTS, _CHECKPOINTS = "inputs", "results", "checkpoints"


def digest_of(thing: Any) -> str:
    """Hash the content of anything that a model folder can contain.

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
    """Hash names and the version of manylabel."""
    return hashlib.sha256("\n".join([__version__, *parts]).encode()).hexdigest()[:32]


def keep(thing: Any, path: Path) -> None:
    """Save an object, unless the path exists."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    store.save(thing, unfinished)
    publish(unfinished, path)


def _link(source: str, target: str) -> None:
    """Hard-link a file; copy it if that is not possible."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


class Spool:
    """The inputs, results and checkpoints of tasks.

    Parameters
    ----------
    folder : Path
        Contains everything; with a depot, copies of it.
    lasting : bool
        Whether results are kept for a later run.
    depot : Depot, optional
        Where workers read inputs and write results, if they cannot access the folder.
    handed : bool
        Whether inputs and results go through Dask: workers can access neither folder nor depot.
    """

    def __init__(
        self, folder: Path, lasting: bool, depot: Depot | None = None, handed: bool = False
    ) -> None:
        self.folder, self.lasting = folder.absolute(), lasting
        self.depot, self.handed = depot, handed
        self.folder.mkdir(parents=True, exist_ok=True)

    @property
    def name(self) -> str:
        """Where finished work is, for messages."""
        return str(self.folder) if self.depot is None else self.depot.address

    def key(self, path: Path) -> str:
        """The name of an object in the folder, the same on every machine."""
        return path.relative_to(self.folder).as_posix()

    def _sent(self, path: Path) -> Path:
        """Store the object in the depot, if there is one, and return the path."""
        if self.depot is not None:
            self.depot.put(self.key(path), path)
        return path

    def put(self, thing: Any) -> Path:
        """Save an object, and return its path."""
        path = self.folder / _INPUTS / digest_of(thing)
        keep(thing, path)
        return self._sent(path)

    def put_folder(self, folder: Path) -> Path:
        """Link a saved model, whose folder may change later, and return the path of the link.

        No arrays are read: the name is a hash of the manifest, which has checksums, and files are
        hard-linked if possible.
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
            publish(unfinished, path)
        return self._sent(path)

    def path_of_result(self, job: str, name: str) -> Path:
        """The path of a result of a job, whether it exists or not."""
        return self.folder / _RESULTS / job / name

    def finished(self, job: str) -> set[str]:
        """The names of the finished results of a job."""
        return self._names(f"{_RESULTS}/{job}")

    def _names(self, key: str) -> set[str]:
        """The names of complete objects under a key."""
        if self.depot is not None:
            return self.depot.names(key)
        folder = self.folder / key
        names = os.listdir(folder) if folder.is_dir() else []
        return {name for name in names if not name.endswith(".tmp")}

    def result(self, path: Path) -> Any:
        """Load a result; a missing or damaged one is removed, and None returned."""
        try:
            if self.depot is not None and not path.exists():
                self.depot.get(self.key(path), path)
            return store.load(path, verify=self.lasting)
        except (StoreError, FileNotFoundError):
            self._remove(path)
            return None

    def _remove(self, path: Path) -> None:
        shutil.rmtree(path, ignore_errors=True)
        if self.depot is not None:
            self.depot.remove(self.key(path))

    def save_progress(self, work: str, state: Any) -> None:
        """Save a checkpoint of some work, then remove the earlier ones."""
        folder = self.folder / _CHECKPOINTS / work
        before = self._names(f"{_CHECKPOINTS}/{work}")
        path = folder / f"{len(before)}-{digest_of(state)}"
        keep(state, path)
        self._sent(path)
        for name in before:
            self._remove(folder / name)

    def load_progress(self, work: str) -> Any:
        """A checkpoint of some work; None if there is none."""
        folder = self.folder / _CHECKPOINTS / work
        kept = sorted(self._names(f"{_CHECKPOINTS}/{work}"))
        states = [self.result(folder / name) for name in kept]
        return next((state for state in states if state is not None), None)

    def drop(self, paths: Iterable[Path]) -> None:
        """Remove objects that are no longer needed, unless results are kept for a later run."""
        if not self.lasting:
            for path in paths:
                self._remove(path)

    def discard(self, path: Path) -> None:
        """Remove an object, even if results are kept for a later run."""
        with suppress(ClusterError):  # A leftover only takes space.
            self._remove(path)

    def remove(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.depot is not None:
            self.depot.remove()
