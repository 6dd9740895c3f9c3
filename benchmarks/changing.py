"""How long a large model takes to learn, to forget, and to answer while it is compacted.

    python -m benchmarks.changing MODEL DOCUMENTS [--n 20]

Everything happens in a copy of the model. After each document that is learned or forgotten, the
time of the next answer is measured as well, because some work waits for it. Then another process
compacts the folder, as `manylabel compact` does, while this one answers one question after the
other and learns now and then; at the end it uses the new files. Last, a thread of this process
does the same.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import table, versions
from manylabel import Tagger, read
from manylabel.corpus import Corpus
from manylabel.progress import peak_memory

#: Pause between two questions while the model is compacted.
PAUSE = 0.02
#: Questions between two documents that are learned meanwhile.
LEARN_EVERY = 20
#: Files up to this size are copied.
SMALL = 1 << 16


Times = tuple[float, float]


def timed(work: Callable[[], Any]) -> Times:
    """Milliseconds of a call, and those of the processor in this thread."""
    start, cpu = time.perf_counter(), time.thread_time()
    work()
    return 1e3 * (time.perf_counter() - start), 1e3 * (time.thread_time() - cpu)


def quantiles(name: str, waits: list[Times]) -> list[object]:
    """A row of the table."""
    clock, cpu = np.array(waits).T
    return [name, len(waits), float(np.median(clock)), clock.max(), float(np.median(cpu))]


def copied(source: str, target: str) -> None:
    """Link the arrays of a model, which are replaced and never changed; copy the small files."""
    (os.link if Path(source).stat().st_size > SMALL else shutil.copy2)(source, target)


def renamed(corpus: Corpus, name: str) -> Corpus:
    """A document under another id, with its own labels and words alone, as in a request."""
    labels = np.unique(corpus.Y.indices)
    names = [corpus.label_names[label] for label in labels.tolist()]
    Y = corpus.Y[:, labels]
    if corpus.full_texts is not None:
        return Corpus(None, Y, ids=[name], label_names=names, texts=corpus.full_texts)
    words = np.unique(corpus.X.indices)
    features = [corpus.feature_names[word] for word in words.tolist()]
    return Corpus(corpus.X[:, words], Y, ids=[name], label_names=names, feature_names=features)


def changes(tagger: Tagger, questions: Any, lessons: Any) -> list[list[object]]:
    """Learn and forget documents one by one."""
    n = len(lessons)

    def answer(row: int) -> Times:
        return timed(lambda: tagger.suggest(questions[row : row + 1], top=5))

    for row in range(20):
        answer(row)
    rows = [quantiles("one answer", [answer(row) for row in range(len(questions))])]
    each: list[Times] = []
    after: list[Times] = []
    for row in range(n):
        one = renamed(lessons[row : row + 1], f"new {row}")
        each.append(timed(lambda one=one: tagger.learn(one)))
        after.append(answer(row))
    rows += [quantiles("learn a document", each), quantiles("the next answer", after)]
    known = [tagger._fitted().documents.id(row) for row in range(n)]
    each, after = [], []
    for row, name in enumerate(known):
        each.append(timed(lambda name=name: tagger.forget([name])))
        after.append(answer(row))
    return [*rows, quantiles("forget a document", each), quantiles("the next answer", after)]


@contextmanager
def another_process(tagger: Tagger, folder: Path) -> Iterator[Callable[[], bool]]:
    """Compact as the command does; yields whether that is still going on."""
    command = [sys.executable, "-m", "manylabel.cli", "compact", str(folder), "--jobs", "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        yield lambda: process.poll() is None
        assert process.returncode == 0, "compact failed"


@contextmanager
def a_thread(tagger: Tagger, folder: Path) -> Iterator[Callable[[], bool]]:
    """Compact in this process; yields whether that is still going on."""
    thread = threading.Thread(target=tagger.compact)
    thread.start()
    yield thread.is_alive
    thread.join()


def compacting(
    tagger: Tagger, folder: Path, questions: Any, lessons: Any, who: Callable[..., Any]
) -> tuple[list[list[object]], float]:
    """Answer and learn while the folder is compacted."""
    start, answers, learned = time.perf_counter(), [], []
    name = who.__name__.replace("_", " ")
    with who(tagger, folder) as is_working:
        for turn in itertools.count():
            if not is_working():
                break
            row = turn % len(questions)
            answers.append(timed(lambda row=row: tagger.suggest(questions[row : row + 1], top=5)))
            if turn % LEARN_EVERY == 0:
                at = turn // LEARN_EVERY % len(lessons)
                one = renamed(lessons[at : at + 1], f"{name} {turn}")
                learned.append(timed(lambda one=one: tagger.learn(one)))
            time.sleep(PAUSE)
    seconds = time.perf_counter() - start
    first = timed(lambda: tagger.suggest(questions[:1], top=5))
    later = [timed(lambda: tagger.suggest(questions[:1], top=5)) for _ in range(20)]
    rows = [
        quantiles(f"an answer while {name} compacts", answers),
        quantiles(f"learn a document while {name} compacts", learned),
        quantiles("the first answer after that", [first]),
        quantiles("the next answers", later),
    ]
    return rows, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("documents", type=Path)
    parser.add_argument("--n", type=int, default=20, help="documents to learn and to forget")
    given = parser.parse_args()
    corpus = read(given.documents)
    questions, lessons = corpus[:100], corpus[100 : 100 + given.n]
    with tempfile.TemporaryDirectory(dir=given.model.parent) as beside:
        folder = Path(beside) / "model"
        shutil.copytree(given.model, folder, copy_function=copied)
        load = time.perf_counter()
        tagger = Tagger.load(folder, n_jobs=1)
        load = time.perf_counter() - load
        tagger.check_files()
        tagger.warm_up()
        rows = changes(tagger, questions, lessons)
        seconds = []
        for who in (another_process, a_thread):
            more, each = compacting(tagger, folder, questions, lessons, who)
            rows, seconds = [*rows, *more], [*seconds, each]
    print(f"## {given.model.name}\n\n{versions('manylabel', 'numpy', 'numba')}\n")
    print(f"Loaded in {load:.2f} s, compacted in {seconds[0]:.1f} and {seconds[1]:.1f} s.")
    print(f"Peak memory with mapped files {(peak_memory() or 0) / 1e6:,.0f} MB.\n")
    print(table(["what", "times", "median ms", "longest ms", "median processor ms"], rows))


if __name__ == "__main__":
    main()
