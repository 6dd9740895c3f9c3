"""``model.json``: the manifest of a model folder."""

from __future__ import annotations

import json
import os
import re
import zlib
from pathlib import Path
from typing import Any

from manylabel.exceptions import StoreError
from manylabel.store import migrations
from manylabel.store.arrays import REPAIR
from manylabel.store.migrations import FORMAT_VERSION

__all__ = [
    "FORMAT",
    "FORMAT_VERSION",
    "MANIFEST",
    "as_bytes",
    "malformed",
    "parse",
    "read_bytes",
    "read_manifest",
]

#: The file's name.
MANIFEST = "model.json"
FORMAT = "manylabel model"

_GENERATION = re.compile(r"data-[0-9a-f]{16}")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_TOKEN = re.compile(r"[0-9a-f]{2,64}")
_TYPES = {
    "class": str,
    "data": str,
    "files": dict,
    "info": dict,
    "library": str,
    "parameters": dict,
}
# The last entry is the checksum of all bytes before it.
_SUM = b',\n "checksum": "%08x"\n}\n'
_SUM_LENGTH = len(_SUM % 0)


def read_manifest(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the description of a model without loading it.

    Parameters
    ----------
    path : str or path
        The model folder.

    Returns
    -------
    dict
        Among others ``class``, ``parameters``, ``info`` (as passed to :func:`save`), ``library``
        (the version of manylabel that wrote it), ``version`` (of the format) and ``files`` with
        their sizes.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from manylabel.store import save
    >>> from manylabel.thresholds import Fixed
    >>> with TemporaryDirectory() as folder:
    ...     save(Fixed(0.3), folder, info={"labels": 12})
    ...     manifest = read_manifest(folder)
    >>> manifest["class"], manifest["parameters"]["threshold"], manifest["info"]
    ('Fixed', 0.3, {'labels': 12})
    """
    folder = Path(path)
    return parse(folder, read_bytes(folder))


def as_bytes(manifest: dict[str, Any]) -> bytes:
    """The manifest as it is written: JSON whose last entry is the checksum of the rest."""
    body = json.dumps(manifest, indent=1, allow_nan=False).encode()[: -len(b"\n}")]
    return body + _SUM % zlib.crc32(body)


def read_bytes(folder: Path) -> bytes:
    """Read the bytes of a folder's manifest."""
    path = folder / MANIFEST
    if not folder.is_dir():
        what = "this is a file" if folder.exists() else "no such folder"
        raise StoreError(
            f"{what}; give a model folder, as `manylabel train` or `save` writes it.", folder
        )
    try:
        if path.is_symlink():
            raise StoreError(
                "this is a link, which is not allowed in a model folder; replace it by the file.",
                path,
            )
        return path.read_bytes()
    except FileNotFoundError:
        raise StoreError(
            f"this is not a model folder: it has no {MANIFEST}; give one that `save` wrote.",
            folder,
        ) from None
    except OSError as error:
        raise StoreError(
            f"the file cannot be read ({error.strerror or error}); {REPAIR}.", path
        ) from None


def parse(folder: Path, content: bytes) -> dict[str, Any]:
    """Parse and check a manifest, and migrate it to the current version."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(content)
    except (ValueError, RecursionError):
        raise StoreError(
            f"the file is not JSON: it was cut short or altered; {REPAIR}.", path
        ) from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise StoreError(
            "this is not the manifest of a manylabel model; give another folder.", path
        )
    version = manifest.get("version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise StoreError(
            f"the model has format {version}, written by manylabel {manifest.get('library')}, and "
            f"this library reads formats up to {FORMAT_VERSION}; update manylabel.",
            path,
        )
    body = content[:-_SUM_LENGTH]
    if content[-_SUM_LENGTH:] != _SUM % zlib.crc32(body):
        raise StoreError(f"the file was altered after it was written; {REPAIR}.", path)
    try:
        manifest = migrations.migrate(manifest)
        _check_form(manifest, path)
    except StoreError:
        raise
    except (KeyError, TypeError, ValueError):
        raise malformed(path) from None
    return manifest


def malformed(path: Path) -> StoreError:
    """The error for a manifest with invalid content."""
    return StoreError(f"the file has invalid content; {REPAIR}.", path)


def _check_form(manifest: dict[str, Any], path: Path) -> None:
    """Refuse entries of the wrong type, and files outside the folder."""
    if not all(isinstance(manifest[name], kind) for name, kind in _TYPES.items()):
        raise malformed(path)
    if not _GENERATION.fullmatch(manifest["data"]):
        raise _outside(manifest["data"], path)
    if not _TOKEN.fullmatch(manifest.get("mark", "00")):
        raise malformed(path)
    for name, record in manifest["files"].items():
        if not _FILE_NAME.fullmatch(name):
            raise _outside(name, path)
        if not isinstance(record["bytes"], int) or not isinstance(record["crc32"], str):
            raise malformed(path)


def _outside(name: str, path: Path) -> StoreError:
    return StoreError(
        f"the file names {name!r}, which is not inside the model folder; {REPAIR}.", path
    )
