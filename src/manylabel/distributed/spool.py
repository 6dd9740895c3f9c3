"""The folder that client and workers share: things under the name of their content, never changed.

A thing appears under its name when all of it is there. Whoever finds the name taken leaves it: what
is there is the same. So a task may run twice, at once or after a crash, and nothing is written
twice.
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
    """A name made of the content of anything that a model folder can hold.

    Examples
    --------
    >>> digest_of([1, 2]) == digest_of([1, 2]) != digest_of([2, 1])
    True
    """
    encoded = Encoder(thing)
    found = hashlib.sha256(json.dumps(encoded.tree).encode())
    for name, array in encoded.arrays.items():
        found.update(f"{name} {array.dtype.str} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return found.hexdigest()[:32]


def name_of_job(*parts: str) -> str:
    """A name made of other names; other versions of manylabel give other names."""
    return hashlib.sha256("\n".join([__version__, *parts]).encode()).hexdigest()[:32]


def keep(thing: Any, path: Path) -> None:
    """Put a thing in its place, unless it is there."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    store.save(thing, unfinished)
    _settle(unfinished, path)


def _settle(unfinished: Path, path: Path) -> None:
    """Give a folder its name, unless somebody else was quicker."""
    try:
        os.rename(unfinished, path)
    except OSError:
        shutil.rmtree(unfinished, ignore_errors=True)
        if not path.exists():
            raise


def _link(source: str, target: str) -> None:
    """Another name of a file; a copy where there can be none."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


class Spool:
    """What has been put aside for tasks, and what came of them.

    Parameters
    ----------
    folder : Path
    lasting : bool
        Whether results stay for a later run.
    """

    def __init__(self, folder: Path, lasting: bool) -> None:
        self.folder, self.lasting = folder.absolute(), lasting
        self.folder.mkdir(parents=True, exist_ok=True)

    def put(self, thing: Any) -> Path:
        """The place of a thing, which is there from now on."""
        path = self.folder / _INPUTS / digest_of(thing)
        keep(thing, path)
        return path

    def put_folder(self, folder: Path) -> Path:
        """The place of a model that `store` has saved in a folder, which may change later.

        Nothing is read: the manifest, which has checksums, gives the name, and files are linked
        where the system can.
        """
        manifest = read_bytes(folder)
        path = self.folder / _INPUTS / hashlib.sha256(manifest).hexdigest()[:32]
        if not path.exists():
            unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
            described = parse(folder, manifest)
            data = described["data"]
            shutil.copytree(folder / data, unfinished / data, copy_function=_link)
            if "mark" in described:
                # A copy: the mark of the folder goes on with its journal.
                mark = Mark(folder).path(described["mark"])
                shutil.copyfile(mark, unfinished / mark.name)
            (unfinished / MANIFEST).write_bytes(manifest)
            _settle(unfinished, path)
        return path

    def place_of_result(self, job: str, name: str) -> Path:
        """Where a result of a job is, or will be."""
        return self.folder / _RESULTS / job / name

    def finished(self, job: str) -> set[str]:
        """The names of the results of a job that are there."""
        folder = self.folder / _RESULTS / job
        names = os.listdir(folder) if folder.is_dir() else []
        return {name for name in names if not name.endswith(".tmp")}

    def result(self, path: Path) -> Any:
        """A result; None if it has been damaged, and then it is no longer there."""
        try:
            return store.load(path, verify=self.lasting)
        except StoreError:
            shutil.rmtree(path, ignore_errors=True)
            return None

    def put_aside(self, work: str, thing: Any) -> None:
        """Keep how far some work has come, and then forget what was kept of it before."""
        folder = self.folder / _CHECKPOINTS / work
        before = list(folder.iterdir()) if folder.is_dir() else []
        keep(thing, folder / f"{len(before)}-{digest_of(thing)}")
        for path in before:
            shutil.rmtree(path, ignore_errors=True)

    def recall(self, work: str) -> Any:
        """How far some work has come; None if nothing is known of it."""
        folder = self.folder / _CHECKPOINTS / work
        kept = [path for path in folder.glob("*") if path.suffix != ".tmp"]
        found = [self.result(path) for path in kept]
        return next((thing for thing in found if thing is not None), None)

    def drop(self, paths: Iterable[Path]) -> None:
        """Let go of things that nobody needs any more, unless a later run may."""
        if not self.lasting:
            for path in paths:
                shutil.rmtree(path, ignore_errors=True)

    def remove(self) -> None:
        """Remove the whole folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
