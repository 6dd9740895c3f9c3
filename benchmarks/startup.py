"""How long people wait for the first answer, and for a single one.

python -m benchmarks.startup [--model MODEL] [--texts CORPUS] [--runs 5] [--source FOLDER ...]

Figures are CPU seconds (user and system): medians of several runs, of processes that take
turns. A source is a folder that holds the package, to compare versions; by default the installed
one. "First" means an empty cache of compiled kernels, in a copy of the package, with Python's own
bytecode as after an installation. With a model and a corpus of texts, single suggestions and
explanations are timed in process, too.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import manylabel
from benchmarks.common import table, versions

TEXT = "a ship in the ice"
LOAD = """
import sys
from manylabel.tagger import Tagger
Tagger.load(sys.argv[1]).suggest("a ship in the ice")
"""
SINGLE = """
import json, sys, time
from manylabel.corpus import read
from manylabel.tagger import Tagger
tagger = Tagger.load(sys.argv[1], n_jobs=1)
texts = [text for text in read(sys.argv[2]).texts if text.strip()]
texts = texts[:: max(1, len(texts) // 200)][:200]  # evenly spread: some corpora are sorted
tagger.warm_up()
def times(call, texts):
    found = []
    for text in texts:
        start = time.thread_time()
        call(text)
        found.append(1000 * (time.thread_time() - start))
    return found
print(json.dumps({
    "one suggestion": times(lambda text: tagger.suggest(text, top=10), texts),
    "reasons of ten labels": times(lambda text: tagger.explain(text, top=10), texts[:40]),
}))
"""
COSTS = """
import atexit, json, sys, time
from manylabel.kernels.compile import Kernel
costs, compiled = {}, Kernel.compiled
def timed(self, signature, types):
    start = time.thread_time()
    entry = compiled(self, signature, types)
    number, seconds = costs.get(self.name, (0, 0.0))
    costs[self.name] = number + 1, seconds + time.thread_time() - start
    return entry
Kernel.compiled = timed
atexit.register(lambda: print("\\n" + json.dumps(costs)))
from manylabel.cli.app import main
main()
"""


def environment(source: Path, **more: str) -> dict[str, str]:
    """The variables of a process that imports the package from a folder, and keeps bytecode."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": str(source), **more}


def cpu_seconds(arguments: list[str], source: Path, **more: str) -> float:
    """CPU seconds of a Python process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments],
        env=environment(source, **more),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def library_model(folder: Path, source: Path) -> Path:
    """The bundled catalogue's model."""
    model = folder / "model"
    program = (
        "import sys; from manylabel.corpus import load_catalogue; "
        "from manylabel.tagger import Tagger; "
        "Tagger(random_state=0).fit(load_catalogue('train')).save(sys.argv[1])"
    )
    cpu_seconds(["-c", program, str(model)], source)
    return model


def first_predict(command: list[str], source: Path) -> float:
    """A prediction by a copy of the package without compiled kernels."""
    with tempfile.TemporaryDirectory() as folder:
        leave = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source / "manylabel", Path(folder) / "manylabel", ignore=leave)
        compileall.compile_dir(folder, quiet=1)
        # Elsewhere, if only because the variable names a folder where the kernels are.
        return cpu_seconds(command, Path(folder), MANYLABEL_CACHE=str(Path(folder) / "cache"))


def kernels(source: Path) -> str:
    """What a first prediction compiles: kernels, for how many types of arguments, at what cost."""
    with tempfile.TemporaryDirectory() as folder:
        model = library_model(Path(folder), source)
        cache = Path(folder) / "cache"
        printed = subprocess.run(
            [sys.executable, "-c", COSTS, "predict", str(model), "--text", TEXT],
            env=environment(source, MANYLABEL_CACHE=str(cache)),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        ).stdout
    costs = json.loads(printed.splitlines()[-1])
    rows = sorted(costs.items(), key=lambda item: -item[1][1])
    total = [sum(number for number, _ in costs.values()), sum(cost for _, cost in costs.values())]
    head = ["`manylabel predict --text`, first, compiles", "signatures", "CPU seconds"]
    return table(head, [*([f"`{name}`", *cost] for name, cost in rows), ["all", *total]])


def start(sources: list[Path], runs: int) -> str:
    """CPU seconds of commands from start to end."""
    with tempfile.TemporaryDirectory() as folder:
        model = library_model(Path(folder), sources[0])
        command = ["-m", "manylabel.cli"]
        predict = [*command, "predict", str(model), "--text", TEXT]
        table_of_texts = Path(folder) / "texts.csv"
        table_of_texts.write_text("text,labels\n" + "a ship in the ice,ships\n" * 100)
        calls = {
            "`manylabel --help`": [*command, "--help"],
            "`manylabel stats`, 100 lines": [*command, "stats", str(table_of_texts)],
            "`manylabel predict --text`, warm": predict,
            "`Tagger.load`, first suggestion": ["-c", LOAD, str(model)],
        }
        rows: list[list[object]] = [
            ["`manylabel predict --text`, first", *(first_predict(predict, s) for s in sources)]
        ]
        for name, arguments in calls.items():
            for source in sources:
                cpu_seconds(arguments, source)
            taken = [[cpu_seconds(arguments, source) for source in sources] for _ in range(runs)]
            rows.append([name, *np.median(taken, axis=0).tolist()])
    return table(["CPU seconds", *map(str, sources)], rows)


def single(model: Path, texts: Path, sources: list[Path]) -> str:
    """Single questions to a loaded model."""
    rows: dict[str, list[object]] = {}
    for source in sources:
        printed = subprocess.run(
            [sys.executable, "-c", SINGLE, str(model), str(texts)],
            env=environment(source),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        for name, times in json.loads(printed).items():
            rows.setdefault(name, [name]).extend(np.quantile(times, [0.5, 0.99]).tolist())
    head = [f"{source}, {what}" for source in sources for what in ("median", "99th percentile")]
    return table(["CPU milliseconds", *head], list(rows.values()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, help="a model folder, for single questions")
    parser.add_argument("--texts", type=Path, help="a corpus of texts to ask about")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--source", type=Path, nargs="+", help="folders with the package")
    given = parser.parse_args()
    sources = given.source or [Path(manylabel.__file__).parents[1]]
    print("## Starting, and single questions\n")
    print(versions("manylabel", "numba", "scikit-learn", "typer") + "\n")
    print(start(sources, given.runs) + "\n", flush=True)
    print(kernels(sources[-1]) + "\n", flush=True)
    if given.model is not None and given.texts is not None:
        print(single(given.model, given.texts, sources) + "\n")


if __name__ == "__main__":
    main()
