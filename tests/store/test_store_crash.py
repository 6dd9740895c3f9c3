"""Processes that die while they write, and processes that write or read at the same time."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from store.killing import model, value_of

from manylabel.exceptions import StoreError
from manylabel.store import load, save
from manylabel.store.locks import exclusive

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are forked and killed")


def start(*words: object) -> subprocess.Popen[str]:
    program = Path(__file__).with_name("killing.py")
    return subprocess.Popen(
        [sys.executable, str(program), *map(str, words)], stdout=subprocess.PIPE, text=True
    )


def finish(process: subprocess.Popen[str]) -> str:
    output, _ = process.communicate()
    assert process.returncode == 0
    return output


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def assert_tidy(folder: Path) -> None:
    """One model, and no leftovers of others."""
    names = sorted(os.listdir(folder))
    assert re.fullmatch(r"\.lock data-[0-9a-f]{16} model\.json", " ".join(names))


def test_a_writer_killed_at_any_step_leaves_the_old_or_the_new_model(tmp_path):
    steps = int(finish(start("kill_at_every_step", tmp_path)))
    assert steps > 20
    assert_tidy(tmp_path)


def test_what_was_saved_before_a_kill_is_there(tmp_path):
    finish(start("kill_at_random", tmp_path, 15))
    save(model(1), tmp_path)
    assert_tidy(tmp_path)


@pytest.mark.slow
def test_what_was_saved_before_many_kills_is_there(tmp_path):
    finish(start("kill_at_random", tmp_path, 200))


def test_writers_wait_for_each_other_and_readers_see_whole_models(tmp_path):
    save(model(0), tmp_path)
    writers = [start("write_again_and_again", tmp_path, first) for first in (1000, 2000)]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        seen.add(value_of(load(tmp_path)))
        time.sleep(0.005)
    for writer in writers:
        finish(writer)
    assert value_of(load(tmp_path)) in (1019, 2019)
    assert len(seen) > 2
    assert_tidy(tmp_path)


def test_a_writer_that_waited_too_long_says_why(tmp_path, monkeypatch):
    save(model(1), tmp_path)
    monkeypatch.setattr("manylabel.store.locks.PATIENCE", 0.05)
    errors = []

    def write() -> None:
        try:
            save(model(2), tmp_path)
        except StoreError as error:
            errors.append(str(error))

    with exclusive(tmp_path):
        writer = threading.Thread(target=write)
        writer.start()
        writer.join()
    assert errors == [
        f"{tmp_path}: another process is writing this model; try again when it is done."
    ]
    assert value_of(load(tmp_path)) == 1


@pytest.mark.parametrize("name", ["fsync", "mkdir", "replace"])
@pytest.mark.parametrize("new", [False, True], ids=["old folder", "new folder"])
def test_a_full_disk_changes_nothing(tmp_path, monkeypatch, name, new):
    folder = tmp_path / "some" / "model"
    if not new:
        save(model(0), folder)
    before = contents(tmp_path)
    real = getattr(os, name)
    for fails_at in range(100):
        calls = iter(range(1000))

        def full(*arguments, calls=calls, fails_at=fails_at, **options):
            if next(calls) == fails_at:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*arguments, **options)

        with monkeypatch.context() as patched, suppress(StoreError):
            patched.setattr(os, name, full)
            save(model(1), folder)
            break
        assert contents(tmp_path) == before
        assert new is False or os.listdir(tmp_path) == []
    assert fails_at < 99
    assert value_of(load(folder)) == 1


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError) as caught:
        save(model(1), tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: the model cannot be written (No space left on device); free some space or "
        "choose another folder."
    )


def test_a_save_that_is_interrupted_changes_nothing(tmp_path, monkeypatch):
    save(model(0), tmp_path)
    before = contents(tmp_path)

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("manylabel.store.saving.write_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(model(1), tmp_path)
    assert contents(tmp_path) == before
