"""Faults at each system call that writes: strace kills the process there, or makes the call fail.

A process changes a copy of a model while ``strace`` watches it. At the n-th call that writes, it is
killed, or the call reports a full disk or a broken one. Then the model must open as it was before
the change or as it is after it. A change that was acknowledged must be there. `torture.faults` does
the same in less time, where there is a C compiler.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from manylabel import Tagger
from manylabel.exceptions import ManylabelError
from manylabel.store import leftovers

CALLS = (
    "write,writev,pwrite64,pwritev,fsync,fdatasync,ftruncate,fallocate,rename,renameat,renameat2,"
    "unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat"
)
FAULTS = {"kill": "signal=KILL", "full": "error=ENOSPC", "broken": "error=EIO"}
#: Processes that are started until one makes the call that is to fail.
ATTEMPTS = 10
TEXTS = [f"{a} {b} {c}" for a in ("cat", "dog", "owl") for b in ("sea", "hill") for c in "uvw"]
LABELS = [[text.split()[0], text.split()[1]] for text in TEXTS]


class Nothing(Exception):  # noqa: N818 - no error
    """A seed for which there is nothing to do."""


def _other() -> Tagger:
    return Tagger("lcif", parameters={"k": 3}).fit(TEXTS[:10], LABELS[:10])


def _command(*arguments: object) -> None:
    """A command, as people run it."""
    from manylabel.cli.app import run

    if run([*map(str, arguments), "--quiet"]):
        raise OSError("the command has refused")


def _train(folder: Path) -> None:
    corpus = folder.with_name("corpus.tsv")
    rows = zip(TEXTS, LABELS, strict=True)
    corpus.write_text("".join(f"{text}\t{';'.join(names)}\n" for text, names in rows))
    options = ("--model", "lcif", "--set", "k=3", "--jobs", "1")
    _command("train", corpus, "-o", folder.with_name("fresh"), *options)


#: What a process may be doing to a model: from its folder to nothing.
CHANGES: dict[str, Callable[[Path], Any]] = {
    "learn": lambda folder: Tagger.load(folder).learn(["owl bay"], [["owl", "bay"]], ["x"]),
    "forget": lambda folder: Tagger.load(folder).forget(["3", "new"]),
    "compact": lambda folder: Tagger.load(folder).compact(),
    "retrain": lambda folder: Tagger.load(folder).compact(retrain=True),
    "save over": lambda folder: _other().save(folder),
    "save": lambda folder: _other().save(folder.with_name("fresh")),
    "move": lambda folder: Tagger.load(folder).save(folder.with_name("fresh")),
    "rename": lambda folder: Tagger.load(folder).edit_labels("rename", "cat", to="feline"),
    "train": _train,
    "forget for good": lambda folder: _command("forget", folder, "3", "--verify"),
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
    return _answers(Tagger.load(folder))


def _answers(tagger: Tagger) -> object:
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
def outcome(change: str) -> tuple[object, object, list[tuple[str, int]]]:
    """The answers after the change, without any fault, and the calls that it takes.

    The answers are of the folder that is there, and of the one that the change makes. The calls are
    counted by name, as strace counts them.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = shutil.copytree(prepared(), Path(place) / "model")
        log = Path(place) / "log"
        said = attacked(change, folder, ["-o", str(log)])
        assert said == "done", said
        counts, calls = Counter[str](), []
        for name in re.findall(r"^\d+ +([a-z0-9]+)\(", log.read_text(), re.MULTILINE):
            counts[name] += 1
            calls.append((name, counts[name]))
        return answers(folder), answers(folder.with_name("fresh")), calls


def make(change: str, folder: Path) -> str:
    """Make a change; what became of it."""
    try:
        CHANGES[change](folder)
    except (ManylabelError, OSError) as error:
        return f"refused: {type(error).__name__}: {error}"
    except BaseException as error:
        return f"raised: {type(error).__name__}: {error}"
    return "done"


def attacked(change: str, folder: Path, options: list[str]) -> str:
    """What became of a change under strace: done, refused or raised; nothing if it was killed."""
    go, ready = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.close(go[1])
        os.close(ready[0])
        os.read(go[0], 1)
        said = make(change, folder)
        try:
            os.write(ready[1], said.encode())
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
    return said


def chosen(seed: int) -> tuple[str, int]:
    """A change, and which of its calls is to fail: the seed counts through the changes first."""
    return list(CHANGES)[seed % len(CHANGES)], 1 + seed // len(CHANGES)


def attack(fault: str, seed: int) -> None:
    """One fault at one call of one change; the seed counts through all of them."""
    change, when = chosen(seed)
    after, fresh_after, calls = outcome(change)
    if when > len(calls):
        raise Nothing
    name, number = calls[when - 1]
    inject = f"inject={name}:{FAULTS[fault]}:when={number}"
    # Now and then a process makes a call less than the one that was recorded.
    for _ in range(ATTEMPTS):
        with tempfile.TemporaryDirectory() as place:
            folder = shutil.copytree(prepared(), Path(place) / "model")
            log = Path(place) / "log"
            said = attacked(change, folder, ["-o", str(log), "-e", inject])
            if said == "done" and "INJECTED" not in log.read_text():
                continue
            what = f"{fault} at call {when} of {len(calls)} ({name}) of {change!r} ({said[:120]})"
            compare(folder, change, said, (after, fresh_after), what)
            return
    raise Nothing


@cache
def possible(change: str) -> list[object]:
    """The answers before a change, and halfway, where it consists of two."""
    found = [answers(prepared())]
    if change == "forget for good":
        with tempfile.TemporaryDirectory() as place:
            folder = shutil.copytree(prepared(), Path(place) / "model")
            Tagger.load(folder).forget("3")
            found.append(answers(folder))
    return found


def compare(folder: Path, change: str, said: str, after: tuple[object, object], what: str) -> None:
    """The model is as before or after the change, and the next process can write."""
    assert not said.startswith("raised"), what
    tagger = Tagger.load(folder)
    now, fresh = _answers(tagger), answers(folder.with_name("fresh"))
    if said == "done":
        assert (now, fresh) == after, f"{what}: acknowledged, and not there"
    else:
        assert now in (*possible(change), after[0]), f"{what}: neither before nor after"
        assert fresh in (None, after[1]), f"{what}: half of a new model"
    tagger.learn(["cat"], [["cat"]], ["later"])
    assert tagger.document("later").labels == ["cat"], what
    assert not leftovers(folder), f"{what}: not removed by the next writer"
