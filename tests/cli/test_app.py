"""What every command promises: where things are printed, exit codes, errors of one line."""

from __future__ import annotations

import array
import inspect
import os
import signal
import subprocess
import sys

import pytest
import typer

from manylabel import __version__
from manylabel.cli import app as application
from manylabel.cli.options import Format
from manylabel.corpus.detection import FORMATS
from manylabel.exceptions import InputError

COMMAND = [sys.executable, "-m", "manylabel"]


def test_the_version_is_printed(call):
    assert call("--version").out == f"manylabel {__version__}\n"


def test_without_a_command_the_help_is_printed(call):
    assert call().out == call("--help").out


@pytest.mark.parametrize("name", application.COMMANDS)
def test_every_command_has_help_with_examples(call, name):
    called = call(name, "--help")
    assert called.code == 0
    assert f"For example:\n    manylabel {name}" in called.out
    assert max(map(len, called.out.splitlines())) <= 80


@pytest.mark.parametrize(("name", "summary"), application.COMMANDS.items())
def test_the_list_of_commands_has_the_first_sentence_of_their_help(name, summary):
    documented = inspect.getdoc(application.function_of(name))
    assert documented.partition("\n\n")[0].replace("\n", " ") == summary


def test_the_formats_of_the_options_are_those_of_the_corpora():
    assert tuple(Format) == FORMATS


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["stats"], "missing argument 'CORPUS|MODEL'. Try: manylabel stats --help"),
        (["stats", "x", "--format", "wav"], "'wav' is not one of 'jsonl', 'tsv', 'csv'"),
        (["stats", "x", "--min-df", "few"], "'few' is not a number; give one such as 2 or 0.01."),
        (["nothing"], "unknown command 'nothing'. Try: manylabel --help"),
        (["--nothing"], "unknown option --nothing. Try: manylabel --help"),
        (["stats", "x", "--quite"], "unknown option --quite; did you mean --quiet?"),
        (["stats", "x", "y", "z"], "too many arguments: y z. Try: manylabel stats --help"),
    ],
)
def test_a_wrong_call_is_one_line_and_exit_code_2(call, arguments, message):
    called = call(*arguments)
    assert called.code == 2
    assert called.err.startswith("manylabel: ")
    assert message in called.err
    assert called.err.count("\n") == 1
    assert called.out == ""


def test_a_missing_file_is_one_line_and_exit_code_1(call):
    called = call("stats", "nowhere.jsonl")
    assert called.code == 1
    assert called.err == (
        "manylabel: nowhere.jsonl: the file cannot be opened (No such file or directory).\n"
    )
    assert called.out == ""


def test_an_error_in_a_file_names_its_line(call, tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "a"}\n{"labels": []}\n')
    called = call("stats", path)
    assert called.code == 1
    assert called.err == (
        f"manylabel: {path}, line 2: expected a field 'text', found 'labels'; "
        "name the text field with --text-column.\n"
    )


def test_debug_shows_where_an_error_comes_from(call):
    for arguments in (["stats", "nowhere.jsonl", "--debug"], ["--debug", "stats", "nowhere.jsonl"]):
        called = call(*arguments)
        assert called.code == 1
        assert called.err.startswith("Traceback")
        assert "nowhere.jsonl: the file cannot be opened" in called.err


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (InputError("two\nlines."), "two lines."),
        (OSError(28, "No space left on device", "x.svg"), "x.svg: No space left on device."),
        (MemoryError(), "not enough memory for this corpus."),
        (KeyError("x"), "KeyError: 'x' (unexpected; --debug shows where)."),
    ],
)
def test_every_failure_is_one_line_and_exit_code_1(call, monkeypatch, error, message):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("manylabel.corpus.read", fail)
    called = call("stats", "x")
    assert (called.code, called.err) == (1, f"manylabel: {message}\n")


def test_an_abort_is_exit_code_130(call, monkeypatch):
    for stop in (KeyboardInterrupt, typer.Abort):

        def interrupt(*_, stop=stop, **__):
            raise stop

        monkeypatch.setattr("manylabel.corpus.read", interrupt)
        called = call("stats", "x")
        assert (called.code, called.out, called.err.strip()) == (130, "", "")


@pytest.mark.skipif(os.name != "posix", reason="needs named pipes and signals")
def test_control_c_ends_the_process_quietly(tmp_path):
    import fcntl
    import termios

    pipe = tmp_path / "endless.jsonl"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [*COMMAND, "convert", pipe, tmp_path / "out.csv"], stderr=subprocess.PIPE, text=True
    )
    with open(pipe, "wb", buffering=0) as file:  # opens when the process has opened it, too
        file.write(b'{"text": "a"}\n')
        waiting = array.array("i", [1])
        while waiting[0]:  # until the process has read the line and waits for more
            fcntl.ioctl(file, termios.FIONREAD, waiting)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    assert process.stderr.read().strip() == ""
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.parametrize("arguments", [["stats", "--json"], ["convert", "-", "--to", "jsonl"]])
def test_a_closed_pipe_is_no_error(texts, arguments):
    arguments.insert(1, str(texts))
    with subprocess.Popen(
        [*COMMAND, *arguments, "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(60) == 0


def test_a_terminal_shows_what_takes_its_time(call, rows, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert f"Reading {rows}" in call("stats", rows, "--json").err.replace("\n", "")
    assert call("stats", rows, "--json", "--quiet").err == ""


def test_the_shell_can_complete_commands():
    words = {"COMP_WORDS": "manylabel st", "COMP_CWORD": "1", "_TYPER_COMPLETE_ARGS": "manylabel s"}
    found = subprocess.run(
        COMMAND,
        env=os.environ | words | {"_MANYLABEL_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == ["stats"]
