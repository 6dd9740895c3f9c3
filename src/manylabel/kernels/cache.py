"""Where compiled kernels are kept: beside their files, at home, or else in a private folder."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path

from numba import config, njit
from numba.core import caching

__all__ = ["cache_folder", "find_cache"]


def find_cache(file: str) -> bool:
    """Make sure that Numba has a place to keep what it compiles; False if there is none.

    Containers and services often have an installation and a home that cannot be written. Numba
    would then refuse to compile. A private folder for temporary files takes their place; what was
    compiled when the image was made is copied there, which is quicker than compiling it again.

    Parameters
    ----------
    file : str
        A file of this package.
    """
    if cache_folder() is not None:
        return True
    try:
        private = _private_folder()
        # Numba has no public name for the folder of a file inside its cache.
        place = private / caching._CacheLocator.get_suitable_cache_subpath(file)
        compiled = Path(file).parent / "__pycache__"
        if compiled.is_dir() and not place.exists():
            copy = private / f"{os.getpid()}.tmp"
            copy.mkdir()
            for kernel in compiled.glob("*.nb*"):
                shutil.copyfile(kernel, copy / kernel.name)
            os.rename(copy, place)
        # Processes that this one starts need it, too.
        os.environ["NUMBA_CACHE_DIR"] = str(private)
        config.CACHE_DIR = str(private)  # type: ignore[attr-defined]
    except (OSError, AttributeError) as error:
        reason = getattr(error, "strerror", None) or error
        print(
            f"manylabel: compiled kernels cannot be kept ({reason}), so that "
            "every start compiles them; NUMBA_CACHE_DIR may name a folder that can be written.",
            file=sys.stderr,
        )
        return False
    return True


def cache_folder() -> str | None:
    """The folder where Numba keeps what it compiles of this package; None if it finds none."""

    def kernel() -> None:
        """Stand for all of them."""

    try:
        return str(njit(cache=True)(kernel).stats.cache_path)
    except RuntimeError:
        return None


def _private_folder() -> Path:
    """A folder for temporary files that belongs to this user alone.

    What lies there is run as a program, so that one which others can write is not used.
    """
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir(), f"manylabel-kernels-{user}")
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    is_ours = not hasattr(os, "getuid") or found.st_uid == user
    if not stat.S_ISDIR(found.st_mode) or not is_ours or found.st_mode & 0o022:
        raise PermissionError(13, f"{folder} belongs to somebody else")
    with tempfile.TemporaryFile(dir=folder):
        pass
    return folder
