"""Faults at each system call that writes: strace kills the process there, or makes the call fail.

A process changes a copy of a model while ``strace`` watches it. At the n-th call that writes, it is
killed, or the call reports a full disk or a broken one. Then the model must open as it was before
the change or as it is after it. A change that was acknowledged must be there.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from manylabel import Tagger
from manylabel.exceptions import ManylabelError

CALLS = (
    "write,writev,pwrite64,pwritev,fsync,fdatasync,ftruncate,fallocate,rename,renameat,renameat2,"
    "unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat"
)
FAULTS = {"kill": "signal=KILL", "full": "error=ENOSPC", "broken": "error=EIO"}
TEXTS = [f"{a} {b} {c}" for a in ("cat", "dog", "owl") for b in ("sea", "hill") for c in "uvw"]
LABELS = [[text.split()[0], text.split()[1]] for text in TEXTS]


def _other() -> Tagger:
    return Tagger("lcif", parameters={"k": 3}).fit(TEXTS[:10], LABELS[:10])


#: What a process may be doing to a model: from its folder to nothing.
CHANGES: dict[str, Callable[[Path], Any]] = {
    "learn": lambda folder: Tagger.load(folder).learn(["owl bay"], [["owl", "bay"]], ["x"]),
    "forget": lambda folder: Tagger.load(folder).forget(["3", "new"]),
    "compact": lambda folder: Tagger.load(folder).compact(),
    "retrain": lambda folder: Tagger.load(folder).compact(retrain=True),
    "save over": lambda folder: _other().save(folder),
    "save": lambda folder: _other().save(folder.with_name("fresh")),
    "move": lambda folder: Tagger.load(folder).save(folder.with_name("fresh")),
}


def is_possible() -> bool:
    """Whether strace is there and may watch processes."""
    if shutil.which("strace") is None:
        return False
    tried = ["strace", "-o", os.devnull, "-e", "inject=write:error=EIO:when=1", "true"]
    return subprocess.run(tried, capture_output=True).returncode == 0


def answers(folder: Path) -> object:
    """Everything that a user sees of a model; None if there is none."""
    if not (folder / "model.json").exists():
        return None
    tagger = Tagger.load(folder)
    found = tagger.suggest(["cat sea", "owl bay u"], top=None)
    return tagger.n_documents, sorted(tagger.labels), [each.to_list() for each in found]


@cache
def prepared() -> Path:
    """A model with a journal."""
    folder = Path(tempfile.mkdtemp(prefix="system-calls-")) / "model"
    tagger = Tagger("lcif", parameters={"k": 3}).fit(TEXTS, LABELS)
    tagger.save(folder)
    tagger.learn(["owl sea zebra"], [["zebra"]], ["new"])
    tagger._folder.journal.close()
    return folder


@cache
def outcome(change: str) -> tuple[object, object, int]:
    """The answers after the change, without any fault, and how many calls it takes.

    Of the folder that is there, and of the one that the change makes.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = shutil.copytree(prepared(), Path(place) / "model")
        log = Path(place) / "log"
        acknowledged, _ = attacked(change, folder, ["-o", str(log)])
        assert acknowledged
        calls = len(re.findall(r"^\d+ +[a-z0-9]+\(", log.read_text(), re.MULTILINE))
        return answers(folder), answers(folder.with_name("fresh")), calls


def attacked(change: str, folder: Path, options: list[str]) -> tuple[bool, str]:
    """Whether the change was acknowledged, and the error that it ended with."""
    go, ready = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.close(go[1])
        os.close(ready[0])
        os.read(go[0], 1)
        said = b"done"
        try:
            CHANGES[change](folder)
        except (ManylabelError, OSError) as error:
            said = f"refused: {type(error).__name__}: {error}".encode()
        except BaseException as error:
            said = f"raised: {type(error).__name__}: {error}".encode()
        try:
            os.write(ready[1], said)
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    os.close(go[0])
    os.close(ready[1])
    command = ["strace", "-f", "-p", str(child), "-e", f"trace={CALLS}", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as tracer:
        assert tracer.stderr is not None
        line = tracer.stderr.readline()
        assert "attached" in line, line
        os.write(go[1], b"!")
        with os.fdopen(ready[0], "rb") as pipe:
            said = pipe.read().decode("utf-8", "replace")
        os.close(go[1])
        os.waitpid(child, 0)
        tracer.communicate(timeout=60)
    return said == "done", said


def attack(seed: int) -> None:
    """One fault at one call of one change; the seed counts through all of them."""
    faults, changes = list(FAULTS), list(CHANGES)
    fault, change = faults[seed % len(faults)], changes[seed // len(faults) % len(changes)]
    after, fresh_after, calls = outcome(change)
    when = 1 + seed // (len(faults) * len(changes)) % calls
    before = answers(prepared())
    with tempfile.TemporaryDirectory() as place:
        folder = shutil.copytree(prepared(), Path(place) / "model")
        inject = f"inject={CALLS}:{FAULTS[fault]}:when={when}"
        acknowledged, said = attacked(change, folder, ["-o", os.devnull, "-e", inject])
        what = f"{fault} at call {when} of {calls} of {change!r} ({said[:120]})"
        assert not said.startswith("raised"), what
        now, fresh = answers(folder), answers(folder.with_name("fresh"))
        if acknowledged:
            assert (now, fresh) == (after, fresh_after), f"{what}: acknowledged, and not there"
        else:
            assert now in (before, after), f"{what}: neither before nor after"
            assert fresh in (None, fresh_after), f"{what}: a new model by half"
        if now is not None:
            # The next process can write.
            Tagger.load(folder).learn(["cat"], [["cat"]], ["later"])
            assert Tagger.load(folder).document("later").labels == ["cat"], what


if __name__ == "__main__":
    for number in range(int(sys.argv[1]), int(sys.argv[2])):
        attack(number)
        print(number, flush=True)
