"""Office files and web pages of strangers, read in a process of their own.

The libraries that read them are large. A file that makes one of them run for minutes, fill the
memory or end the process costs that process alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from typing import Any

from manylabel.corpus.papers import paper_of
from manylabel.exceptions import CorpusError, ManylabelError

__all__ = ["paper_text"]

#: Bytes that the process may take beyond what it takes to start.
_MEMORY = 1 << 30


def paper_text(kind: str, content: bytes, name: str, seconds: float) -> str:
    """The text of a file.

    Parameters
    ----------
    kind : {"docx", "pdf", "html", "epub"}
    content : bytes
    name : str
        The file's, for errors.
    seconds : float
        How long reading may take.

    Returns
    -------
    str
        With the title, where there is one, as its first line.
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
        raise CorpusError(f"reading it took longer than {seconds:g} seconds.", name) from None
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise CorpusError(
            f"the file is too large, or broken; it cannot be read as .{kind}.", name
        ) from None
    if "error" in answer:
        raise CorpusError(answer["error"], name)
    return str(answer["text"])


def _environment() -> dict[str, str]:
    """The environment, without the server's settings: tokens are among them."""
    kept = {name: value for name, value in os.environ.items() if "MANYLABEL" not in name.upper()}
    return kept | {"OPENBLAS_NUM_THREADS": "1"}


def _limit(seconds: int) -> None:
    """Keep this process within its memory and its time."""
    try:
        import resource
    except ImportError:  # not on this system; the time is kept from outside
        return
    with open("/proc/self/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + _MEMORY, now + _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def main(kind: str) -> None:
    """Read a file from standard input; write its text, or what is wrong with it, as JSON."""
    content = sys.stdin.buffer.read()
    with suppress(OSError, ValueError):  # a system without such limits, or with lower ones
        _limit(120)
    try:
        answer = {"text": paper_of(kind, content, "-").full_text}
    except MemoryError:
        answer = {"error": "the file needs too much memory."}
    except CorpusError as error:
        answer = {"error": error.message}
    except ManylabelError as error:
        answer = {"error": str(error)}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1])
