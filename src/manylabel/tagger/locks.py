"""Many readers or one writer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["ReadWriteLock"]


class ReadWriteLock:
    """Lets threads read together and write alone; a waiting writer goes before new readers.

    Whoever writes may write again and read inside; whoever reads must not ask for writing.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._readers = 0
        self._waiting = 0
        self._writer: int | None = None
        self._depth = 0

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Wait until nobody writes."""
        if self._writer == threading.get_ident():
            yield
            return
        with self._changed:
            self._changed.wait_for(lambda: self._writer is None and not self._waiting)
            self._readers += 1
        try:
            yield
        finally:
            with self._changed:
                self._readers -= 1
                self._changed.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Wait until nobody reads or writes."""
        me = threading.get_ident()
        with self._changed:
            if self._writer != me:
                self._waiting += 1
                try:
                    self._changed.wait_for(lambda: self._writer is None and not self._readers)
                finally:
                    self._waiting -= 1
                self._writer = me
            self._depth += 1
        try:
            yield
        finally:
            with self._changed:
                self._depth -= 1
                if not self._depth:
                    self._writer = None
                    self._changed.notify_all()
