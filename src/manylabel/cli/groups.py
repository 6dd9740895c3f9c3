"""Groups of options: dataclasses whose fields become options of a command."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

__all__ = ["Group", "spread"]


class Group:
    """A group of options that may set up a context for the whole command."""

    def around(self) -> AbstractContextManager[None]:
        """The context in which the command runs."""
        return nullcontext()


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the groups of a command by their options.

    A group is a parameter whose type is a dataclass. Typer sees an option for each of its fields;
    the command gets them as one object.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Size:
    ...     width: int = 2
    ...     height: int = 3
    >>> def draw(name: str, size: Size = Size()) -> None:
    ...     print(name, size.width, size.height)
    >>> print(inspect.signature(spread(draw)))
    (name: str, width: int = 2, height: int = 3) -> None
    >>> spread(draw)(name="box", width=5, height=3)
    box 5 3
    """
    hints = get_type_hints(command, include_extras=True)
    options: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for parameter in inspect.signature(command).parameters.values():
        kind = hints[parameter.name]
        if not is_dataclass(kind):
            options.append(parameter.replace(annotation=kind))
            continue
        groups[parameter.name] = kind
        types = get_type_hints(kind, include_extras=True)
        options += [
            parameter.replace(name=field.name, annotation=types[field.name], default=field.default)
            for field in fields(kind)
        ]
    if not groups:
        return command

    @functools.wraps(command)
    def called(**given: Any) -> None:
        with ExitStack() as around:
            for name, kind in groups.items():
                own = {field.name: given.pop(field.name) for field in fields(kind)}
                group = given[name] = kind(**own)
                if isinstance(group, Group):
                    around.enter_context(group.around())
            command(**given)

    called.__signature__ = inspect.Signature(options, return_annotation=None)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in options}
    return called
