"""Options that go together: a dataclass whose fields are options, and a command that takes it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

__all__ = ["Group", "spread"]


class Group:
    """Options that change how a command runs, beside what it is told."""

    def around(self) -> AbstractContextManager[None]:
        """What holds while the command runs."""
        return nullcontext()


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of its groups in place of the groups.

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
    shown: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for parameter in inspect.signature(command).parameters.values():
        kind = hints[parameter.name]
        if not is_dataclass(kind):
            shown.append(parameter.replace(annotation=kind))
            continue
        groups[parameter.name] = kind
        types = get_type_hints(kind, include_extras=True)
        shown += [
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

    called.__signature__ = inspect.Signature(shown, return_annotation=None)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return called
