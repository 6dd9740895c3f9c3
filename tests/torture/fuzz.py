"""Fuzzing guided by coverage: atheris mutates files of every format, and keeps those that reach new
code.

``python -m torture.fuzz -runs=5000 -seed=1 FOLDER``, where options are libFuzzer's. Files that
reach new code stay in the folder, so that later runs go on from there. A file that raises anything
but a sentence of manylabel, takes more than 20 seconds or more than 3 GiB, ends the run.
"""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

RUNS, SECONDS, MEGABYTES = 5_000, 20, 3_072
MISSING = "atheris is not installed: run `pip install atheris` to fuzz with coverage."
#: Kept between seeds, and between campaigns.
FOLDER = Path(os.environ.get("MANYLABEL_FUZZED", "torture-fuzzed"))


def attack(seed: int) -> None:
    """Some thousand mutated files: read, or refused with a sentence, in bounded time and memory."""
    from torture.system_calls import Nothing

    if find_spec("atheris") is None:
        print(MISSING, file=sys.stderr)
        raise Nothing
    FOLDER.mkdir(exist_ok=True)
    options = [f"-runs={RUNS}", f"-seed={seed + 1}", f"-timeout={SECONDS}"]
    options += [f"-rss_limit_mb={MEGABYTES}", "-print_final_stats=1", "-max_len=8192"]
    options += [f"-artifact_prefix={FOLDER}/"]
    done = subprocess.run(
        [sys.executable, "-m", "torture.fuzz", *options, FOLDER], capture_output=True, text=True
    )
    assert done.returncode == 0, _fault(done.stderr)


def _fault(said: str) -> str:
    """What a run that has failed says of it: the exception, and where it comes from."""
    at = said.find("=== Uncaught Python exception")
    shown = said[at:][:1500] if at >= 0 else said[-1500:]
    artifact = re.search(r"Test unit written to (\S+)", said)
    return f"{shown} {artifact[1] if artifact else ''}"


def main() -> None:
    """Fuzz until libFuzzer's options say that it is enough."""
    import atheris

    with atheris.instrument_imports(include=["manylabel.corpus"]):
        from torture import files

        from manylabel.corpus import read
    from manylabel.exceptions import ManylabelError

    logging.disable()  # libraries complain of broken files
    known = files.seeds() | files.insides()
    kinds = sorted(known)
    place = Path(tempfile.mkdtemp(prefix="fuzz-"))
    (place / "a.xml").write_bytes(files.LABELS_OF_ARFF)
    folder = Path(sys.argv[-1])
    for number, kind in enumerate(kinds):
        (folder / f"seed-{number:02}").write_bytes(bytes([number]) + known[kind])

    def one(data: bytes) -> None:
        """The first byte says what kind of file the others are."""
        name, content = files.made(kinds[(data or b"\0")[0] % len(kinds)], data[1:])
        path = place / name
        path.write_bytes(content)
        with suppress(ManylabelError):
            read(path)
        path.unlink()

    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
