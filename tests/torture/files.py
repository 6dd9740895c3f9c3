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
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np

from manylabel import Tagger
from manylabel.corpus import read
from manylabel.exceptions import ManylabelError
from manylabel.store import arrays as array_files
from manylabel.store import folder as store_folder
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
    "meka.arff": b"@relation 'x: -C 1'\n@attribute y {0,1}\n@attribute w numeric\n@data\n1,2.5\n",
    "a.pdf": (
        b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages "
        b"/Kids [3 0 R] /Count 1 >>\nendobj\n3 0 obj\n<< /Type /Page /Parent 2 0 R /Contents 4 0 R "
        b"/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> "
        b">>\nendobj\n4 0 obj\n<< /Length 33 >>\nstream\nBT /F1 12 Tf 72 720 Td (cat) Tj ET\n"
        b"endstream\nendobj\ntrailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n0\n%%EOF\n"
    ),
}
#: Beside ``a.arff``, whose labels it names.
LABELS_OF_ARFF = b'<labels><label name="y"></label></labels>'
#: Of archives, what is read.
MEMBERS = (
    *("xl/worksheets/sheet1.xml", "xl/workbook.xml", "word/document.xml", "content.xml"),
    *("META-INF/container.xml", "b", "c"),
)
PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
for _name, _pack in PACKERS.items():
    SEEDS[f"a.jsonl.{_name}"] = _pack(SEEDS["a.jsonl"])


def _archives() -> Iterator[tuple[str, bytes]]:
    """Files that are archives of others, made by the libraries that make them."""
    import docx
    import openpyxl
    import pyarrow
    from odf import opendocument, table, text
    from pyarrow import parquet

    out = io.BytesIO()
    book = openpyxl.Workbook()
    for row in (("title", "abstract", "keywords"), ("A", "a cat", "cats; pets"), ("B", 5, None)):
        book.active.append(row)
    book.save(out)
    yield "a.xlsx", out.getvalue()
    out = io.BytesIO()
    paper = docx.Document()
    paper.add_paragraph("a cat sleeps")
    paper.save(out)
    yield "a.docx", out.getvalue()
    out = io.BytesIO()
    sheet = table.Table(name="one")
    for cells in (("text", "labels"), ("a cat", "cats")):
        line = table.TableRow()
        for cell in cells:
            place = table.TableCell(valuetype="string")
            place.addElement(text.P(text=cell))
            line.addElement(place)
        sheet.addElement(line)
    sheets = opendocument.OpenDocumentSpreadsheet()
    sheets.spreadsheet.addElement(sheet)
    sheets.write(out)
    yield "a.ods", out.getvalue()
    out = io.BytesIO()
    columns = {"text": ["a cat", "a dog"], "labels": [["cats"], ["dogs"]]}
    parquet.write_table(pyarrow.table(columns), out)
    yield "a.parquet", out.getvalue()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as epub:
        epub.writestr("mimetype", "application/epub+zip")
        epub.writestr("META-INF/container.xml", '<container><rootfile full-path="b"/></container>')
        epub.writestr("b", '<package><item id="c" href="c"/><itemref idref="c"/></package>')
        epub.writestr("c", "<p>a cat sleeps</p>")
    yield "a.epub", out.getvalue()


@cache
def seeds() -> dict[str, bytes]:
    """A file of every format, by its name."""
    return SEEDS | dict(_archives())


@cache
def insides() -> dict[str, bytes]:
    """What is in the files that are packed: by the name of the file, a slash, and what it is."""
    found = {f"a.jsonl.{name}/a.jsonl": SEEDS["a.jsonl"] for name in PACKERS}
    for name, content in seeds().items():
        if content.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                members = {member: archive.read(member) for member in archive.namelist()}
            for member, inside in members.items():
                if member in MEMBERS:
                    found[f"{name}/{member}"] = inside
    return found


def made(kind: str, content: bytes) -> tuple[str, bytes]:
    """A file's name and bytes: of a kind of `seeds`, or packed, of a kind of `insides`."""
    name, slash, member = kind.partition("/")
    if not slash:
        return name, content
    pack = PACKERS.get(name.rpartition(".")[2])
    if pack is not None:
        return name, pack(content)
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(seeds()[name])) as archive,
        zipfile.ZipFile(out, "w") as other,
    ):
        for each in archive.namelist():
            other.writestr(each, content if each == member else archive.read(each))
    return name, out.getvalue()


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
        Path(place, "a.xml").write_bytes(LABELS_OF_ARFF)
        for number in range(BATCH):
            rng = random.Random(seed * BATCH + number)
            known = seeds() | insides()
            kind = rng.choice(sorted(known))
            name, content = made(kind, mutated(known[kind], rng))
            path = Path(place) / name
            path.write_bytes(content)
            signal.alarm(SECONDS)
            try:
                read(path)
            except ManylabelError:
                pass
            except Exception as error:
                raise AssertionError(f"file {number}, {kind}: {type(error).__name__}") from error
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

    Answers may differ, because it is another model now; the process must not end. Half of the seeds
    treat the model as a large one, whose checksums are compared while it answers.
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
            if seed // 16 % 2:
                array_files.MAPPED, store_folder.VERIFIED = 1, 0
                os.environ["XDG_CACHE_HOME"] = place
            # Another type of numbers makes kernels compile.
            signal.alarm(6 * SECONDS)
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
    """Make what the manifest says of a file fit a changed one."""
    content, manifest, array = path.read_bytes(), read_manifest(folder), np.load(path)
    record = manifest["files"][path.name]
    record |= {"bytes": len(content), "crc32": f"{zlib.crc32(content):08x}"}
    record |= {"type": array.dtype.str, "shape": list(array.shape)}
    (folder / "model.json").write_bytes(manifests.as_bytes(manifest))
