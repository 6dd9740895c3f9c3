"""Read untrusted office files and web pages in a separate process.

The libraries that read them are large. If a file makes one of them run for minutes, fill the memory
or crash, only that process is affected.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from typing import Any

from manylabel.corpus.document_files import parse_document_file
from manylabel.exceptions import CorpusError, ManylabelError

__all__ = ["isolated_text"]

#: Maximum memory in bytes, beyond what the process needs to start.
_MEMORY = 1 << 30


def isolated_text(kind: str, content: bytes, name: str, seconds: float) -> str:
    """Read the text of a file.

    Parameters
    ----------
    kind : {"docx", "pdf", "html", "epub"}
    content : bytes
    name : str
        The file's name, for errors.
    seconds : float
        Maximum time.

    Returns
    -------
    str
        The text; its first line is the title, if there is one.
    """
    try:
        done = subprocess.run(  # noqa: S603 - our own module, and no shell
            [sys.executable, "-P", "-m", __name__, kind],
            input=content,
            capture_output=True,
            timeout=seconds,
            check=False,
            env=_environment(),
        )
    except subprocess.TimeoutExpired:
        raise CorpusError(f"reading the file took longer than {seconds:g} seconds.", name) from None
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise CorpusError(
            f"the file cannot be read as .{kind}: it is too large or damaged.", name
        ) from None
    if "error" in answer:
        raise CorpusError(answer["error"], name)
    return str(answer["text"])


def _environment() -> dict[str, str]:
    """The environment without the server's settings, which include tokens."""
    kept = {name: value for name, value in os.environ.items() if "MANYLABEL" not in name.upper()}
    return kept | {"OPENBLAS_NUM_THREADS": "1"}


def _limit(seconds: int) -> None:
    """Limit the memory and the CPU time of this process."""
    try:
        import resource
    except ImportError:  # not available on this system; the parent limits the time
        return
    with open("/proc/self/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + _MEMORY, now + _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def main(kind: str) -> None:
    """Read a file from standard input; write its text, or an error, as JSON."""
    content = sys.stdin.buffer.read()
    with suppress(OSError, ValueError):  # the system has no such limits, or lower ones
        _limit(120)
    try:
        answer = {"text": parse_document_file(kind, content, "-").full_text}
    except MemoryError:
        answer = {"error": "the file needs too much memory."}
    except CorpusError as error:
        answer = {"error": error.message}
    except ManylabelError as error:
        answer = {"error": str(error)}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1])
