"""The model folder: a manifest beside memory-mapped arrays. Nothing is pickled, nothing is run.

A class is stored under the name that it has in the table of :mod:`manylabel.store.classes`, or that
:func:`register` gave it. It needs nothing else: its attributes are stored. One that wants something
else stored has ``_store_state()``, which returns what to store by name, and where that is not
simply set as attributes again, the class method ``_from_store_state(state)``. A model's
``_on_load(folder)`` is called when it has been read. One with a journal has ``_store_mark()``,
which gives its token and the number of the last entry of the journal that it holds. One that is
too large to be checked before it is used is told by ``_on_unverified(folder, manifest)``.
"""

from manylabel.store.checking import damaged_files
from manylabel.store.classes import register, unregister
from manylabel.store.decoding import restored
from manylabel.store.folder import leftovers, load, save, sweep
from manylabel.store.manifest import FORMAT_VERSION, read_manifest
from manylabel.store.strings import StringArray

__all__ = [
    "FORMAT_VERSION",
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
]
