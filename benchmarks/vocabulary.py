"""Labels by their names, with no, few and many training documents.

python -m benchmarks.vocabulary [--dev] [--without-names] [SIZE ...]
python -m benchmarks.vocabulary laws [SIZE ...]
python -m benchmarks.vocabulary eurlex [SIZE]

YSO-Finna: the first SIZE training titles in a fixed random order, and 1,000 test titles; with
--dev 2,000 other training titles instead. Annif's MLLM, Omikuji (Bonsai) and the ensemble of the
two run beside it if ANNIF_PYTHON names a Python that has them. "laws": the same with laws of
EURLEX57K. "eurlex": how many labels that no training law has are among the first 10 suggestions, of
those whose name is in the text.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import DATA, table, versions
from manylabel import Tagger
from manylabel.corpus import Corpus, read
from manylabel.metrics import evaluate
from manylabel.vocabulary import Vocabulary
from manylabel.vocabulary.clues import find_labels

SIZES = (0, 100, 1_000, 10_000)
N_TEST, N_DEV, N_LAWS = 1_000, 2_000, 1_000
WITHOUT_NAMES = "--without-names"
MEASURES = ["p@1", "ndcg@5"]


def titles(is_dev: bool, n_train: int = max(SIZES)) -> tuple[Corpus, Corpus]:
    """Training titles in a fixed random order, and the titles to test on."""
    folder = DATA / "yso-finna-en"
    train = read(folder / "train.jsonl.xz")
    order = np.random.default_rng(0).permutation(len(train))
    if is_dev:
        return train[order[:n_train]], train[order[-N_DEV:]]
    test = read(folder / "test.jsonl.xz")
    chosen = np.random.default_rng(0).permutation(len(test))[:N_TEST]
    return train[order[:n_train]], test[np.sort(chosen)]


def ours(train: Corpus | None, test: Corpus, vocabulary: Vocabulary | None) -> list[Any]:
    """Measures, and the seconds of training."""
    start = time.perf_counter()
    tagger = Tagger(vocabulary=vocabulary, random_state=0, n_jobs=-1)
    if train is None:
        tagger.fit()
    else:
        tagger.fit(train.texts, list(train.label_lists()))
    trained = time.perf_counter() - start
    measured = tagger.evaluate(test, metrics=MEASURES)
    return [*(measured[name] for name in MEASURES), trained]


def annif(train: Corpus, test: Corpus, vocabulary: Vocabulary) -> dict[str, list[Any]]:
    """The same for Annif's backends; nothing if it is not installed."""
    python = os.environ.get("ANNIF_PYTHON")
    if python is None:
        return {}
    task = {
        "names": [(label, vocabulary.name(label)) for label in vocabulary],
        "texts": train.texts,
        "labels": list(train.label_lists()),
        "test": test.texts,
    }
    peer = Path(__file__).with_name("annif_peer.py")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "answer.json")
        done = subprocess.run(
            [python, str(peer), str(path)],
            input=json.dumps(task),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            print(done.stderr[-2000:], file=sys.stderr)
            return {"Annif": ["failed", "", ""]}
        answer = json.loads(path.read_text())
    print(f"Annif: {answer['megabytes']:,} MB at most", file=sys.stderr)
    return {
        f"Annif {name}": [*_measured(given["found"], test, list(vocabulary)), given["train"]]
        for name, given in answer["projects"].items()
    }


def _measured(found: list[list[str]], test: Corpus, listed: list[str]) -> list[float]:
    """The measures of labels in the order in which they were suggested."""
    scores = Corpus.from_texts(["x"] * len(test), found).align_to(listed).Y.astype(np.float64)
    position = {label: column for column, label in enumerate(listed)}
    for row, labels in enumerate(found):
        span = slice(scores.indptr[row], scores.indptr[row + 1])
        ranks = {position[label]: rank for rank, label in enumerate(labels)}
        scores.data[span] = [1 / (1 + ranks[column]) for column in scores.indices[span]]
    measured = evaluate(test.align_to(listed).Y, scores, metrics=MEASURES)
    return [measured[name] for name in MEASURES]


def by_size(
    train: Corpus, test: Corpus, vocabulary: Vocabulary, sizes: list[int], what: str
) -> None:
    """P@1 and nDCG@5 by the number of training documents."""
    rows: list[list[Any]] = []

    def add(size: int, name: str, figures: list[Any]) -> None:
        rows.append([size, name, *figures])
        print(rows[-1], file=sys.stderr, flush=True)

    for size in sizes:
        some = train[np.arange(size)] if size else None
        add(size, "with names", ours(some, test, vocabulary))
        if some is not None:
            for name, figures in annif(some, test, vocabulary).items():
                add(size, name, figures)
            if WITHOUT_NAMES in sys.argv:
                add(size, "without names", ours(some, test, None))
    print(f"\n{len(test):,} {what}\n")
    print(table(["documents", "model", *MEASURES, "seconds of training"], rows))


def few_titles(sizes: list[int], is_dev: bool) -> None:
    """YSO-Finna."""
    train, test = titles(is_dev, max(sizes))
    vocabulary = Vocabulary.read(DATA / "yso-finna-en" / "labels.tsv.xz")
    kind = "held-out training" if is_dev else "test"
    by_size(train, test, vocabulary, sizes, f"{kind} titles of YSO-Finna")


def few_laws(sizes: list[int]) -> None:
    """EURLEX57K, the first training laws in a fixed random order, and 1,000 test laws."""
    folder = DATA / "eurlex57k"
    train, test = (read(folder / f"{part}.jsonl.xz") for part in ("train", "test"))
    order = np.random.default_rng(0).permutation(len(train))[: max(sizes)]
    chosen = np.random.default_rng(0).permutation(len(test))[:N_TEST]
    vocabulary = Vocabulary.read(folder / "labels.jsonl.xz")
    by_size(train[order], test[np.sort(chosen)], vocabulary, sizes, "test laws of EURLEX57K")


def unseen_labels(size: int) -> None:
    """EURLEX57K: labels of test laws that none of the training laws has."""
    folder = DATA / "eurlex57k"
    vocabulary = Vocabulary.read(folder / "labels.jsonl.xz")
    train, test = (read(folder / f"{part}.jsonl.xz") for part in ("train", "test"))
    if size < len(train):
        train = train[np.sort(np.random.default_rng(0).permutation(len(train))[:size])]
    labels = list(train.label_lists())
    seen = {label for each in labels for label in each}
    rows = [
        row for row, each in enumerate(test.label_lists()) if any(one not in seen for one in each)
    ]
    asked = test[np.array(rows)]
    start = time.perf_counter()
    tagger = Tagger(vocabulary=vocabulary, random_state=0, n_jobs=-1).fit(train.texts, labels)
    trained = time.perf_counter() - start
    listed = tagger.labels
    column = {label: position for position, label in enumerate(listed)}
    found = find_labels(vocabulary.label_names(listed, "english", "en"), asked.texts or [])
    there = found.pattern.tolil().rows
    n_named = n_found = n_unseen = 0
    suggested = tagger.suggest(asked.texts, top=10)
    for row, each in enumerate(asked.label_lists()):
        best = set(suggested[row].labels)
        for label in each:
            if label in seen:
                continue
            n_unseen += 1
            if label in column and column[label] in there[row]:
                n_named += 1
                n_found += label in best
    print("\nEURLEX57K: labels of test laws that no training law has\n")
    header = ["training laws", "unseen true labels", "name in the text", "of these in the first 10"]
    print(
        table([*header, "seconds of training"], [[len(train), n_unseen, n_named, n_found, trained]])
    )


def main() -> None:
    arguments = [one for one in sys.argv[1:] if not one.startswith("--")]
    sizes = [int(one) for one in arguments if one.isdigit()]
    print(f"## Vocabularies\n\n{versions('manylabel', 'numpy', 'numba')}")
    if "laws" in arguments:
        few_laws(sizes or [N_LAWS])
        return
    if "eurlex" in arguments:
        unseen_labels(sizes[0] if sizes else 45_000)
        return
    few_titles(sizes or list(SIZES), "--dev" in sys.argv)
    if not sizes:
        few_laws([N_LAWS])
        unseen_labels(45_000)


if __name__ == "__main__":
    main()
