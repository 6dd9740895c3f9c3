"""The journal of changes to a model since it was saved, which survives any crash.

An entry is on disk before its writer continues. The journal belongs to one model, identified by a
token that the model has too; a journal with another token counts as empty.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from manylabel.exceptions import JournalError, StoreError
from manylabel.store.journal_entries import Entry, checksum, has_checksums, read_entries

__all__ = ["JOURNAL", "Entry", "Journal", "Snapshot", "Writer"]

#: The file in the model folder.
JOURNAL = "journal.sqlite"
#: Seconds to wait for another writer.
PATIENCE = 10.0

# A child process must not use an inherited connection, not even close it.
_INHERITED: list[sqlite3.Connection] = []

_TABLES = """
    CREATE TABLE IF NOT EXISTS model (
        only INTEGER PRIMARY KEY CHECK (only = 0), token TEXT NOT NULL, folded INTEGER NOT NULL
    );
    CREATE TABLE IF NOT EXISTS entries (
        number INTEGER PRIMARY KEY, kind TEXT NOT NULL, content TEXT NOT NULL, checksum TEXT
    );
"""


class Snapshot(NamedTuple):
    """The journal at one moment.

    Attributes
    ----------
    token : str
        Of the model that it belongs to; empty in a new journal.
    folded : int
        Entries up to this number are part of the saved model, and have been removed.
    entries : list of Entry
        The entries after the requested number.
    """

    token: str
    folded: int
    entries: list[Entry]


class Journal:
    """The journal of a model folder, in SQLite's write-ahead mode.

    Processes and threads may share a journal. Readers never wait.

    Parameters
    ----------
    folder : path
        The model folder.
    patience : float, optional
        Seconds to wait for another writer.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, Journal(folder) as journal:
    ...     with journal.writing() as writer:
    ...         writer.begin("token", 0)
    ...         last = writer.append([("learn", "a cat"), ("forget", "x1")])
    ...     journal.read(after=1)
    Snapshot(token='token', folded=0, entries=[Entry(number=2, kind='forget', content='x1')])
    """

    def __init__(self, folder: str | os.PathLike[str], patience: float | None = None) -> None:
        self.path = Path(folder) / JOURNAL
        self._patience = PATIENCE if patience is None else patience
        # Two connections, so that readers do not wait for writers.
        self._reader = _Connection(self.path, self._patience, create=False)
        self._writer = _Connection(self.path, self._patience, create=True)
        self._version: tuple[int, int] | None = None

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        for connection in (self._reader, self._writer):
            with connection.lock:
                connection.close()
        self._version = None

    def has_changed(self) -> bool:
        """Whether something was written since the last `read`; a cheap check."""
        with self._reader.lock, self._reporting():
            return self._current_version() != self._version

    def read(self, after: int = 0) -> Snapshot:
        """The current journal, without waiting for writers."""
        with self._reader.lock, self._reporting():
            version = self._current_version()
            snapshot = Snapshot("", 0, [])
            if version is not None:
                connection = self._reader.opened()
                connection.execute("BEGIN")
                try:
                    snapshot = _snapshot(connection, after, self.path)
                finally:
                    connection.rollback()
            # The version before reading: anything written meanwhile counts as a change.
            self._version = version
            return snapshot

    def readable(self, after: int = 0) -> Snapshot:
        """The journal up to the first damaged entry; empty if nothing can be read."""
        snapshot = Snapshot("", 0, [])
        with suppress(StoreError), self._reader.lock, self._reporting():
            if self._current_version() is not None:
                connection = self._reader.opened()
                model = _model(connection)
                if model is not None:
                    snapshot = Snapshot(*model, [])
                    entries, _ = read_entries(connection, max(after, snapshot.folded))
                    snapshot = snapshot._replace(entries=entries)
        return snapshot

    def check(self) -> None:
        """Refuse a journal that is damaged anywhere, also outside its entries.

        Raises
        ------
        JournalError
        """
        self.read()
        with self._reader.lock, self._reporting():
            if self._current_version() is not None:
                answer = self._reader.opened().execute("PRAGMA integrity_check(1)").fetchone()[0]
                if answer != "ok":
                    raise sqlite3.DatabaseError(answer)

    def scrub(self) -> bool:
        """Erase all traces of removed entries from the files: free pages and write-ahead log.

        Others may have the journal open; this waits for readers to finish.

        Returns
        -------
        bool
            False if a reader did not finish in time, so that traces may remain until the next call.
        """
        if not self.path.exists() or not self._writer.lock.acquire(timeout=self._patience):
            return not self.path.exists()
        try:
            connection = self._writer.opened()
            connection.execute("VACUUM")
            until = time.monotonic() + self._patience
            while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() > until:
                    return False
                time.sleep(0.01)
            return True
        except sqlite3.Error:
            return False
        finally:
            self._writer.lock.release()

    def discard(self) -> None:
        """Remove the journal and everything in it."""
        self.close()
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """Lock out other writers; at the end all changes are on disk, or none.

        Raises
        ------
        StoreError
            If another process writes and does not finish in time.
        """
        if not self._writer.lock.acquire(timeout=self._patience):
            raise self._fault(sqlite3.OperationalError("locked"))
        try:
            with self._reporting():
                connection = self._writer.opened()
                connection.execute("BEGIN IMMEDIATE")
            try:
                with self._reporting():
                    yield Writer(connection, self.path)
                    connection.commit()
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.rollback()
                raise
        finally:
            self._writer.lock.release()

    def _current_version(self) -> tuple[int, int] | None:
        """A value that changes when others write; None while there is no journal."""
        try:
            file = os.stat(self.path).st_ino
        except (FileNotFoundError, NotADirectoryError):
            return None
        return file, self._reader.opened().execute("PRAGMA data_version").fetchone()[0]

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Turn SQLite's errors into StoreError."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._fault(error) from None

    def _fault(self, error: sqlite3.Error) -> StoreError:
        if "locked" in str(error) or "busy" in str(error):
            return StoreError(
                f"another process is writing to this model and did not finish within "
                f"{self._patience:g} seconds; try again later.",
                self.path.parent,
            )
        if "readonly" in str(error) or "unable to open" in str(error):
            return StoreError(
                f"the journal cannot be written ({error}); get write permission for this folder, "
                "or save the model in another.",
                self.path,
            )
        if "full" in str(error):
            return StoreError(
                f"the journal cannot be written ({error}); free some space.", self.path
            )
        if "disk I/O" in str(error):
            return StoreError(f"the disk reports an error ({error}); try again.", self.path)
        return JournalError(f"the journal cannot be read ({error})", self.path, "its changes")


class Writer:
    """Changes to the journal while other writers are locked out."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self._path = connection, path

    def commit(self) -> None:
        """Write all changes to disk now, and let other writers in."""
        self._connection.commit()

    def read(self, after: int = 0) -> Snapshot:
        """The current journal."""
        return _snapshot(self._connection, after, self._path)

    def begin(self, token: str, folded: int) -> None:
        """Start over for a model that includes the entries up to ``folded``."""
        self._connection.execute("DELETE FROM entries")
        self._connection.execute("REPLACE INTO model VALUES (0, ?, ?)", (token, folded))

    def fold(self, number: int) -> None:
        """Remove the entries up to a number: the saved model includes them."""
        self._connection.execute("DELETE FROM entries WHERE number <= ?", (number,))
        self._connection.execute("UPDATE model SET folded = max(folded, ?)", (number,))

    def append(self, things: Iterable[tuple[str, str]]) -> int:
        """Add entries, each a kind and a content; return the number of the last one."""
        row = self._connection.execute(
            "SELECT max(folded, coalesce((SELECT max(number) FROM entries), 0)) FROM model"
        ).fetchone()
        assert row is not None, "begin() comes first"
        last: int = row[0]
        entries = [Entry(last + i, *thing) for i, thing in enumerate(things, start=1)]
        rows = [(*entry, checksum(entry)) for entry in entries]
        self._connection.executemany(
            "INSERT INTO entries (number, kind, content, checksum) VALUES (?, ?, ?, ?)", rows
        )
        return last + len(rows)


class _Connection:
    """A connection that is opened on first use, once per process."""

    def __init__(self, path: Path, patience: float, create: bool) -> None:
        self.lock = threading.Lock()
        self._path, self._patience, self._create = path, patience, create
        self._opened: sqlite3.Connection | None = None
        self._process: int | None = None

    def opened(self) -> sqlite3.Connection:
        """The connection of this process."""
        if self._process != os.getpid():
            self.close()
        if self._opened is None:
            self._opened, self._process = self._open(), os.getpid()
        return self._opened

    def close(self) -> None:
        if self._opened is not None and self._process == os.getpid():
            self._opened.close()
        elif self._opened is not None:
            _INHERITED.append(self._opened)
        self._opened = None

    def _open(self) -> sqlite3.Connection:
        if not self._path.parent.is_dir():
            raise StoreError("no such folder.", self._path.parent)
        # A read-only folder can still be read, if no process is writing.
        modes = ["mode=rwc"] if self._create else ["mode=rw", "mode=ro", "mode=ro&immutable=1"]
        for mode in modes:
            connection = sqlite3.connect(
                f"file:{quote(str(self._path))}?{mode}",
                uri=True,
                timeout=self._patience,
                isolation_level=None,
                check_same_thread=False,
            )
            try:
                # Entries are read once, in order: a cache of 2 MB, the default, would only fill up.
                connection.execute("PRAGMA cache_size = -128")
                if self._create:
                    _prepare(connection, self._patience)
                connection.execute("SELECT count(*) FROM sqlite_master")
                return connection
            except sqlite3.Error as error:
                connection.close()
                if mode == modes[-1] or not isinstance(error, sqlite3.OperationalError):
                    raise
        raise AssertionError("one of the modes has returned or raised")


def _prepare(connection: sqlite3.Connection, patience: float) -> None:
    """Make the tables of a new journal."""
    until = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            # SQLite itself does not wait if another process does the same.
            if "lock" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)
    connection.execute("PRAGMA synchronous = FULL")
    # A forgotten text must not stay in the file.
    connection.execute("PRAGMA secure_delete = ON")
    for statement in _TABLES.split(";"):
        connection.execute(statement)
    if not has_checksums(connection):
        # Another process may have done the same meanwhile.
        with suppress(sqlite3.OperationalError):
            connection.execute("ALTER TABLE entries ADD COLUMN checksum TEXT")


def _model(connection: sqlite3.Connection) -> tuple[str, int] | None:
    """The model's token and the last entry that it includes; None in a new journal."""
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    row: Any = tables[0] and connection.execute("SELECT token, folded FROM model").fetchone()
    return row or None


def _snapshot(connection: sqlite3.Connection, after: int, path: Path) -> Snapshot:
    model = _model(connection)
    if model is None:
        return Snapshot("", 0, [])
    token, folded = model
    entries, damage = read_entries(connection, max(after, folded))
    if damage is not None:
        raise JournalError(damage[0], path, damage[1])
    return Snapshot(token, folded, entries)
