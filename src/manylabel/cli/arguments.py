"""Write the arguments of a command in the usual way: ``MODEL [FILE]``."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

__all__ = ["Command", "arguments", "usage"]


class Command(TyperCommand):
    """A command whose help writes ``MODEL``, where Typer writes ``{MODEL}`` and ``MODEL <str>``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for argument in arguments(self):
            argument.display_type_rich = lambda ctx: ""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The options and arguments, for the first line of the help."""
        return ["[OPTIONS]", *map(usage, arguments(self))]


def arguments(command: Any) -> list[Any]:
    """The parameters of a command that are not options."""
    return [each for each in command.params if each.param_type_name == "argument"]


def usage(argument: Any) -> str:
    """An argument as the first line of a help shows it: in brackets if it may be left out."""
    name = argument.metavar + ("..." if argument.nargs != 1 else "")
    return name if argument.required else f"[{name}]"
