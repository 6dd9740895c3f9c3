"""Convert usual values of options without Pydantic.

Recent versions of Typer convert every value with Pydantic, which takes longer to import than NumPy.
A value that needs more than a look, or is wrong, still goes to Typer, which words the error.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Any

__all__ = ["convert_plainly"]

_WHOLE = re.compile(r"[+-]?[0-9]{1,15}", re.ASCII)
_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]{1,15})?", re.ASCII)
#: Stands for a value that Typer must convert.
_UNKNOWN = object()


def convert_plainly(command: Any) -> Any:
    """Let the parameters of a Typer command, and of its own commands, convert plain values."""
    listed = command.get_params

    def get_params(ctx: Any) -> list[Any]:
        # The option --help is among them, and is made when they are first listed.
        parameters: list[Any] = listed(ctx)
        for parameter in parameters:
            _use_plain(parameter)
        return parameters

    command.get_params = get_params
    for inner in getattr(command, "commands", {}).values():
        convert_plainly(inner)
    return command


def _use_plain(parameter: Any) -> None:
    """Replace the converter of a parameter, once; older versions of Typer have none."""
    converter = getattr(parameter, "get_runtime_param", None)
    is_ours = "get_runtime_param" in vars(parameter)
    if converter is not None and not is_ours and hasattr(parameter, "type_descriptor"):
        parameter.get_runtime_param = _Plain(parameter, converter).itself


class _Plain:
    """Converts the values of one parameter.

    Parameters
    ----------
    parameter : typer.core.TyperArgument or typer.core.TyperOption
    otherwise : callable
        Returns Typer's own converter.
    """

    def __init__(self, parameter: Any, otherwise: Any) -> None:
        described = parameter.type_descriptor
        self._type, self._limits = described.annotation, described.parameter_info
        self._has_many = parameter.multiple or parameter.nargs == -1
        self._otherwise = otherwise

    def itself(self) -> _Plain:
        """The converter, in place of Typer's."""
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Convert a value."""
        plain = self._plain(value)
        if plain is _UNKNOWN:
            return self._otherwise().coerce(value, param=param, ctx=ctx)
        return plain

    def _plain(self, value: Any) -> Any:
        """The converted value, or a sign that Typer must convert it."""
        if value is None:
            return () if self._has_many else None
        if self._limits.parser is not None:
            try:
                return _UNKNOWN if self._has_many else self._limits.parser(value)
            except Exception:
                return _UNKNOWN
        if self._has_many:
            is_plain = isinstance(value, list | tuple) and all(type(each) is str for each in value)
            return [*value] if is_plain and self._type == list[str] else _UNKNOWN
        if self._type is str and type(value) is str:
            return value
        if self._type is int:
            return self._within(value if type(value) is int else _read(int, _WHOLE, value))
        if self._type is float:
            return self._within(value if type(value) is float else _read(float, _NUMBER, value))
        if isinstance(self._type, type) and issubclass(self._type, Enum):
            return next((one for one in self._type if value in (one, one.value)), _UNKNOWN)
        return _UNKNOWN

    def _within(self, number: Any) -> Any:
        """A number within its limits."""
        low, high = self._limits.min, self._limits.max
        if number is _UNKNOWN or self._limits.clamp:
            return _UNKNOWN
        if (low is not None and number < low) or (high is not None and number > high):
            return _UNKNOWN
        return number


def _read(kind: type, written: re.Pattern[str], value: Any) -> Any:
    """A number from the usual way to write it."""
    return kind(value) if type(value) is str and written.fullmatch(value) else _UNKNOWN
