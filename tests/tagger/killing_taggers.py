"""Run by the tests as a program: taggers that are killed, and taggers at the same time."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from itertools import count

from manylabel import Tagger

TEXTS = ["cat kitten", "dog puppy", "bird nest", "fish river"]
LABELS = [["cats"], ["dogs"], ["birds"], ["fish"]]
PARAMETERS = {"k": 3, "lam": 0.8, "threshold": "0.3"}


def made(folder: str) -> None:
    """Save a small tagger."""
    Tagger("lcif", parameters=PARAMETERS).fit(TEXTS, LABELS, ["a", "b", "c", "d"]).save(folder)


def step(tagger: Tagger, number: int) -> None:
    """One change: learn a pair; now and then, forget the last one, or compact."""
    if number % 9 == 8:
        tagger.compact()
    elif number % 3 == 2:
        tagger.forget([f"{number - 1}-left", f"{number - 1}-right"])
    else:
        names = [f"{number}-left", f"{number}-right"]
        tagger.learn(["cat nest", "dog river"], [["cats", f"new{number % 4}"], ["dogs"]], names)


def ids_after(n_steps: int) -> set[str]:
    """The ids that are known after this many steps."""
    known = {"a", "b", "c", "d"}
    for number in range(n_steps):
        pair = (
            {f"{number}-left", f"{number}-right"},
            {f"{number - 1}-left", f"{number - 1}-right"},
        )
        if number % 9 == 8:
            continue
        if number % 3 == 2:
            known -= pair[1]
        else:
            known |= pair[0]
    return known


def ids_of(tagger: Tagger) -> set[str]:
    """The ids that a tagger knows; an AssertionError if its parts disagree."""
    assert tagger.suggest("cat nest river", top=None).labels
    for why in tagger.explain("cat nest river", top=10):
        assert abs(why.total - why.score) < 1e-9
        assert all(why.label in neighbour.labels for neighbour in why.neighbours)
    documents = tagger._state.documents
    return {documents.id(number) for number in documents.kept().tolist()}


def killed(
    folder: str,
    work: Callable[[Tagger, int], None],
    done: int,
    rng: random.Random,
    beside: Callable[[Tagger], None] | None = None,
) -> int:
    """Let a process work from step ``done`` on, with another thread ``beside``, and kill it at some
    moment; the steps that it said were done."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        tagger = Tagger.load(folder)
        if beside is not None:
            threading.Thread(target=beside, args=(tagger,), daemon=True).start()
        for number in count(done):
            work(tagger, number)
            os.write(write, b".")
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        # Some steps, so that there is progress, then the middle of one or the end of loading.
        heard = pipe.read(rng.randrange(5))
        time.sleep(rng.random() * 0.03)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), "it ended before it was killed"
        return done + len(heard + pipe.read())


def kill_at_random(folder: str, times: int, seed: int) -> None:
    """Kill a writer at random moments; what it said was done must be there, and nothing half."""
    rng = random.Random(seed)
    made(folder)
    done = 0
    # Everything is compiled before the first child runs.
    step(Tagger.load(folder), done)
    done += 1
    for _ in range(times):
        said = killed(folder, step, done, rng)
        known = ids_of(Tagger.load(folder))
        assert known in (ids_after(said), ids_after(said + 1)), (said, sorted(known))
        done = said if known == ids_after(said) else said + 1
    print(done)


def step_beside(tagger: Tagger, number: int) -> None:
    """One change, where another thread compacts."""
    if number % 9 == 8:
        assert ids_of(tagger) == ids_after(number)
    else:
        step(tagger, number)


def compact_again_and_again(tagger: Tagger) -> None:
    """Compact without end; a failure ends the process."""
    try:
        while True:
            tagger.compact()
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def kill_while_compacting(folder: str, times: int) -> None:
    """Kill a process that learns and compacts at the same time."""
    rng = random.Random(2)
    made(folder)
    step(Tagger.load(folder), 0)
    Tagger.load(folder).compact()
    done = 1
    for _ in range(times):
        said = killed(folder, step_beside, done, rng, compact_again_and_again)
        known = ids_of(Tagger.load(folder))
        assert known in (ids_after(said), ids_after(said + 1)), (said, sorted(known))
        done = said if known == ids_after(said) else said + 1
    print(done)


def edit(tagger: Tagger, number: int) -> None:
    """One edit of the first document's label; now and then all is compacted."""
    if number % 7 == 6:
        tagger.compact()
    elif number % 2:
        tagger.edit_labels("rename", *tagger.document("a").labels, to=f"renamed{number}")
    else:
        tagger.edit_labels("merge", tagger.document("a").labels, to=f"merged{number}")


def label_after(n_edits: int) -> str:
    """The label of the first document after this many edits."""
    for number in reversed(range(n_edits)):
        if number % 7 != 6:
            return f"{'renamed' if number % 2 else 'merged'}{number}"
    return "cats"


def kill_editors(folder: str, times: int) -> None:
    """Kill an editor of labels at random moments; what it said was done must be there."""
    rng = random.Random(1)
    made(folder)
    edit(Tagger.load(folder), 0)
    done = 1
    for _ in range(times):
        said = killed(folder, edit, done, rng)
        tagger = Tagger.load(folder)
        (label,) = tagger.document("a").labels
        assert label in (label_after(said), label_after(said + 1)), (said, label)
        assert sorted(tagger.labels) == sorted(["dogs", "birds", "fish", label])
        assert label in tagger.suggest("cat kitten").labels
        is_later = label == label_after(said + 1) != label_after(said)
        done = said + 1 if is_later else said
    print(done)


def learn_again_and_again(folder: str, name: str, times: int) -> None:
    """Learn a number of documents, and compact in the middle."""
    tagger = Tagger.load(folder)
    for number in range(times):
        tagger.learn(["cat nest"], [["cats"]], [f"{name}{number}"])
        if number == times // 2:
            tagger.compact()


def read_again_and_again(folder: str, times: int) -> None:
    """Load and ask while others write; what is known only grows."""
    known: set[str] = set()
    followed = Tagger.load(folder)
    for _ in range(times):
        loaded = ids_of(Tagger.load(folder))
        assert known <= loaded
        known = ids_of(followed)
        assert loaded <= known


if __name__ == "__main__":
    task, *arguments = sys.argv[1:]
    globals()[task](*(int(word) if word.isdigit() else word for word in arguments))
