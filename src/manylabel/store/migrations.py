"""Older manifests become newer ones, a version at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["FORMAT_VERSION", "MIGRATIONS", "migrate"]

#: The version that `save` writes. Raise it when an older library could not read what is written.
FORMAT_VERSION = 1

#: Version -> what turns a manifest of this version into one of the next.
MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}


def migrate(manifest: dict[str, Any]) -> dict[str, Any]:
    """The manifest in today's form."""
    while manifest["version"] < FORMAT_VERSION:
        version = manifest["version"]
        manifest = MIGRATIONS[version](manifest) | {"version": version + 1}
    return manifest
