"""The audit log: who added or removed which documents, and when."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from manylabel.exceptions import ParameterError
from manylabel.tagger import Change
from manylabel.tagger.label_edits import LabelChange
from manylabel.web.errors import ApiError

__all__ = ["AuditLog", "Writer"]

_log = logging.getLogger("manylabel.web")
#: Type of a change -> the attributes that are logged.
_LOGGED: dict[type, tuple[str, ...]] = {
    Change: ("learned", "replaced", "forgotten"),
    LabelChange: ("labels", "to", "documents", "undone"),
}


@dataclass(frozen=True)
class Writer:
    """Who changes a model: the name of the token, the client's address, and the request's id."""

    name: str
    client: str
    request: str


class AuditLog:
    """Appends a line of JSON to a file for each change, and syncs it to disk before the answer.

    The file is opened for each line, so log rotation may move it at any time. It contains ids of
    documents, never texts.

    Parameters
    ----------
    path : str, optional
        By default nothing is written.
    """

    def __init__(self, path: str | None) -> None:
        self._path = path
        if path is not None:
            try:
                os.close(_opened(path))
            except OSError as error:
                raise ParameterError(
                    f"the audit log {path} cannot be written ({error.strerror}); choose another."
                ) from None

    @contextmanager
    def open(self, writer: Writer, action: str, model: str) -> Iterator[list[Change | LabelChange]]:
        """Check before a change that the file can be written, and write the line after it."""
        if self._path is None:
            yield []
            return
        try:
            file = _opened(self._path)
        except OSError:
            _log.exception("the audit log cannot be opened")
            raise ApiError(
                503, "The audit log cannot be written; nothing was changed.", {"Retry-After": "60"}
            ) from None
        changes: list[Change | LabelChange] = []
        try:
            yield changes
            self._write(file, [_line(writer, action, model, change) for change in changes])
        finally:
            os.close(file)

    @staticmethod
    def _write(file: int, lines: list[bytes]) -> None:
        try:
            for line in lines:
                if os.write(file, line) < len(line):
                    raise OSError("a line was cut short")
            os.fsync(file)
        except OSError:
            _log.exception("the audit log cannot be written")
            raise ApiError(
                500, "The change was made, but the audit log could not be written."
            ) from None


def _opened(path: str) -> int:
    # Each line is appended by one call, so several servers may share the file.
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


def _line(writer: Writer, action: str, model: str, change: Change | LabelChange) -> bytes:
    facts = {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "who": writer.name or None,
        "client": writer.client,
        "request": writer.request,
        "action": action,
        "model": model,
        **{name: getattr(change, name) for name in _LOGGED[type(change)]},
    }
    return json.dumps(facts).encode() + b"\n"
