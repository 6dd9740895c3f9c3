"""The application: its commands, and how their errors are shown.

A command is a function in its own file, listed in ``COMMANDS``. A call imports the file of its
command alone, and nothing heavy is imported here or at the top of such a file.
"""

from __future__ import annotations

import atexit
import inspect
import os
import re
import sys
import threading
import traceback
from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Annotated, NoReturn

import typer

from manylabel import __version__, kernels
from manylabel.cli.arguments import Command
from manylabel.cli.compiling import Compiling
from manylabel.cli.groups import spread
from manylabel.cli.models import cause_of, check_opened, opened
from manylabel.cli.options import Debug, State
from manylabel.cli.output import print_error
from manylabel.cli.plain_values import convert_plainly
from manylabel.cli.processes import prepare
from manylabel.exceptions import JournalError, ManylabelError

__all__ = ["COMMANDS", "function_of", "main", "make_app", "run"]

#: Each command and the first sentence of its help, in the order of the help.
COMMANDS = {
    "demo": "Train, evaluate, tag and explain on a bundled catalogue.",
    "train": "Train a model on documents with labels.",
    "predict": "Suggest labels for documents.",
    "explain": "Show why labels are suggested.",
    "evaluate": "Measure suggestions on documents with known labels.",
    "tune": "Find the best settings of a model, and train it with them.",
    "learn": "Add documents to a model without training again.",
    "forget": "Make a model forget documents.",
    "compact": "Merge learned and forgotten documents into the model folder.",
    "check": "Verify a model folder and report what is damaged.",
    "vocabulary": "Show or replace the vocabulary of a model.",
    "labels": "List or edit the labels of a model.",
    "audit": "Find labels that look wrong or missing, and say why.",
    "next": "Choose the documents that a person should label next.",
    "serve": "Serve models: an HTTP API, and a web page.",
    "compare": "Compare models: measures, time and memory.",
    "stats": "Show statistics of a corpus, or the state of a model.",
    "convert": "Convert a corpus to another format.",
    "warm": "Compile the kernels in advance, on all cores.",
    "doctor": "Show the installation: versions, caches, settings.",
}

_INTERRUPTED = 130


def _help_text(documented: object) -> str:
    """The docstring, with a marker that keeps the line breaks of its examples."""
    return inspect.cleandoc(documented.__doc__ or "").replace("For example:", "\b\nFor example:")


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"manylabel {__version__}")
        raise typer.Exit


def _manylabel(
    ctx: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
    debug: Debug = False,
) -> None:
    """Tag documents with thousands of labels, in seconds, and show exactly why.

    Data go to standard output, messages to standard error; - stands for standard input or output.
    The exit code is 0 for success, 1 for an error, 2 for wrong usage.

    For example:
      manylabel demo
      manylabel train train.jsonl -o model
      manylabel predict model new.jsonl
      manylabel explain model --text "A voyage around the world"
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def function_of(name: str) -> Callable[..., None]:
    """The function of a command."""
    function: Callable[..., None] = getattr(import_module(f"manylabel.cli.{name}"), name)
    return function


def make_app(names: Collection[str] = COMMANDS.keys()) -> typer.Typer:
    """Make the application.

    Parameters
    ----------
    names : collection of str
        The commands to make; of the others only the first sentence of the help is there. Making
        all commands takes as long as importing Typer, and a call needs at most one.

    Examples
    --------
    >>> len(make_app().registered_commands) == len(COMMANDS)
    True
    """
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback(invoke_without_command=True, help=_help_text(_manylabel))(_manylabel)
    for name, summary in COMMANDS.items():
        if name in names:
            function = function_of(name)
            app.command(name, cls=Command, help=_help_text(function))(spread(function))
        else:
            app.command(name, help=summary)(_not_made)
    return app


def _not_made() -> None:
    """Stands for a command that is only listed."""


def _needed(arguments: Sequence[str]) -> Collection[str]:
    """The commands that a call needs."""
    if arguments[:1] and arguments[0] in COMMANDS:
        return arguments[:1]
    # Options may precede the command, and a shell that completes a line names it elsewhere.
    is_completing = any(name.endswith("_COMPLETE") for name in os.environ)
    return COMMANDS if is_completing or set(arguments) & set(COMMANDS) else ()


def main() -> NoReturn:
    """Run the command line and exit: the entry point of ``manylabel``."""
    prepare()
    kernels.on_compile = Compiling(sys.argv[1:])
    _leave(run())


def _leave(code: int) -> NoReturn:
    """Exit, and let the system free the memory at once if nothing is left to do.

    Python would free each object, which takes up to a fifth of the time of a short command.
    """
    if threading.active_count() == 1:
        try:
            # Handlers may write, so they come first.
            atexit._run_exitfuncs()
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
        except (AttributeError, OSError, ValueError):
            sys.exit(code)  # a closed or broken stream: Python reports it
        os._exit(code)
    sys.exit(code)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows ``manylabel``; by default the arguments of the process.

    Examples
    --------
    >>> run(["--version"]) # doctest: +ELLIPSIS
    manylabel ...
    0
    """
    state = State(arguments=tuple(sys.argv[1:] if arguments is None else arguments))
    try:
        code = _run(state, arguments)
        check_opened()
        return code
    except (typer.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except Exception as error:
        if state.debug:
            traceback.print_exc()
        else:
            print_error(_in_options(_sentence(cause_of(error)), state.arguments))
        return getattr(error, "exit_code", 1)
    finally:
        opened.clear()


def _run(state: State, arguments: Sequence[str] | None) -> int:
    """Run a command; it has succeeded if the reader of its output wants no more."""
    try:
        command = typer.main.get_command(make_app(_needed(state.arguments)))
        code = convert_plainly(command).main(
            None if arguments is None else list(arguments),
            prog_name="manylabel",
            standalone_mode=False,
            obj=state,
        )
        sys.stdout.flush()
        return code or 0
    except SystemExit as end:
        # Click exits the process when the reader of a pipe is gone.
        if not isinstance(end.__context__, BrokenPipeError):
            raise
    except BrokenPipeError:
        # The reader, such as `head`, has read all that it wanted.
        pass
    _forget_output()
    return 0


def _in_options(sentence: str, given: Sequence[str]) -> str:
    """Replace the Python `arguments` in a sentence by the options of the command."""
    commands = typer.main.get_command(make_app()).commands  # type: ignore[attr-defined]
    called = [commands[name] for name in given if name in commands]
    for parameter in called[0].params if called else []:
        option = parameter.opts[0]
        if not option.startswith("-"):
            option = parameter.metavar or ""
        if option:
            sentence = re.sub(rf"`{parameter.name}=?`", option, sentence)
            limit = parameter.name.removeprefix("max_")
            sentence = sentence.replace(f"`manylabel.corpus.limits({limit}=...)`", option)
    for option, setting in pairwise(given):
        if option in ("--set", "--try"):
            name = setting.partition("=")[0].rpartition(".")[2]
            sentence = sentence.replace(f"`{name}`", f"{option} {name}")
    return sentence.replace(" or None", " or none")


def _forget_output() -> None:
    """Discard further output to a pipe without a reader, even when Python exits."""
    discarded = os.open(os.devnull, os.O_WRONLY)
    os.dup2(discarded, sys.stdout.fileno())


def _reworded(message: str) -> str:
    """Reword Typer's message about an invalid or missing value, like our own."""
    message = message.replace("Value error, ", "").removeprefix("Invalid value: ")
    message = re.sub(r"^No such (option|command):? ", r"unknown \1 ", message)
    near = re.search(r"\.? \(Possible options: (.*)\)$|\.? Did you mean (.*)\?$", message)
    if near is not None:
        options = (near[1] or near[2]).replace(", ", " or ")
        message = f"{message[: near.start()]}; did you mean {options}?"
    message = re.sub(
        r"^Got unexpected extra argument\S* \((.*)\)", r"too many arguments: \1", message
    )
    message = re.sub("^(?:Missing|Invalid) ", lambda word: word[0].lower(), message)
    message = re.sub(r"Input should be a valid integer\b[^.]*", "expected a whole number", message)
    message = re.sub(r"Input should be a valid number\b[^.]*", "expected a number", message)
    message = message.replace("Input should be greater than or equal to", "expected at least")
    message = message.replace("Input should be less than or equal to", "expected at most")
    return message if message.endswith((".", "?", "!")) else f"{message}."


def _sentence(error: Exception) -> str:
    """An error as one sentence."""
    if isinstance(error, JournalError):
        how = "manylabel compact MODEL --without-journal"
        return str(JournalError(error.what, error.path, error.without, how))
    if isinstance(error, ManylabelError):
        return str(error)
    if hasattr(error, "format_message"):  # a usage error, found by Typer
        context = getattr(error, "ctx", None)
        path = "manylabel" if context is None else context.command_path
        return f"{_reworded(error.format_message())} Try: {path} --help"
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f"{error.filename}: "
        return f"{where}{error.strerror}."
    if isinstance(error, MemoryError):
        return "not enough memory for this corpus."
    return f"{type(error).__name__}: {error} (unexpected; --debug shows where)."
