"""List the kernels to compile in advance: ``python tools/kernel_signatures.py [FOLDER]``.

Runs what most people run, with an empty cache, and writes the kernels that this compiles, with
the types of their arguments, to ``src/manylabel/kernels/signatures.json`` under "usual". All other
kernels of which FOLDER has machine code go under "others"; without a folder, those that are
there stay. Run the tests with MANYLABEL_CACHE=FOLDER to fill one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from manylabel.kernels import machine_code, warming

LIST = Path(__file__).resolve().parents[1] / "src" / "manylabel" / "kernels" / "signatures.json"
#: What most people run; a model of texts in files, and all there is to do with it.
USUAL = """
import sys
from manylabel.cli.app import run
from manylabel.corpus import load_catalogue, write
folder = sys.argv[1]
for part in ("train", "test"):
    write(load_catalogue(part), f"{folder}/{part}.jsonl")
calls = [
    "demo --quiet",
    "train FOLDER/train.jsonl -o FOLDER/model --quiet",
    "predict FOLDER/model FOLDER/test.jsonl --quiet",
    "predict FOLDER/model --text Whales",
    "explain FOLDER/model --text Whales",
    "evaluate FOLDER/model FOLDER/test.jsonl --quiet",
    "learn FOLDER/model FOLDER/test.jsonl --quiet",
    "predict FOLDER/model --text Whales",
]
for call in calls:
    code = run(call.replace("FOLDER", folder).split())
    if code:
        sys.exit(f"{call}: exit code {code}")
"""


def kept(folder: Path) -> dict[tuple[str, str], int]:
    """Kernels and types of which a folder has machine code, with the size of the code."""
    found = {}
    for path in folder.rglob("*.code"):
        head, _, code = path.read_bytes().partition(b"\n")
        name, signature = path.name.rpartition("-")[0], json.loads(head)["signature"]
        # An older version of the package may have had others.
        if path == folder / machine_code.file_name(name, signature):
            found[name, signature] = len(code)
    return found


def still_fits(job: tuple[str, str]) -> bool:
    """Whether a kernel is still there and takes as many arguments."""
    try:
        kernel = warming.kernel_of(job[0])
    except (ImportError, KeyError):
        return False
    return len(warming.types_of(job[1])) == kernel.function.__code__.co_argcount


def by_file(sizes: dict[tuple[str, str], int]) -> dict[str, list[tuple[str, str]]]:
    """Kernels by their files; files with the most code, which take the longest, come first."""
    files: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for job in sorted(sizes):
        files[job[0].partition(".")[0]].append(job)
    return dict(sorted(files.items(), key=lambda item: -sum(sizes[job] for job in item[1])))


def main() -> None:
    """Write the list."""
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as work:
        command = [sys.executable, "-c", USUAL, work]
        environment = {**os.environ, "MANYLABEL_CACHE": cache}
        subprocess.run(  # noqa: S603
            command, env=environment, stdout=subprocess.DEVNULL, check=True
        )
        usual = kept(Path(cache))
    if len(sys.argv) > 1:
        others = by_file({job: n for job, n in kept(Path(sys.argv[1])).items() if job not in usual})
    else:
        before = json.loads(LIST.read_text(encoding="utf-8"))["others"]
        others = {
            file: left
            for file, jobs in before.items()
            if (left := [job for job in jobs if tuple(job) not in usual and still_fits(job)])
        }
    LIST.write_text(
        json.dumps({"usual": by_file(usual), "others": others}, indent=1) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
