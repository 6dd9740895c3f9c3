"""Invalid files: mutated corpora of every format, and crafted models."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import random
import resource
import shutil
import signal
import tempfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from manylabel import Tagger
from manylabel.corpus import read
from manylabel.exceptions import ManylabelError
from manylabel.store import manifest as manifests
from manylabel.store import read_manifest

#: Files per process, and what a process may take: seconds for each file, and more bytes.
BATCH, SECONDS, MEMORY = 100, 20, 3 << 30

_ROWS = [("a cat sleeps", ["cats", "pets"]), ("the dog, barks", ["dogs"]), ("é\u4e2d owl", [])]
_JSONL = "\n".join(json.dumps({"text": text, "labels": names}) for text, names in _ROWS)
SEEDS: dict[str, bytes] = {
    "a.jsonl": _JSONL.encode(),
    "a.json": json.dumps([{"text": t, "tags": n} for t, n in _ROWS]).encode(),
    "a.csv": b'title,abstract,keywords\nA,"a cat, ""x""",cats;pets\nB,a dog,dogs\n',
    "b.csv": "titel;text;schlagwörter\nA;eine Katze;Katzen\n".encode("cp1252"),
    "c.csv": "text,cats,dogs\na cat,1,0\na dog,0,1\n".encode("utf-16"),
    "a.tsv": b"text\tlabels\na cat\tcats;pets\na dog\tdogs\n",
    "a.svm": b"0,2 1:0.5 7:1\n1 2:1e3\n\n",
    "a.txt": b"3 5 4\n0,1 0:1 3:2\n2 1:0.5\n 4:1\n",
    "a.arff": b"@relation x\n@attribute w numeric\n@attribute y {0,1}\n@data\n{0 1.5,1 1}\n1,0\n",
    "a.html": b"<html><title>A</title><body>a cat <script>x</script></body></html>",
}
for _name, _pack in (("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)):
    SEEDS[f"a.jsonl.{_name}"] = _pack(SEEDS["a.jsonl"])
_MARKS = [b'"', b",", b"\t", b"\n", b"\r", b"\0", b";", b"{", b"}", b"[", b"\\", b"\xff", b"1e999"]


def mutated(content: bytes, rng: random.Random) -> bytes:
    """A text with a few random changes."""
    data = bytearray(content)
    for _ in range(rng.randint(1, 8)):
        spot = rng.randrange(len(data) + 1)
        how = rng.randrange(6)
        if how == 0 and data:
            data[spot % len(data)] = rng.randrange(256)
        elif how == 1:
            data[spot:spot] = rng.choice(_MARKS) * rng.choice([1, 1, 2, 500])
        elif how == 2:
            del data[spot : spot + rng.randint(1, 20)]
        elif how == 3:
            other = rng.randrange(len(data) + 1)
            data[spot:spot] = data[other : other + rng.randint(1, 60)]
        elif how == 4:
            data[spot:spot] = str(rng.choice([-1, 2**31, 2**63, 10**30, 0])).encode()
        else:
            data = data[:spot] if rng.random() < 0.3 else data * rng.choice([1, 2])
    return bytes(data)


def corpora(seed: int) -> None:
    """A hundred mutated files: read, or refused with an error, in bounded time and memory."""
    in_a_process(lambda: _read_all(seed))


def _read_all(seed: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        for number in range(BATCH):
            rng = random.Random(seed * BATCH + number)
            name = rng.choice(sorted(SEEDS))
            path = Path(place) / name
            path.write_bytes(mutated(SEEDS[name], rng))
            signal.alarm(SECONDS)
            try:
                read(path)
            except ManylabelError:
                pass
            except Exception as error:
                raise AssertionError(f"file {number}, {name}: {type(error).__name__}") from error
            path.unlink()
        signal.alarm(0)


def _address_space() -> int:
    """The address space of this process, most of it not in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def in_a_process(work: Callable[[], None]) -> None:
    """Run something that may end its process; says how it ended."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receive)
        code = 1
        try:
            most = _address_space() + MEMORY
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
            work()
            code = 0
        except BaseException as error:
            cause = error.__cause__
            said = f"{error} {'' if cause is None else repr(cause)}"
            os.write(send, said.encode("utf-8", "replace")[:4000])
        finally:
            os._exit(code)
    os.close(send)
    with os.fdopen(receive, "rb") as pipe:
        said = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    assert os.WIFEXITED(status), f"ended by signal {os.WTERMSIG(status)}"
    assert os.WEXITSTATUS(status) == 0, said


def craft(pristine: Path, answers: Callable[[Tagger], object], seed: int) -> None:
    """A model whose arrays are wrong but whose checksums are right: refused, or it answers.

    Answers may differ, because it is another model now; the process must not end.
    """

    def work() -> None:
        rng = np.random.default_rng(seed)
        with tempfile.TemporaryDirectory() as place:
            folder = shutil.copytree(pristine, Path(place) / "model")
            path = rng.choice(sorted(map(str, folder.rglob("*.npy"))))
            array = np.load(path)
            changed = _changed(array, rng)
            buffer = io.BytesIO()
            np.save(buffer, changed)
            Path(path).write_bytes(buffer.getvalue())
            _forge(folder, Path(path))
            signal.alarm(SECONDS)
            with suppress(ManylabelError):
                answers(Tagger.load(folder))

    in_a_process(work)


def _changed(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    how = rng.integers(6)
    if how == 0:
        return array[: array.shape[0] // 2] if array.ndim else array
    if how == 1:
        return np.concatenate([array, array]) if array.ndim else array
    if how == 2:
        return array.astype(rng.choice(["int8", "float64", "float16", "int64", "uint8"]))
    if how == 3 and array.size:
        other = array.copy()
        value = rng.choice([-1, 127, 10**6])
        if other.dtype.kind in "iuf":
            other.flat[rng.integers(other.size)] = np.array(value).astype(other.dtype)
        return other
    if how == 4 and array.dtype.kind == "f" and array.size:
        other = array.copy()
        other.flat[rng.integers(other.size)] = np.nan
        return other
    return array.reshape(1, *array.shape)


def _forge(folder: Path, path: Path) -> None:
    """Make the manifest's size and checksum fit a changed file."""
    content, manifest = path.read_bytes(), read_manifest(folder)
    record = manifest["files"][path.name]
    record |= {"bytes": len(content), "crc32": f"{zlib.crc32(content):08x}"}
    (folder / "model.json").write_bytes(manifests.as_bytes(manifest))
