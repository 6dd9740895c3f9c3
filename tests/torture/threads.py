"""Sixteen threads ask, learn, forget and save at once; every answer is that of some serial order.

Every change goes through the journal, so the order of changes is known afterwards. A second tagger
makes them one by one, and answers after each. What a thread was told must be what the second tagger
says after some number of changes: at least those that were acknowledged before the thread asked, at
most those that had begun when it got its answer. Saved models answer, too. At the end the folder
where the tagger lives has everything.
"""

from __future__ import annotations

import json
import random
import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from manylabel import Tagger, store
from manylabel.store import journal
from manylabel.store.journal import Writer

THREADS, TURNS, FIRST = 16, 6, 18
TEXTS = [f"{a} {b} {c}" for a in ("cat", "dog", "owl") for b in ("sea", "hill") for c in "uvw"]
LABELS = [[text.split()[0], text.split()[1]] for text in TEXTS]
QUESTIONS = ("cat sea u", "dog hill", "owl new")


@dataclass
class Answer:
    """What a thread was told, and the changes between which it must be."""

    question: str
    told: object
    known: set[str]
    begun: set[str]


def said(tagger: Tagger, question: str) -> object:
    """What a tagger says to a question, without the last digits of scores.

    Those depend on how many changes were made between two questions.
    """
    if question == "how many":
        return tagger.n_documents
    if question.startswith("why "):
        explained = tagger.explain(question[4:], top=100)
        return {
            one.label: (round(one.score, 9), sorted(near.id for near in one.neighbours))
            for one in explained
        }
    return {
        one["label"]: round(one["score"], 9) for one in tagger.suggest(question, top=None).to_list()
    }


class Crowd:
    """Threads at one tagger, and what they were told."""

    def __init__(self, tagger: Tagger, seed: int, place: Path) -> None:
        self.tagger, self.seed, self.place = tagger, seed, place
        self.answers: list[Answer] = []
        self.failed: list[BaseException] = []
        # Names of changes, as "+id" and "-id".
        self.begun: set[str] = set()
        self.known: set[str] = set()
        self._lock = threading.Lock()
        self._saves = count()

    def run(self) -> None:
        """Let all threads work to their end."""
        running = [threading.Thread(target=self._work, args=(n,)) for n in range(THREADS)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()

    def _work(self, number: int) -> None:
        rng = random.Random(self.seed * 100 + number)
        mine: list[str] = []
        try:
            for turn in range(TURNS):
                what = rng.random()
                if what < 0.35 or (what < 0.5 and not mine):
                    mine.append(f"{number}-{turn}")
                    self._learn(mine[-1], rng)
                elif what < 0.5:
                    self._forget(mine.pop())
                elif what < 0.6:
                    self._save(rng.choice(("fold", "move", "copy")))
                else:
                    choice = (*QUESTIONS, "how many", f"why {QUESTIONS[0]}")
                    self._ask(rng.choice(choice))
        except BaseException as error:
            self.failed.append(error)

    def _learn(self, name: str, rng: random.Random) -> None:
        self.begun.add(f"+{name}")
        self.tagger.learn([rng.choice(TEXTS) + " new"], [[rng.choice(("cat", "fresh"))]], [name])
        self.known.add(f"+{name}")

    def _forget(self, name: str) -> None:
        self.begun.add(f"-{name}")
        self.tagger.forget(name)
        self.known.add(f"-{name}")

    def _ask(self, question: str) -> None:
        known = set(self.known)
        told = said(self.tagger, question)
        self._note(question, told, known)

    def _save(self, how: str) -> None:
        """Save in place, move to a new folder, or save a copy and ask that."""
        known = set(self.known)
        folder = self.place / f"{how}-{next(self._saves)}"
        if how == "fold":
            where = self.tagger.path
            assert where is not None
            self.tagger.save(where)
        elif how == "move":
            self.tagger.save(folder)
        else:
            store.save(self.tagger, folder)
            loaded: Any = store.load(folder)
            loaded._folder = None  # what others write to the journal is not part of the copy
            for question in (*QUESTIONS, "how many"):
                self._note(question, said(loaded, question), known)

    def _note(self, question: str, told: object, known: set[str]) -> None:
        with self._lock:
            self.answers.append(Answer(question, told, known, set(self.begun)))


@contextmanager
def recorded() -> Iterator[list[tuple[str, str]]]:
    """Kind and content of every entry of any journal, in the order of writing."""
    entries: list[tuple[str, str]] = []
    append, patience = Writer.append, journal.PATIENCE

    def noted(self: Writer, things: Iterable[tuple[str, str]]) -> int:
        entries.extend(things := list(things))
        return append(self, things)

    Writer.append = noted  # type: ignore[method-assign]
    # On a busy machine a writer may wait long for the others.
    journal.PATIENCE = 300.0
    try:
        yield entries
    finally:
        Writer.append = append  # type: ignore[method-assign]
        journal.PATIENCE = patience


def attack(seed: int) -> None:
    """One crowd, and the check that every answer was right at some moment."""
    with tempfile.TemporaryDirectory() as place, recorded() as entries:
        folder, alone = Path(place) / "model", Path(place) / "alone"
        Tagger("lcif", parameters={"k": 3}).fit(TEXTS, LABELS).save(folder)
        shutil.copytree(folder, alone)
        crowd = Crowd(Tagger.load(folder), seed, Path(place))
        crowd.run()
        assert not crowd.failed, crowd.failed
        changes = [(kind, json.loads(content)) for kind, content in entries]
        last = check(crowd, changes, Tagger.load(alone))
        where = crowd.tagger.path
        assert where is not None
        for tagger in (crowd.tagger, Tagger.load(where)):
            assert {question: said(tagger, question) for question in last} == last, where


def check(
    crowd: Crowd, changes: list[tuple[str, dict[str, Any]]], alone: Tagger
) -> dict[str, object]:
    """Compare with a tagger that makes the changes one by one; what that says at the end."""
    names = [("+" if kind == "learn" else "-") + content["id"] for kind, content in changes]
    assert sorted(names) == sorted(crowd.known), "the journal is not what was acknowledged"
    place = {name: number for number, name in enumerate(names, start=1)}
    asked = {answer.question for answer in crowd.answers} | {"how many", QUESTIONS[0]}
    right = [{question: said(alone, question) for question in asked}]
    for (_, content), name in zip(changes, names, strict=True):
        if name[0] == "+":
            alone.learn([content["text"]], [content["labels"]], [name[1:]])
        else:
            alone.forget(name[1:])
        right.append({question: said(alone, question) for question in asked})
    for answer in crowd.answers:
        first = max((place[name] for name in answer.known), default=0)
        last = max((place[name] for name in answer.begun), default=0)
        possible = [right[number][answer.question] for number in range(first, last + 1)]
        assert answer.told in possible, (
            f"{answer.question!r}: none of the answers after {first} to {last} changes"
        )
    return right[-1]
