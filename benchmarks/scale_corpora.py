"""Corpora with hundreds of thousands of labels, made from YSO-Finna or drawn from a model.

python -m benchmarks.scale_corpora pairs FOLDER [--at-least 2] [--limit N]
python -m benchmarks.scale_corpora amazon-670k FOLDER [--scale 0.1] [--seed 0]
python -m benchmarks.scale_corpora wiki-500k FOLDER [--scale 0.1] [--seed 0]

`pairs` is YSO-Finna English: every pair of labels that occur together in at least one training
document, or in as many as ``--at-least`` says, is also a label of its own.
The other two are drawn from a topic model, with the published numbers of documents, words, labels,
and labels per document; we chose the words per document. Their folder has `best.json`: the score
of the best possible ranking.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import DATA
from benchmarks.themes import Drawn, Size, Themes

SIZES = {
    "amazon-670k": Size(490_449, 153_025, 135_909, 670_091, 76.0, 5.45),
    "wiki-500k": Size(1_813_391, 783_743, 2_381_304, 501_070, 200.0, 4.77),
}
#: Test documents whose best possible ranking is computed.
JUDGED = 2000


def with_pairs(labels: list[str]) -> list[str]:
    """The labels and all pairs of them; a pair is two labels joined by a plus sign."""
    single = sorted(set(labels))
    return single + [f"{a}+{b}" for a, b in combinations(single, 2)]


def documents_of(source: Path, part: str, limit: int | None) -> Iterator[dict[str, Any]]:
    """The documents of a training or test set, with pairs as labels, one at a time."""
    with lzma.open(source / f"{part}.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in islice(lines, limit):
            document = json.loads(line)
            document["labels"] = with_pairs(document["labels"])
            yield document


def write_pairs(
    folder: Path, source: Path, limit: int | None = None, at_least: int = 1
) -> dict[str, Any]:
    """Write the corpus of pairs, document by document, and say what it holds.

    Parameters
    ----------
    folder, source : Path
        Folders of the new corpus, and of the one with single labels.
    limit : int, optional
        Maximum documents of each set.
    at_least : int
        Pairs of fewer training documents are left out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    for document in documents_of(source, "train", limit):
        counts.update(document["labels"])
    about: dict[str, Any] = {}
    for part in ("train", "test"):
        seen: set[str] = set()
        n = n_labels = 0
        with (folder / f"{part}.jsonl").open("w", encoding="utf-8") as output:
            for document in documents_of(source, part, limit):
                labels = [
                    label
                    for label in document["labels"]
                    # By default, test documents keep pairs that training has never seen.
                    if "+" not in label or at_least == 1 or counts[label] >= at_least
                ]
                seen.update(labels)
                n, n_labels = n + 1, n_labels + len(labels)
                output.write(json.dumps(document | {"labels": labels}, ensure_ascii=False) + "\n")
        about[part] = {
            "documents": n,
            "labels": len(seen),
            "labels per document": round(n_labels / max(n, 1), 2),
            "labels without training documents": sum(counts[label] == 0 for label in seen),
        }
    (folder / "about.json").write_text(json.dumps(about, indent=1) + "\n")
    return about


def write_themes(folder: Path, size: Size, seed: int = 0, judged: int = JUDGED) -> dict[str, float]:
    """Write a drawn corpus in the Extreme Classification format, and its best possible score."""
    folder.mkdir(parents=True, exist_ok=True)
    model = Themes(size, seed)
    for part, n in (("train", size.train), ("test", size.test)):
        with (folder / f"{part}.txt").open("w", encoding="ascii") as output:
            output.write(f"{n} {size.words} {model.n_labels}\n")
            for drawn in model.draw(n, part):
                output.writelines(lines_of(drawn))
    best = judge(model, min(judged, size.test))
    (folder / "best.json").write_text(json.dumps(best, indent=1) + "\n")
    return best


def lines_of(drawn: Drawn) -> Iterator[str]:
    """Documents in the Extreme Classification format, without a header."""
    X, Y = drawn.X, drawn.Y
    words = list(map("%d:%d".__mod__, zip(X.indices.tolist(), X.data.tolist(), strict=True)))
    labels = list(map(str, Y.indices.tolist()))
    x, y = X.indptr.tolist(), Y.indptr.tolist()
    for row in range(X.shape[0]):
        yield f"{','.join(labels[y[row] : y[row + 1]])} {' '.join(words[x[row] : x[row + 1]])}\n"


def judge(model: Themes, n: int) -> dict[str, float]:
    """Precision of the best possible ranking of test documents: expected, and as drawn."""
    expected, hits = np.zeros((n, 5)), np.zeros((n, 5))
    start = 0
    for drawn in model.draw(n, "test"):
        labels, probabilities = model.best(drawn.X)
        stop = start + labels.shape[0]
        expected[start:stop] = probabilities
        given = drawn.Y.tolil().rows
        hits[start:stop] = [
            [label in mine for label in row]
            for row, mine in zip(labels.tolist(), map(set, given), strict=True)
        ]
        start = stop
    scores: dict[str, float] = {"documents": n, "labels": model.n_labels}
    for k in (1, 3, 5):
        scores[f"expected p@{k}"] = float(expected[:, :k].mean())
        scores[f"p@{k}"] = float(hits[:, :k].mean())
    return scores


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("corpus", choices=["pairs", *SIZES])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scale", type=float, default=1.0, help="of documents and labels")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--at-least", type=int, default=1, help="documents of a pair of `pairs`")
    parser.add_argument("--limit", type=int, help="documents of each part of `pairs`")
    given = parser.parse_args(arguments)
    if not 0 < given.scale <= 1:
        parser.error(f"--scale must be above 0 and at most 1; got {given.scale}.")
    if given.corpus == "pairs":
        source = DATA / "yso-finna-en"
        about: object = write_pairs(given.folder, source, given.limit, given.at_least)
    else:
        about = write_themes(given.folder, SIZES[given.corpus].scaled(given.scale), given.seed)
    print(json.dumps(about, indent=1))


if __name__ == "__main__":
    main()
