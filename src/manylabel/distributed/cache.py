"""A worker's cache of fetched objects on its own disk, limited in size."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

__all__ = ["Cache", "cache_of"]


class Cache:
    """Folders by key; the least recently used are removed first.

    Parameters
    ----------
    folder : Path
        Used by the cache alone; leftovers of an earlier process are removed.
    limit : int
        Maximum bytes. A single larger object is kept alone.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self.folder, self.limit = folder, limit
        self._sizes: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()
        self._fetching: dict[str, threading.Lock] = {}

    def get(self, key: str, fetch: Callable[[Path], None], keep: set[str] | None = None) -> Path:
        """Return the folder of a key, fetching it if needed.

        Parameters
        ----------
        key : str
        fetch : callable
            Creates the folder.
        keep : set of str, optional
            Keys that must not be removed to make space.
        """
        path = self.folder / key
        with self._lock:
            mine = self._fetching.setdefault(key, threading.Lock())
        with mine:
            with self._lock:
                known = key in self._sizes
                if known:
                    self._sizes.move_to_end(key)
            if not known:
                fetch(path)
                size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
                with self._lock:
                    self._sizes[key] = size
                    self._shrink({key, *(keep or ())})
        return path

    @property
    def size(self) -> int:
        """Total bytes on the disk."""
        return sum(self._sizes.values())

    def _shrink(self, keep: set[str]) -> None:
        """Remove the least recently used; open files stay readable until they are closed."""
        for key in [key for key in self._sizes if key not in keep]:
            if self.size <= self.limit:
                break
            del self._sizes[key]
            shutil.rmtree(self.folder / key, ignore_errors=True)


@lru_cache(4)
def cache_of(name: str, limit: int) -> Cache:
    """The cache of this worker for a spool."""
    return Cache(Path(_own_folder()) / f"manylabel-{name}", limit)


def _own_folder() -> str:
    """The folder for this worker's files."""
    from distributed import get_worker

    try:
        return str(get_worker().local_directory)
    except ValueError:
        return tempfile.mkdtemp(prefix="manylabel-worker-")
