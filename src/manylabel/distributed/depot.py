"""Store objects at any address that fsspec knows, if client and workers share no disk."""

from __future__ import annotations

import importlib.util
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from manylabel.distributed.packing import pack, unpack
from manylabel.exceptions import ClusterError, MissingExtraError

__all__ = ["Depot", "depot_at", "peek"]

#: Maximum attempts, and the seconds before the second one; the pause doubles.
_TRIES, _PAUSE = 5, 0.1
#: Errors that another attempt cannot fix.
_FINAL = (FileNotFoundError, PermissionError, NotImplementedError)
#: Extras by the protocol of an address; fsspec itself knows the package of every other one.
_EXTRAS = {"s3": ("s3fs", "s3"), "s3a": ("s3fs", "s3")}

Found = TypeVar("Found")


class Depot:
    """Objects at an address that client and workers can access, such as ``s3://bucket/folder``.

    Each object is one file, a packed folder with a checksum, written at once: a reader finds all of
    it or nothing.

    Parameters
    ----------
    address : str
        Options such as an endpoint come from the configuration of fsspec on each machine.
    """

    def __init__(self, address: str) -> None:
        if importlib.util.find_spec("fsspec") is None:
            raise MissingExtraError(f"The spool {address}", "fsspec", "s3")
        import fsspec

        protocol = address.partition("://")[0]
        try:
            # A cached listing would hide what other machines have written.
            self._files, root = fsspec.core.url_to_fs(address, use_listings_cache=False)
        except ImportError:
            package, extra = _EXTRAS.get(protocol, (f"the package for {protocol}://", "s3"))
            raise MissingExtraError(f"The spool {address}", package, extra) from None
        except ValueError as error:
            raise ClusterError(f"invalid spool {address!r}: {error}.") from None
        self.address, self._root = address, root.rstrip("/")

    def put(self, key: str, folder: Path) -> None:
        """Store a folder, unless the key exists."""
        if self.has(key):
            return
        with tempfile.NamedTemporaryFile(prefix="manylabel-") as file:
            pack(folder, file)
            file.flush()
            self._try(lambda: self._upload(file.name, self._path(key)))

    def get(self, key: str, path: Path) -> None:
        """Fetch a folder; try again if it is damaged on its way."""
        self._try(lambda: self._fetch(key, path))

    def has(self, key: str) -> bool:
        """Whether there is an object under a key."""
        return self._try(lambda: bool(self._files.exists(self._path(key))))

    def names(self, key: str) -> set[str]:
        """The names of the objects under a key."""

        def listed() -> list[Any]:
            self._files.invalidate_cache()
            try:
                return list(self._files.ls(self._path(key), detail=False))
            except FileNotFoundError:
                return []

        return {str(path).rstrip("/").rpartition("/")[2] for path in self._try(listed)}

    def remove(self, key: str = "") -> None:
        """Remove an object, or everything; it need not exist."""
        path = self._path(key) if key else self._root
        with suppress(FileNotFoundError):
            self._try(lambda: self._files.rm(path, recursive=True))

    def _path(self, key: str) -> str:
        return f"{self._root}/{key}"

    def _upload(self, source: str, path: str) -> None:
        parent = path.rpartition("/")[0]
        self._files.makedirs(parent, exist_ok=True)
        self._files.put_file(source, path)

    def _fetch(self, key: str, path: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="manylabel-") as folder:
            fetched = Path(folder) / "object"
            self._files.get_file(self._path(key), str(fetched))
            with fetched.open("rb") as file:
                unpack(file, fetched.stat().st_size, path)

    def _try(self, call: Callable[[], Found]) -> Found:
        """Call a function, and retry a few times."""
        pause = _PAUSE
        for left in reversed(range(_TRIES)):
            try:
                return call()
            except _FINAL:
                raise
            except Exception as error:  # each package of fsspec has errors of its own
                if left == 0:
                    raise ClusterError(
                        f"the spool {self.address} does not respond ({error}); check the address "
                        "and the network, and run the same command again."
                    ) from error
            time.sleep(pause)
            pause *= 2
        raise AssertionError("unreachable")


@lru_cache(16)
def depot_at(address: str) -> Depot:
    """The depot at an address; one per process."""
    return Depot(address)


def peek(address: str, key: str) -> bool:
    """Whether this process can access an object of a depot."""
    return depot_at(address).has(key)
