"""The model folder: a manifest beside memory-mapped arrays. Nothing is pickled, nothing is run."""

from manylabel.store.folder import load, save
from manylabel.store.manifest import FORMAT_VERSION, read_manifest
from manylabel.store.strings import StringArray

__all__ = ["FORMAT_VERSION", "StringArray", "load", "read_manifest", "save"]
