"""Serve a model from its mapped files with half as much memory as it takes on disk.

    python -m benchmarks.small_memory MODEL DOCUMENTS [--share 0.5] [--n 200]

Answers documents one by one, first freely and then in a control group with that share of the
model's size as the limit of memory, page cache included. Needs root and Linux control groups.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.common import table
from benchmarks.control_groups import limited_memory


def answer(model: Path, documents: Path, n: int) -> dict[str, object]:
    """Answer the first documents of a file, one by one."""
    from manylabel import Tagger, read

    tagger = Tagger.load(model, n_jobs=1)
    some = read(documents)[:n]
    tagger.suggest(some[:2])
    before = resource.getrusage(resource.RUSAGE_SELF)
    start, cpu = time.perf_counter(), time.process_time()
    suggested = [tagger.suggest(some[row : row + 1], top=5) for row in range(len(some))]
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
    after = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "ms per prediction": 1e3 * seconds / len(some),
        "processor ms": 1e3 * cpu_seconds / len(some),
        "pages read from disk": after.ru_majflt - before.ru_majflt,
        "answers": hashlib.sha256(repr(suggested).encode()).hexdigest()[:12],
    }


def forget_pages(folder: Path) -> int:
    """Drop the files from the page cache, and return their size."""
    size = 0
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            size += path.stat().st_size
    return size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("documents", type=Path)
    parser.add_argument("--share", type=float, default=0.5)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--within", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.within is not None:
        if given.within:
            Path(given.within, "cgroup.procs").write_text(str(os.getpid()))
        print(json.dumps(answer(given.model, given.documents, given.n)))
        return
    rows: list[list[object]] = []
    size = forget_pages(given.model)
    for share in (None, given.share):
        group = None if share is None else limited_memory(int(share * size))
        words = [str(given.model), str(given.documents), "--n", str(given.n)]
        forget_pages(given.model)
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.small_memory", *words, "--within", str(group or "")],
            stdout=subprocess.PIPE,
            text=True,
        )
        if done.returncode:
            outcome: list[object] = [f"ended with code {done.returncode}", "", "", ""]
        else:
            outcome = list(json.loads(done.stdout.splitlines()[-1]).values())
        rows.append(["none" if share is None else f"{share * size / 1e6:,.0f} MB", *outcome])
        if group is not None:
            group.rmdir()
    print(f"The model has {size / 1e6:,.0f} MB.\n")
    print(table(["limit", "ms", "processor ms", "pages read from disk", "answers"], rows))


if __name__ == "__main__":
    main()
