"""The entries of a journal: read them from its table, and say what is wrong with damaged ones."""

from __future__ import annotations

import json
import sqlite3
import zlib
from typing import Any, NamedTuple

__all__ = ["Entry", "checksum", "has_checksums", "read_entries"]


class Entry(NamedTuple):
    """One change; numbers are ascending."""

    number: int
    kind: str
    content: str


def has_checksums(connection: sqlite3.Connection) -> bool:
    """Whether entries have checksums; those of older versions have none."""
    columns = connection.execute("PRAGMA table_info(entries)").fetchall()
    return any(column[1] == "checksum" for column in columns)


def read_entries(
    connection: sqlite3.Connection, after: int
) -> tuple[list[Entry], tuple[str, str] | None]:
    """The entries before the first damaged one; what is wrong with it, and what would be lost."""
    if has_checksums(connection):
        query = (
            "SELECT number, kind, content, checksum FROM entries WHERE number > ? ORDER BY number"
        )
    else:
        query = "SELECT number, kind, content, NULL FROM entries WHERE number > ? ORDER BY number"
    rows = connection.execute(query, (after,))
    entries: list[Entry] = []
    bad: list[Entry] = []
    for number, kind, content, recorded in rows:
        entry = Entry(number, kind, content)
        if not _is_whole(entry, recorded):
            bad.append(entry)
        elif bad:
            return entries, _broken(bad[0].number, "damaged")
        elif number != after + 1:
            return entries, _broken(after + 1, "missing")
        else:
            entries.append(entry)
        after = number
    if not bad:
        return entries, None
    if len(bad) == 1:
        return entries, (f"the last entry of the journal is damaged ({_named(bad[0])})", "it")
    names = ", ".join(map(_named, bad[:5])) + (", ..." if len(bad) > 5 else "")
    return entries, (f"the last {len(bad)} entries of the journal are damaged ({names})", "them")


def _broken(number: int, how: str) -> tuple[str, str]:
    return (
        f"entry {number} of the journal is {how}, and later ones are not",
        "it and all later ones",
    )


def checksum(entry: Entry) -> str:
    """The checksum that is stored with an entry."""
    body = f"{entry.number}\0{entry.kind}\0{entry.content}"
    return f"{zlib.crc32(body.encode('utf-8', 'surrogatepass')):08x}"


def _is_whole(entry: Entry, recorded: Any) -> bool:
    """Whether an entry matches its recorded checksum; one without checksum must be JSON."""
    if not isinstance(entry.kind, str) or not isinstance(entry.content, str):
        return False
    if recorded is not None:
        return bool(recorded == checksum(entry))
    try:
        return isinstance(json.loads(entry.content), dict)
    except (ValueError, RecursionError):
        return False


def _named(entry: Entry) -> str:
    """A short description of a damaged entry."""
    kind = entry.kind if isinstance(entry.kind, str) and entry.kind.isalpha() else "unknown"
    try:
        return f"{kind} {json.loads(entry.content)['id'][:50]!r}"
    except (KeyError, TypeError, ValueError, RecursionError):
        return kind[:20]
