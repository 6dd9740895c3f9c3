"""The model folder: a manifest and memory-mapped arrays. Loading executes no code.

A class is stored under its name in the table of :mod:`manylabel.store.classes`, or the name that
:func:`register` gave it. By default the attributes of an object are stored, and set again on
loading. A class may define these methods:

- ``_store_state()`` returns what to store instead, by name.
- The class method ``_from_store_state(state)`` makes an object from that state.
- ``_on_load(folder)`` is called after a model is loaded.
- ``_store_mark()``, of a model with a journal, returns its token and the number of the last entry
  of the journal that the model includes.
- ``_on_unverified(folder, manifest)`` is called after loading a model that is too large to verify
  before use.
"""

from manylabel.store.checking import damaged_files
from manylabel.store.classes import register, unregister
from manylabel.store.decoding import restored
from manylabel.store.folder import load
from manylabel.store.manifest import FORMAT_VERSION, read_manifest
from manylabel.store.saving import FolderWriter, leftovers, save, sweep, writing
from manylabel.strings import StringArray

__all__ = [
    "FORMAT_VERSION",
    "FolderWriter",
    "StringArray",
    "damaged_files",
    "leftovers",
    "load",
    "read_manifest",
    "register",
    "restored",
    "save",
    "sweep",
    "unregister",
    "writing",
]
