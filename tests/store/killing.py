"""Run by the tests as a program: writers that are killed, and writers at the same time."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from itertools import count

import numpy as np

from manylabel.store import StringArray, load, save


def model(value: int, size: int = 20_000) -> list:
    """A model whose parts all hold the same value."""
    parts = [np.full(size, value), np.full(10, value), StringArray([str(value)] * 3)]
    return [{"value": value, "part": part} for part in parts]


def value_of(loaded: list) -> int:
    """The value that all parts hold; an AssertionError if they differ."""
    value = loaded[0]["value"]
    for entry in loaded:
        assert entry["value"] == value
        assert {int(part) for part in entry["part"]} == {value}
    return value


def kill_at_every_step(folder: str) -> None:
    """Kill a writer before its first access to the file system, its second and so on."""
    save(model(0), folder)
    for moment in count(1):
        before = value_of(load(folder))
        child = os.fork()
        if child == 0:
            steps = count(1)

            def step(event: str, arguments: tuple, steps=steps, moment=moment) -> None:
                if event.partition(".")[0] in ("open", "os", "shutil") and next(steps) == moment:
                    os.kill(os.getpid(), signal.SIGKILL)

            sys.addaudithook(step)
            save(model(moment), folder)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert value_of(load(folder, verify=True)) in (before, moment)
        if not os.WIFSIGNALED(status):
            assert value_of(load(folder)) == moment
            print(moment - 1)
            return


def kill_at_random(folder: str, times: int) -> None:
    """Kill a writer after random times; what it said was saved must be there."""
    rng = random.Random(0)
    save(model(0), folder)
    last = 0
    for _ in range(times):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            for value in count(last + 1):
                save(model(value, 300_000), folder)
                os.write(write, b".")
        os.close(write)
        time.sleep(rng.random() * 0.1)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(read, "rb") as pipe:
            said = last + len(pipe.read())
        last = value_of(load(folder, verify=True))
        assert said <= last <= said + 1
    print(last)


def write_again_and_again(folder: str, first: int) -> None:
    """Save a number of models."""
    for value in range(first, first + 20):
        save(model(value), folder)


if __name__ == "__main__":
    task, *arguments = sys.argv[1:]
    globals()[task](*(int(word) if word.isdigit() else word for word in arguments))
