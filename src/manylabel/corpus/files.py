"""Open files for reading and writing: plain or compressed, a path or a standard stream."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import secrets
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from manylabel.corpus.file_limits import Guard
from manylabel.exceptions import CorpusError, MissingExtraError

__all__ = ["Source", "atomic_write", "bare_stem", "bare_suffix", "is_compressed", "open_source"]

_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
# For bzip2, the magic number of the first block or of the end is required as well, because a text
# may start with "BZh".
_MAGIC = re.compile(
    rb"(?P<gz>\x1f\x8b)|(?P<bz2>BZh[1-9](1AY&SY|\x17rE8P\x90))"
    rb"|(?P<xz>\xfd7zXZ\x00)|(?P<zst>\x28\xb5\x2f\xfd)"
)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BUFFER = 1 << 18


class Source:
    """The decompressed bytes of a file after its byte order mark, and its name for errors.

    Parameters
    ----------
    stream : io.BufferedReader
        With a buffer of at least ``peek_size`` bytes.
    name : str
        The path as given by the user; ``-`` for standard input.
    """

    peek_size = 1 << 16

    def __init__(self, stream: io.BufferedReader[Any], name: str) -> None:
        self.stream, self.name = stream, name

    @property
    def folder(self) -> Path | None:
        """The folder to search for related files; None for standard input."""
        return None if self.name == "-" else Path(self.name).parent

    def peek(self) -> bytes:
        """The next bytes, without consuming them."""
        return self.stream.peek(self.peek_size)[: self.peek_size]

    def error(self, message: str, line: int | None = None) -> CorpusError:
        """Make an error that names this file."""
        return CorpusError(message, path=self.name, line=line)

    def lines(self) -> Iterator[tuple[int, str]]:
        """The text lines with their numbers, without line ends."""
        for number, line in self.raw_lines():
            yield number, line.rstrip("\n").removesuffix("\r")

    def raw_lines(self) -> Iterator[tuple[int, str]]:
        """The text lines with their numbers and line ends."""
        for number, line in enumerate(self.stream, start=1):
            yield number, self.decode(line, number)

    def decode(self, line: bytes, number: int | None = None) -> str:
        """Decode a line; an error names the line and the byte."""
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.error(
                f"expected UTF-8 text, found byte 0x{line[error.start]:02x} "
                f"at position {error.start + 1}.",
                number,
            ) from None

    def blocks(self, size: int = 1 << 20) -> Iterator[bytes]:
        """The remaining bytes in blocks of about ``size`` bytes that end at line ends."""
        rest = b""
        while True:
            # A line longer than a block is read in growing steps, so that the cost is linear.
            fresh = self.stream.read(max(size, len(rest)))
            if not fresh:
                break
            cut = fresh.rfind(b"\n") + 1
            if cut:
                yield rest + fresh[:cut]
                rest = fresh[cut:]
            else:
                rest += fresh
        if rest:
            yield rest


@contextmanager
def open_source(path: str | os.PathLike[str]) -> Iterator[Source]:
    """Open a file or standard input (``-``) for reading; compression is detected.

    Raises
    ------
    CorpusError
        If the file cannot be opened or is empty; later, when reading, if its compressed data are
        damaged or truncated.
    """
    name = os.fspath(path)
    with ExitStack() as stack:
        if name == "-":
            raw: Any = sys.stdin.buffer
        else:
            try:
                raw = stack.enter_context(open(name, "rb"))
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                raise CorpusError(f"the file cannot be opened ({reason}).", path=name) from None
        pulled = _Pull(raw.read, name, "the file cannot be read")
        plain = io.BufferedReader(pulled, _BUFFER)
        magic = _MAGIC.match(plain.peek(16))
        stream = plain
        if magic is not None:
            read, fault = (
                _decompressor(str(magic.lastgroup), plain),
                "the compressed data are damaged or truncated",
            )
            guard = Guard(name, lambda: pulled.size)
            stream = io.BufferedReader(_Pull(read, name, fault, guard), _BUFFER)
        else:
            pulled.guard = Guard(name, None)
            pulled.guard.see(plain.peek())
        source = Source(stream, name)
        if source.peek().startswith(_BYTE_ORDER_MARK):
            stream.read(len(_BYTE_ORDER_MARK))
        if not source.peek():
            raise source.error("the file is empty.")
        yield source


class _Pull(io.RawIOBase):
    """A raw stream over a read function; turns its errors into CorpusError."""

    def __init__(
        self, read: Callable[[int], bytes], name: str, fault: str, guard: Guard | None = None
    ) -> None:
        self._read, self._name, self._fault = read, name, fault
        self.guard, self.size = guard, 0

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        filled = 0
        while filled < len(target):
            try:
                piece = self._read(len(target) - filled)
            except (EOFError, OSError, ValueError, lzma.LZMAError, zlib.error) as error:
                if isinstance(error, CorpusError):
                    raise
                raise CorpusError(f"{self._fault} ({error}).", path=self._name) from None
            if not piece:
                break
            target[filled : filled + len(piece)] = piece
            filled += len(piece)
            self.size += len(piece)
            if self.guard is not None:
                self.guard.see(piece)
        return filled


def _decompressor(kind: str, stream: IO[bytes]) -> Callable[[int], bytes]:
    if kind == "gz":
        return gzip.GzipFile(fileobj=stream).read
    if kind == "bz2":
        return bz2.BZ2File(stream).read
    if kind == "xz":
        return lzma.LZMAFile(stream).read
    return _zstd_reader(stream)


def _zstd_reader(stream: IO[bytes]) -> Callable[[int], bytes]:
    """A read function for Zstandard that, unlike the library's own, refuses a truncated file."""
    zstandard = _import_zstandard("Reading .zst files")

    def decompress() -> Iterator[bytes]:
        rest, frame = b"", None
        while True:
            # Small pieces, because a kilobyte may expand to millions of bytes at once.
            fresh = rest or stream.read(1 << 10)
            if not fresh:
                break
            if frame is None:
                frame = zstandard.ZstdDecompressor().decompressobj()
            try:
                yield frame.decompress(fresh)
            except zstandard.ZstdError as error:
                raise EOFError(str(error)) from None
            rest = b""
            if frame.eof:
                rest, frame = frame.unused_data, None
        if frame is not None:
            raise EOFError("the last frame has no end")

    pieces = decompress()
    left = b""

    def read(size: int) -> bytes:
        nonlocal left
        while not left:
            piece = next(pieces, None)
            if piece is None:
                return b""
            left = piece
        taken, left = left[:size], left[size:]
        return taken

    return read


def _import_zstandard(what: str) -> Any:
    try:
        import zstandard
    except ImportError:
        raise MissingExtraError(what, "zstandard", "zstd") from None
    return zstandard


def is_compressed(path: str | os.PathLike[str]) -> bool:
    """Whether the content of a file is compressed, whatever its name."""
    with open(path, "rb") as file:
        return _MAGIC.match(file.read(16)) is not None


def bare_suffix(path: str | os.PathLike[str]) -> str:
    """The extension of the format, without that of the compression.

    Examples
    --------
    >>> bare_suffix("train.JSONL.gz")
    '.jsonl'
    """
    return _bare(path).suffix.lower()


def bare_stem(path: str | os.PathLike[str]) -> str:
    """A file's name without its extensions.

    Examples
    --------
    >>> bare_stem("data/Corel5k-test.arff.xz")
    'Corel5k-test'
    """
    return _bare(path).stem


def _bare(path: str | os.PathLike[str]) -> Path:
    plain = Path(path)
    return plain.with_suffix("") if plain.suffix.lower() in _COMPRESSED else plain


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that appears under its name only when it is complete.

    The extension selects the compression; ``-`` is standard output.
    """
    name = os.fspath(path)
    if name == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(name)
    if target.exists() and not target.is_file():
        if target.is_dir():
            raise CorpusError("cannot write a file: this is a folder.", path=name)
        # Write to a pipe or a device directly; it must not be replaced by a file.
        with open(target, "wb") as file:
            yield file
        return
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as file, _compressor(target.suffix.lower(), file) as stream:
            yield stream
        os.replace(temporary, target)
    except OSError as error:
        raise CorpusError(
            f"the file cannot be written ({error.strerror or error}).", path=name
        ) from None
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _compressor(suffix: str, file: IO[bytes]) -> Iterator[IO[bytes]]:
    if suffix == ".gz":
        # Without a name and a time, so that the same corpus gives the same bytes.
        stream: Any = gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)
    elif suffix == ".bz2":
        stream = bz2.BZ2File(file, "wb")
    elif suffix == ".xz":
        stream = lzma.LZMAFile(file, "wb")  # noqa: SIM115 - closed below
    elif suffix == ".zst":
        zstandard = _import_zstandard("Writing .zst files")
        stream = zstandard.ZstdCompressor().stream_writer(file, closefd=False)
    else:
        yield file
        return
    with io.BufferedWriter(stream, _BUFFER) as buffered:
        yield buffered
