"""Annif, for comparison: runs in a separate environment, which has annif and omikuji.

ANNIF_PYTHON=/path/to/python python -m benchmarks.vocabulary

Annif splits sentences and words with data that it downloads. Without a network it gets a simple
splitter instead: sentences end at ".", "!" or "?" before a space, words are runs of letters and
digits.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
import tempfile
import time

URI = "http://example.org/"
#: Texts per call.
BATCH = 100


def main() -> None:
    """Read a task from standard input, write the labels of each test text to a file."""
    task = json.load(sys.stdin)
    path = os.path.abspath(sys.argv[1])
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    plain_splitters()
    with open("projects.cfg", "w") as file:
        file.write(
            "[mllm]\nname=mllm\nlanguage=en\nbackend=mllm\nanalyzer=snowball(english)\nvocab=v\n\n"
            "[bonsai]\nname=bonsai\nlanguage=en\nbackend=omikuji\nanalyzer=snowball(english)\n"
            "vocab=v\ncluster_balanced=False\ncluster_k=100\nmax_depth=3\nlimit=100\n\n"
            "[ensemble]\nname=ensemble\nlanguage=en\nbackend=ensemble\nvocab=v\n"
            "sources=mllm,bonsai\nlimit=100\n"
        )
    with open("v.tsv", "w") as file:
        file.writelines(f"<{URI}{label}>\t{name}\n" for label, name in task["names"])
    with open("train.tsv", "w") as file:
        for text, labels in zip(task["texts"], task["labels"]):  # noqa: B905 - any Python
            uris = " ".join(f"<{URI}{label}>" for label in labels)
            file.write(f"{' '.join(text.split())}\t{uris}\n")
    import annif
    from annif.cli import cli

    def call(*arguments: str) -> None:
        cli.main(list(arguments), standalone_mode=False)

    call("load-vocab", "v", "v.tsv", "--language", "en")
    answers = {}
    for name in ("mllm", "bonsai"):
        start = time.perf_counter()
        call("train", name, "train.tsv")
        answers[name] = {"train": time.perf_counter() - start}
    # An ensemble of the two with equal weights has nothing to learn.
    answers["ensemble"] = {"train": sum(each["train"] for each in answers.values())}
    app = annif.create_app()
    with getattr(app, "app", app).app_context():
        import annif.registry

        for name, answer in answers.items():
            project = annif.registry.get_project(name)
            subjects, found = project.subjects, []
            start = time.perf_counter()
            for first in range(0, len(task["test"]), BATCH):
                for each in project.suggest(as_documents(task["test"][first : first + BATCH])):
                    best = sorted(each, key=lambda one: -one.score)[:10]
                    found.append([subjects[one.subject_id].uri[len(URI) :] for one in best])
            answer |= {"found": found, "suggest": time.perf_counter() - start}
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    with open(path, "w") as file:
        json.dump({"projects": answers, "megabytes": megabytes}, file)


def as_documents(texts: list[str]) -> list:
    """Texts as this version of Annif wants them."""
    try:
        from annif.corpus.types import Document

        return [Document(text=text) for text in texts]
    except ImportError:
        return texts


def plain_splitters() -> None:
    """Replace what needs downloaded data."""
    import nltk.data
    import nltk.tokenize

    nltk.data.find = lambda *_, **__: ""
    nltk.tokenize.sent_tokenize = lambda text: re.split(r"(?<=[.!?])\s+", text)
    nltk.tokenize.word_tokenize = lambda text: re.findall(r"\w+", text)


if __name__ == "__main__":
    main()
