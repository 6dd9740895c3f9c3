"""The application: its commands, and what becomes of their errors.

A command is a function in a file of its own, and a place in ``COMMANDS``. Nothing heavy is imported
here or at the top of a command's file, so that ``manylabel --help`` is quick.
"""

from __future__ import annotations

import gc
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Annotated, NoReturn

import typer

from manylabel import __version__, kernels
from manylabel.cli.audit import audit
from manylabel.cli.check import check
from manylabel.cli.compact import compact
from manylabel.cli.compare import compare
from manylabel.cli.compiling import Compiling
from manylabel.cli.convert import convert
from manylabel.cli.demo import demo
from manylabel.cli.doctor import doctor
from manylabel.cli.evaluate import evaluate
from manylabel.cli.explain import explain
from manylabel.cli.forget import forget
from manylabel.cli.groups import spread
from manylabel.cli.labels import labels
from manylabel.cli.learn import learn
from manylabel.cli.next import next
from manylabel.cli.options import Debug, State
from manylabel.cli.output import complain
from manylabel.cli.predict import predict
from manylabel.cli.serve import serve
from manylabel.cli.stats import stats
from manylabel.cli.train import train
from manylabel.cli.tune import tune
from manylabel.cli.vocabulary import vocabulary
from manylabel.cli.warm import warm
from manylabel.exceptions import JournalError, ManylabelError
from manylabel.later import postpone

__all__ = ["COMMANDS", "main", "make_app", "run"]

#: In the order of the help.
COMMANDS = (
    demo,
    train,
    predict,
    explain,
    evaluate,
    tune,
    learn,
    forget,
    compact,
    check,
    vocabulary,
    labels,
    audit,
    next,
    serve,
    compare,
    stats,
    convert,
    warm,
    doctor,
)

_INTERRUPTED = 130


def _help_text(documented: object) -> str:
    """A docstring whose examples keep their line breaks."""
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

    Data go to standard output, messages to standard error; - stands for either. The exit code is
    0 for success, 1 for a failure, 2 for a usage error.

    For example:
      manylabel demo
      manylabel train train.jsonl -o model
      manylabel predict model new.jsonl
      manylabel explain model --text "A voyage around the world"
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def make_app(commands: Sequence[Callable[..., None]] = COMMANDS) -> typer.Typer:
    """Make the application, with all of its commands or some.

    All take as long to make as Typer takes to import, and a call needs one.

    Examples
    --------
    >>> len(make_app().registered_commands) == len(COMMANDS)
    True
    """
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback(invoke_without_command=True, help=_help_text(_manylabel))(_manylabel)
    for function in commands:
        app.command(help=_help_text(function))(spread(function))
    return app


def main() -> NoReturn:
    """Run the command line and exit: the entry point of ``manylabel``."""
    postpone()
    # Imports make many objects that stay; looking for others among them took an eighth of the time
    # of a short command.
    gc.set_threshold(100_000, 50, 100)
    kernels.on_compile = Compiling(sys.argv[1:])
    sys.exit(run())


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows ``manylabel``; by default what the process was started with.

    Examples
    --------
    >>> run(["--version"]) # doctest: +ELLIPSIS
    manylabel ...
    0
    """
    state = State(arguments=tuple(sys.argv[1:] if arguments is None else arguments))
    called = [command for command in COMMANDS if command.__name__ in state.arguments[:1]]
    try:
        code = typer.main.get_command(make_app(called or COMMANDS)).main(
            None if arguments is None else list(arguments),
            prog_name="manylabel",
            standalone_mode=False,
            obj=state,
        )
        sys.stdout.flush()
        return code or 0
    except (typer.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except SystemExit as end:
        # Click ends the process when the reader is gone.
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        _forget_output()
        return 0
    except BrokenPipeError:
        # Who reads the first lines alone, as `head` does, has got what was asked for.
        _forget_output()
        return 0
    except Exception as error:
        if state.debug:
            traceback.print_exc()
        else:
            complain(_in_options(_sentence(error), state.arguments))
        return getattr(error, "exit_code", 1)


def _in_options(sentence: str, given: Sequence[str]) -> str:
    """A sentence whose `arguments` of Python are the options of the shell."""
    commands = typer.main.get_command(make_app()).commands  # type: ignore[attr-defined]
    called = [commands[name] for name in given if name in commands]
    for parameter in called[0].params if called else []:
        spoken = parameter.opts[0]
        if not spoken.startswith("-"):  # an argument: [LABEL]... is LABEL
            spoken = re.sub(r"[\[\].]", "", parameter.metavar or "")
        if spoken:
            sentence = re.sub(rf"`{parameter.name}=?`", spoken, sentence)
            limit = parameter.name.removeprefix("max_")
            sentence = sentence.replace(f"`manylabel.corpus.limits({limit}=...)`", spoken)
    for option, setting in pairwise(given):
        if option in ("--set", "--try"):
            name = setting.partition("=")[0].rpartition(".")[2]
            sentence = sentence.replace(f"`{name}`", f"{option} {name}")
    return sentence.replace(" or None", " or none")


def _forget_output() -> None:
    """Let nothing more be written to a pipe without a reader, not even when Python exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


def _spoken(message: str) -> str:
    """What Typer found wrong with a value, in our words."""
    message = message.replace("Value error, ", "")
    message = re.sub(r"Input should be a valid integer\b[^.]*", "expected a whole number", message)
    message = re.sub(r"Input should be a valid number\b[^.]*", "expected a number", message)
    message = message.replace("Input should be greater than or equal to", "expected at least")
    message = message.replace("Input should be less than or equal to", "expected at most")
    return message if message.endswith((".", "?", "!")) else f"{message}."


def _sentence(error: Exception) -> str:
    """What went wrong, in one line."""
    if isinstance(error, JournalError):
        how = "manylabel compact MODEL --without-journal"
        return str(JournalError(error.what, error.path, error.without, how))
    if isinstance(error, ManylabelError):
        return str(error)
    if hasattr(error, "format_message"):  # a wrong call, found by Typer
        context = getattr(error, "ctx", None)
        path = "manylabel" if context is None else context.command_path
        return f"{_spoken(error.format_message())} Try: {path} --help"
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f"{error.filename}: "
        return f"{where}{error.strerror}."
    if isinstance(error, MemoryError):
        return "there is not enough memory for this corpus."
    return f"{type(error).__name__}: {error} (unexpected; --debug shows where)."
