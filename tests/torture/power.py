"""Power loss: the writes of a change are recorded, and what a disk may hold of them is opened.

``strace`` records every call that writes while a process changes a model. The calls are then
replayed on a disk in memory that knows what was synchronised: the content of a file by ``fsync`` of
the file, its name by ``fsync`` of the folder. At each barrier, and at the end, the power fails.
What is then on the disk is one of these:

- nothing but what was synchronised,
- every name, but only the content that was synchronised: files renamed too early are empty,
- some of the names and contents that were not synchronised, chosen at random,
- everything.

In each case the model must open as it was before the change or as it is after it; a change that was
acknowledged must be there.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torture.system_calls import CHANGES, answers, attacked, outcome, possible, prepared

WATCHED = (
    "open,openat,creat,close,lseek,dup,dup2,dup3,write,writev,pwrite64,pwritev,ftruncate,truncate,"
    "fallocate,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,symlink,"
    "symlinkat,fsync,fdatasync,copy_file_range,sendfile"
)
BARRIERS = ("fsync", "fdatasync", "rename", "renameat", "renameat2")
LEFT = ("synchronised", "names", "some", "everything")


@dataclass
class File:
    """A file: its content, and what of it was synchronised."""

    now: bytearray = field(default_factory=bytearray)
    safe: bytes = b""


@dataclass
class Folder:
    """A folder: its names, and those that were synchronised."""

    now: dict[str, Any] = field(default_factory=dict)
    safe: dict[str, Any] = field(default_factory=dict)


@dataclass
class Opened:
    """A file descriptor."""

    node: File | Folder
    at: int = 0
    appends: bool = False


class Disk:
    """What becomes of a folder, call by call."""

    def __init__(self, root: Path) -> None:
        self.root, self.top = os.fspath(root), Folder()
        self.opened: dict[int, Opened] = {}
        self._read(root, self.top)

    def _read(self, place: Path, folder: Folder) -> None:
        for path in sorted(place.iterdir()):
            node: File | Folder
            if path.is_dir():
                node = Folder()
                self._read(path, node)
            else:
                content = path.read_bytes()
                node = File(bytearray(content), content)
            folder.now[path.name] = folder.safe[path.name] = node

    def place(self, path: str) -> tuple[Folder, str] | None:
        """The folder of a path below the root, and the last name."""
        if not path.startswith(self.root + "/"):
            return None
        *parts, name = os.path.relpath(path, self.root).split("/")
        folder: Any = self.top
        for part in parts:
            folder = folder.now.get(part)
            if not isinstance(folder, Folder):
                return None
        return folder, name

    def node(self, path: str) -> File | Folder | None:
        """What a path leads to."""
        if path == self.root:
            return self.top
        found = self.place(path)
        return None if found is None else found[0].now.get(found[1])

    def call(self, name: str, arguments: list[str], result: int) -> None:
        """Replay one call that succeeded."""
        if name in ("open", "openat", "creat"):
            self._open(name, arguments, result)
        elif name in ("rename", "renameat", "renameat2", "link", "linkat"):
            paths = _paths(arguments)
            old, new = self.place(paths[0]), self.place(paths[1])
            if old is not None and new is not None and old[1] in old[0].now:
                new[0].now[new[1]] = old[0].now[old[1]]
                if not name.startswith("link"):
                    del old[0].now[old[1]]
        elif name in ("unlink", "unlinkat", "rmdir"):
            found = self.place(_paths(arguments)[0])
            if found is not None:
                found[0].now.pop(found[1], None)
        elif name in ("mkdir", "mkdirat"):
            found = self.place(_paths(arguments)[0])
            if found is not None:
                found[0].now[found[1]] = Folder()
        else:
            self._on_descriptor(name, arguments, result)

    def _open(self, name: str, arguments: list[str], result: int) -> None:
        path = _paths(arguments)[0]
        found = self.place(path)
        flags = "O_CREAT|O_TRUNC" if name == "creat" else " ".join(arguments)
        if found is not None and "O_CREAT" in flags and found[1] not in found[0].now:
            found[0].now[found[1]] = File()
        node = self.node(path)
        self.opened.pop(result, None)
        if node is not None:
            if isinstance(node, File) and "O_TRUNC" in flags:
                node.now.clear()
            self.opened[result] = Opened(node, 0, "O_APPEND" in flags)

    def _on_descriptor(self, name: str, arguments: list[str], result: int) -> None:
        number = int(re.match(r"-?\d+", arguments[0])[0])  # type: ignore[index]
        if name == "close":
            self.opened.pop(number, None)
            return
        one = self.opened.get(number)
        if one is None:
            return
        if name in ("dup", "dup2", "dup3"):
            self.opened[result] = one
        elif isinstance(one.node, Folder):
            if name in ("fsync", "fdatasync"):
                one.node.safe = dict(one.node.now)
        elif name == "lseek":
            one.at = result
        elif name in ("fsync", "fdatasync"):
            one.node.safe = bytes(one.node.now)
        elif name in ("write", "pwrite64"):
            data = _text(arguments[1])[:result]
            at = int(arguments[3]) if name == "pwrite64" else one.at
            at = len(one.node.now) if one.appends else at
            one.node.now.extend(bytes(max(at - len(one.node.now), 0)))
            one.node.now[at : at + len(data)] = data
            if name == "write":
                one.at = at + len(data)
        elif name == "ftruncate":
            size = int(arguments[1])
            del one.node.now[size:]
            one.node.now.extend(bytes(size - len(one.node.now)))
        elif name != "fallocate":
            raise NotImplementedError(name)

    def left(self, left: str, rng: random.Random) -> dict[str, bytes]:
        """What is left after the power has failed: the content of each file."""
        return dict(self._left(self.top, "", left, rng))

    def _left(
        self, folder: Folder, place: str, left: str, rng: random.Random
    ) -> Iterator[tuple[str, bytes]]:
        names = folder.safe if left == "synchronised" else folder.now
        if left == "some":
            # Each name is as it was synchronised, or as it is now; so is each content.
            either = {name: rng.choice((folder.safe, folder.now)) for name in folder.safe | names}
            names = {name: kept[name] for name, kept in either.items() if name in kept}
        for name, node in names.items():
            if isinstance(node, Folder):
                yield from self._left(node, f"{place}{name}/", left, rng)
            elif left == "everything" or (left == "some" and rng.random() < 0.5):
                yield place + name, bytes(node.now)
            else:
                yield place + name, node.safe


def _text(quoted: str) -> bytes:
    """The bytes of a string, all of whose characters strace has written as numbers."""
    return bytes.fromhex(re.sub(r'\\x|"', "", quoted.rstrip(".")))


def path_of(descriptor: str) -> str | None:
    """The path of a file descriptor, as strace writes it; None if it is something else."""
    at = re.match(r"(?:\d+|AT_FDCWD)<(.*)>", descriptor)
    if at is None or "\\x" not in at[1]:
        return at[1] if at else None
    return os.fsdecode(bytes.fromhex(at[1].replace("\\x", "")))


def _paths(arguments: list[str]) -> list[str]:
    """The paths among arguments, whole."""
    found, base = [], ""
    for argument in arguments:
        if argument.startswith('"'):
            found.append(os.path.join(base, os.fsdecode(_text(argument))))
        else:
            base = path_of(argument) or base
    return found


def calls(log: Path) -> Iterator[tuple[str, list[str], int]]:
    """The calls of a log that succeeded, in the order in which they ended."""
    begun: dict[str, str] = {}
    for line in log.read_text().splitlines():
        who, rest = line.split(None, 1)
        if rest.endswith("<unfinished ...>"):
            begun[who] = rest.removesuffix("<unfinished ...>").rstrip()
            continue
        resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", rest)
        if resumed:
            rest = begun.pop(who) + resumed[1]
        parts = re.match(r"(\w+)\((.*)\) += (-?\d+)", rest)
        if parts and int(parts[3]) >= 0:
            yield parts[1], parts[2].split(", "), int(parts[3])


def attack(seed: int) -> None:
    """Power fails at every barrier of one change; the seed counts through the changes."""
    check(list(CHANGES)[seed % len(CHANGES)], seed)


def check(change: str, seed: int = 0, lefts: Sequence[str] = LEFT) -> int:
    """At how many points the power failed, times what may be left."""
    after, fresh_after, _ = outcome(change)
    before = possible(change)
    rng, tried = random.Random(seed), 0
    #: Many barriers leave the same files.
    known: dict[bytes, tuple[object, object]] = {}
    with tempfile.TemporaryDirectory() as place:
        root = Path(place).resolve() / "root"
        root.mkdir()
        folder, log = shutil.copytree(prepared(), root / "model"), Path(place) / "log"
        disk = Disk(root)
        options = ["-o", os.fspath(log), "-y", "-xx", "-s", "100000000", "-e", f"trace={WATCHED}"]
        said = attacked(change, folder, options)
        assert said == "done", said
        is_told, points = False, 0
        for name, arguments, result in [*calls(log), ("end", [], 0)]:
            if name == "write" and _text(arguments[1]) == b"done":
                is_told, name = True, "end"
            if name != "end":
                disk.call(name, arguments, result)
            if name not in (*BARRIERS, "end"):
                continue
            points += 1
            for left in lefts:
                what = f"{change!r}, barrier {points} ({name}), {left} left"
                files = disk.left(left, rng)
                key = _digest(files)
                if key not in known:
                    known[key] = _opened(files, Path(place) / "lost")
                now, fresh = known[key]
                if is_told:
                    assert (now, fresh) == (after, fresh_after), f"{what}: acknowledged and lost"
                else:
                    assert now in (*before, after), f"{what}: neither before nor after"
                    assert fresh in (None, fresh_after), f"{what}: half of a new model"
                tried += 1
    return tried


def _digest(files: dict[str, bytes]) -> bytes:
    whole = hashlib.blake2b()
    for path, content in sorted(files.items()):
        whole.update(f"{path}\0{len(content)}\0".encode() + content)
    return whole.digest()


def _opened(files: dict[str, bytes], place: Path) -> tuple[object, object]:
    """The answers of the two models among these files."""
    shutil.rmtree(place, ignore_errors=True)
    for path, content in files.items():
        os.makedirs(os.path.dirname(place / path), exist_ok=True)
        with open(place / path, "wb") as file:
            file.write(content)
    return answers(place / "model"), answers(place / "fresh")


if __name__ == "__main__":
    for wanted in sys.argv[1:] or CHANGES:
        print(wanted, check(wanted), flush=True)
