"""From texts to a model folder, and what a model in a folder costs.

python -m benchmarks.tagger [SECTION ...]

`end-to-end` trains and predicts with the commands, phase by phase; `learn` teaches a loaded model
10,000 documents one at a time; `load` loads the largest model, in one process and in two;
`start` times the commands' start; `stream` predicts files of 10,000 and of a million lines.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.common import DATA, best_of, table, versions
from manylabel.corpus import load_catalogue, read
from manylabel.tagger import Tagger

COMMAND = [sys.executable, "-m", "manylabel.cli"]
#: Documents that are learned, and texts that are asked about at each stage.
LEARNED, ASKED = 10_000, 500
LINES = {"few": 10_000, "many": 1_000_000}


class Ran:
    """One run of the command line: what it printed, its seconds and its peak memory."""

    def __init__(self, *arguments: object) -> None:
        start, peak = time.perf_counter(), 0
        with tempfile.TemporaryFile("w+") as out:
            process = subprocess.Popen([*COMMAND, *map(str, arguments)], stdout=out)
            while process.returncode is None:
                # Not the system's own peak, which starts from the memory of this process.
                peak = max(peak, held_by(process.pid))
                time.sleep(0.01)
                pid, status, used = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    process.returncode = os.waitstatus_to_exitcode(status)
            self.seconds = time.perf_counter() - start
            out.seek(0)
            self.out = out.read()
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, process.args)
        self.cpu, self.gigabytes = used.ru_utime + used.ru_stime, peak / 1e6


def held_by(process: int) -> int:
    """The peak memory of a process so far, in kB; 0 if it has just ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    match = re.search(r"VmHWM:\s+(\d+)", status)
    return int(match[1]) if match else 0


def part(corpus: str, name: str) -> Path:
    """The file of a corpus."""
    return next((DATA / corpus).glob(f"{name}.*"))


def train(corpus: str, folder: Path, *options: str) -> Ran:
    return Ran("train", part(corpus, "train"), "-o", folder, "--json", "--quiet", *options)


def end_to_end(folder: Path) -> None:
    """`manylabel train` from texts to a model on disk, then `predict` of the test file."""
    model, answers = folder / "model", folder / "labels.jsonl"
    trained = train("eurlex57k", model)
    outcome = json.loads(trained.out)
    predicted = Ran("predict", model, part("eurlex57k", "test"), "-o", answers, "--quiet")
    phases = outcome["seconds"]
    whole = sum(phases.values())
    rows: list[list[object]] = [
        [name, seconds, f"{seconds / whole:.0%}"] for name, seconds in phases.items()
    ]
    print("### EURLEX57K with the default model, two threads\n")
    print(table(["phase of train", "seconds", "share"], rows))
    texts = (phases["read"] + phases["vectorize"]) / whole
    print(
        f"\n`train`: {trained.seconds:.0f} s, {trained.cpu:.0f} CPU s, at most "
        f"{trained.gigabytes:.2f} GB; reading and counting words are {texts:.0%}. The folder has "
        f"{outcome['bytes'] / 1e6:.0f} MB.\n"
        f"`predict` of 6,000 documents: {predicted.seconds:.1f} s, "
        f"{predicted.cpu:.1f} CPU s, at most {predicted.gigabytes:.2f} GB.\n"
    )


def learn(folder: Path) -> None:
    """Latency of `learn`, and what it does to the speed of answers."""
    documents = read(part("eurlex57k", "dev")).join(read(part("eurlex57k", "test")))[:LEARNED]
    texts = documents.texts or []
    labels = list(documents.label_lists())
    print(f"### {LEARNED:,} calls of `learn` with one document each, EURLEX57K\n")
    rows = []
    for model in ("lcif", "ensemble"):
        path = folder / model
        train("eurlex57k", path, "--model", model)
        tagger = Tagger.load(path, n_jobs=1)
        tagger.warm_up()
        asked = texts[:ASKED]
        before = answer_times(tagger, asked)
        calls = []
        for number in range(LEARNED):
            start = time.perf_counter()
            tagger.learn([texts[number]], [labels[number]], ids=[f"new-{number}"])
            calls.append(time.perf_counter() - start)
        first = cpu_seconds(lambda tagger=tagger: tagger.suggest("the council"))
        after = answer_times(tagger, asked)
        compaction = cpu_seconds(tagger.compact)
        compacted = answer_times(tagger, asked)
        rows.append(
            [
                model,
                *(np.quantile(calls, [0.5, 0.99]) * 1000).tolist(),
                first,
                *(float(np.median(times)) * 1000 for times in (before, after, compacted)),
                compaction,
            ]
        )
    header = ["model", "median ms", "99th percentile ms", "first answer after, CPU s"]
    stages = ["CPU ms per answer before", "after", "compacted", "CPU s to compact"]
    print(table([*header, *stages], rows) + "\n")


def answer_times(tagger: Tagger, texts: list[str]) -> list[float]:
    """CPU seconds of single questions."""
    return [cpu_seconds(lambda text=text: tagger.suggest(text, top=10)) for text in texts]


def cpu_seconds(call: Callable[[], object]) -> float:
    """CPU seconds of a call, however busy the machine is."""
    start = time.process_time()
    call()
    return time.process_time() - start


def load(folder: Path) -> None:
    """Loading the model of YSO-Finna, and how much memory two processes share."""
    model = folder / "yso"
    trained = train("yso-finna-en", model)
    outcome = json.loads(trained.out)
    print("### YSO-Finna English: 588,108 titles, 25,249 labels, the default model\n")
    phases = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in outcome["seconds"].items())
    print(
        f"`train`: {phases}; {trained.cpu:.0f} CPU s, at most {trained.gigabytes:.2f} GB. "
        f"The folder has {outcome['bytes'] / 1e6:.0f} MB.\n"
    )
    seconds = best_of(5, {"load": lambda: Tagger.load(model)})["load"]
    print(f"`Tagger.load`: {seconds:.2f} s.\n")
    texts = [text for text in read(part("yso-finna-en", "test")).texts or [] if text.strip()]
    holders = [holder(model, texts[:200]) for _ in range(2)]
    try:
        memories = [memory(process.pid, model) for process in holders]
    finally:
        for process in holders:
            process.communicate("\n")
    rows = [[number, *sizes] for number, sizes in enumerate(memories, start=1)]
    print("After 200 questions each, in MB:\n")
    print(table(["process", "of its own", "the model's pages", "of these shared"], rows) + "\n")


def holder(model: Path, texts: list[str]) -> subprocess.Popen[str]:
    """A process that has loaded the model, has answered, and waits."""
    program = (
        "import json, sys; from manylabel.tagger import Tagger; "
        f"tagger = Tagger.load({str(model)!r}); "
        "[tagger.suggest(text) for text in json.loads(sys.stdin.readline())]; "
        "print('ready', flush=True); sys.stdin.readline()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    process.stdin.write(json.dumps(texts) + "\n")
    process.stdin.flush()
    assert process.stdout.readline() == "ready\n"
    return process


def memory(process: int, model: Path) -> list[float]:
    """Megabytes: private to a process, of the model's files, and those of them that are shared."""
    own = mapped = shared = 0
    is_model = False
    for line in Path(f"/proc/{process}/smaps").read_text().splitlines():
        entry = re.match(r"(\w+):\s+(\d+) kB", line)
        if entry is None:
            is_model = str(model) in line
        elif entry[1] in ("Private_Clean", "Private_Dirty"):
            own += int(entry[2])
        elif entry[1] == "Rss":
            mapped += int(entry[2]) * is_model
        elif entry[1] in ("Shared_Clean", "Shared_Dirty"):
            shared += int(entry[2]) * is_model
    return [own / 1000, mapped / 1000, shared / 1000]


def library_model(folder: Path, name: str) -> Path:
    """A small model: the bundled catalogue's."""
    model = folder / "library"
    Tagger(name, random_state=0, n_jobs=-1).fit(load_catalogue("train")).save(model)
    return model


def start(folder: Path) -> None:
    """How long commands take to start, with compiled kernels in the cache."""
    model = library_model(folder, "ensemble")
    calls: dict[str, list[object]] = {
        "manylabel --help": ["--help"],
        "manylabel predict MODEL --text ...": ["predict", model, "--text", "a ship in the ice"],
        "manylabel explain MODEL --text ...": ["explain", model, "--text", "a ship in the ice"],
        "manylabel demo": ["demo", "--quiet"],
    }
    rows = []
    for name, arguments in calls.items():
        Ran(*arguments)
        runs = [Ran(*arguments) for _ in range(5)]
        rows.append([name, min(run.seconds for run in runs), min(run.cpu for run in runs)])
    print("### Commands from beginning to end, best of five\n")
    print(table(["command", "seconds", "CPU seconds"], rows) + "\n")


def stream(folder: Path) -> None:
    """The memory of `predict` does not depend on the length of the file."""
    model = library_model(folder, "lcif")
    texts = [" ".join(text.split()[:12]) for text in load_catalogue("test").texts or []]
    rows = []
    for lines in LINES.values():
        path = folder / "lines.txt"
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{texts[number % len(texts)]}\n" for number in range(lines))
        ran = Ran("predict", model, path, "-o", "/dev/null", "--format", "lines", "--quiet")
        rows.append([lines, ran.seconds, lines / ran.seconds, ran.gigabytes * 1000])
    print("### `manylabel predict` of lines of 12 words, LCIF on the bundled catalogue\n")
    print(table(["lines", "seconds", "lines per second", "peak, MB"], rows) + "\n")


SECTIONS = {
    "end-to-end": end_to_end,
    "learn": learn,
    "load": load,
    "start": start,
    "stream": stream,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    given = parser.parse_args().sections or list(SECTIONS)
    unknown = [name for name in given if name not in SECTIONS]
    if unknown:
        parser.error(f"no section is called {unknown[0]!r}; there are {', '.join(SECTIONS)}.")
    print("## From texts to a model folder\n\n" + versions("manylabel", "numba", "scikit-learn"))
    print()
    for name in given:
        with tempfile.TemporaryDirectory() as folder:
            SECTIONS[name](Path(folder))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
