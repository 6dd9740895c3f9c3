"""List the kernels to compile in advance: ``python tools/kernel_signatures.py``.

Runs what most people run, and writes the kernels that it uses, with the types of their
arguments, to ``src/manylabel/kernels/signatures.json``: under "small" those of the bundled corpus,
under "usual" what a larger one needs in addition. All other kernels with cached machine code go
under "others", so run the tests first; what was listed there before stays. Under "commands" are the
names of the kernels that single commands use on the bundled corpus.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from manylabel.cli.app import run
from manylabel.corpus import Corpus, load_catalogue, write
from manylabel.kernels import machine_code
from manylabel.kernels.compile import KERNELS, Kernel, described
from manylabel.kernels.warming import kernel_of, types_of

LIST = Path(__file__).resolve().parents[1] / "src" / "manylabel" / "kernels" / "signatures.json"
DEMO = ("demo --quiet --json",)
COMMANDS = (
    "train {folder}/train.jsonl -o {folder}/model --quiet",
    "predict {folder}/model --text Whales",
    "explain {folder}/model --text Whales",
)
USUAL = (
    "predict {folder}/model {folder}/test.jsonl --quiet",
    "evaluate {folder}/model {folder}/test.jsonl --quiet",
    "learn {folder}/model {folder}/test.jsonl --quiet",
    "predict {folder}/model --text Whales",
    "train {folder}/large.jsonl -o {folder}/large --quiet",
    "predict {folder}/large {folder}/test.jsonl --quiet",
    "predict {folder}/large --text Whales",
    "explain {folder}/large {folder}/long.txt --quiet",
)
#: Kernels that are used when they are compiled, and that a first command does without.
QUICKER = (
    "lookup.mark_labels",
    "measures.head",
    "measures.membership",
    "ranking.best_of_rows",
    "ranking.rank_order",
    "text_tokens.tokenize",
    "votes.propose",
)
#: Pairs of each book with this many others make an index that is too large to be scanned.
_OTHERS = 12

Job = tuple[str, str]


def large(corpus: Corpus) -> Corpus:
    """Pairs of documents."""
    texts, labels = corpus.texts or [], list(corpus.label_lists())
    pairs = [(i, (i + j) % len(corpus)) for i in range(len(corpus)) for j in range(1, _OTHERS)]
    return Corpus.from_texts(
        [f"{texts[i]} {texts[j]}" for i, j in pairs],
        [sorted({*labels[i], *labels[j]}) for i, j in pairs],
    )


def used_by(calls: tuple[str, ...], folder: str) -> set[Job]:
    """The kernels that some commands call, and the types of their arguments."""
    used: set[Job] = set()
    find = Kernel._find

    def found(self: Kernel, arguments: tuple[object, ...]) -> object:
        used.add((self.name, ", ".join(map(described, arguments))))
        return find(self, arguments)

    Kernel._find = found  # type: ignore[method-assign, assignment]
    # After an installation no kernel is compiled, so some routines do without.
    are_compiled, Kernel.is_compiled = Kernel.is_compiled, False  # type: ignore[method-assign, assignment]
    for call in calls:
        for kernel in KERNELS.values():
            kernel._entries.clear()
        if code := run([part.format(folder=folder) for part in call.split()]):
            sys.exit(f"{call}: exit code {code}")
    Kernel._find = find  # type: ignore[method-assign]
    Kernel.is_compiled = are_compiled  # type: ignore[method-assign]
    return used


def kept() -> dict[Job, int]:
    """The kernels with cached machine code, and its size."""
    sizes = {}
    for folder in machine_code.folders():
        for path in folder.rglob("*.code"):
            head, _, code = path.read_bytes().partition(b"\n")
            job = path.name.rpartition("-")[0], json.loads(head)["signature"]
            # An older version of the package may have had others.
            if exists(job) and path == folder / machine_code.file_name(*job):
                sizes[job] = len(code)
    return sizes


def by_file(jobs: set[Job], sizes: dict[Job, int]) -> dict[str, list[Job]]:
    """Kernels by their files; files with the most code, which take the longest, come first."""
    files: dict[str, list[Job]] = defaultdict(list)
    for job in sorted(jobs):
        files[job[0].partition(".")[0]].append(job)
    return dict(sorted(files.items(), key=lambda item: -sum(sizes.get(j, 0) for j in item[1])))


def exists(job: Job) -> bool:
    """Whether there is such a kernel, with as many arguments."""
    try:
        return kernel_of(job[0]).function.__code__.co_argcount == len(types_of(job[1]))
    except (ImportError, KeyError, AttributeError):
        return False


def main() -> None:
    """Write the list."""
    with tempfile.TemporaryDirectory() as folder:
        corpora = {part: load_catalogue(part) for part in ("train", "test")}
        corpora["large"] = large(corpora["train"])
        for name, corpus in corpora.items():
            write(corpus, f"{folder}/{name}.jsonl")
        Path(folder, "long.txt").write_text(" ".join(corpora["test"].texts or []))
        commands = {call.partition(" ")[0]: used_by((call,), folder) for call in COMMANDS}
        small = used_by(DEMO, folder).union(*commands.values())
        usual = used_by(USUAL, folder) - small
        usual |= {job for job in kept() if job[0] in QUICKER} - small
    before = json.loads(LIST.read_text(encoding="utf-8"))
    sizes = kept()
    others = {(name, types) for jobs in before["others"].values() for name, types in jobs}
    others = {job for job in others | sizes.keys() if exists(job)} - usual - small
    listed = {
        name: by_file(jobs, sizes)
        for name, jobs in {"small": small, "usual": usual, "others": others}.items()
    }
    names = {name: sorted({job[0] for job in jobs}) for name, jobs in commands.items()}
    LIST.write_text(json.dumps(listed | {"commands": names}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
