"""Cache compiled kernels on disk, and load them without Numba's compiler.

A file has one kernel for certain argument types: a line of JSON that names the symbols, then the
object file that LLVM made. The name of its folder contains a hash of everything that the code
depends on: the processor, the versions of Python, Numba and LLVM, and the source of the kernel and
of those that it calls. So a changed kernel is compiled again, and outdated code is never run.

Loading a file needs LLVM's linker and three of Numba's extension modules, which are imported on
their own: most of Numba's import time is its compiler.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import re
import stat
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from manylabel.kernels.compile import Kernel

__all__ = [
    "compiled_files",
    "file_name",
    "folder",
    "folders",
    "is_any_kept",
    "is_kept",
    "is_possible",
    "load",
    "save",
    "turn",
    "user_folder",
]

#: Numba's extension modules, and the prefix of their functions in machine code.
_HELPERS = {"_helperlib": "numba_", "_dynfunc": "numba_", "core/runtime/_nrt_python": "NRT_"}
#: Versions of Numba whose internals this module knows; others use Numba's own cache.
_TRIED = ("0.68.",)
#: Version of the file format; part of the folder's name.
_FORMAT = "2"
_UNDEFINED, _SYMBOL_TABLE = 0, 2
#: Code that returns an array calls this function for the array class. Numba's function imports all
#: of Numba; ours does not. Names in a symbol table must keep their length.
_THEIRS, _OURS = b"\0numba_unpickle\0", b"\0mlabl_unpickle\0"
#: The class ``numpy.ndarray`` as such code refers to it.
_ARRAY = b"\x80\x04\x95\x15" + bytes(7) + b"\x8c\x05numpy\x94\x8c\x07ndarray\x94\x93\x94."
_Unpickle = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)


def load(kernel: Kernel, signature: str) -> Callable[..., Any] | None:
    """Load a kernel's compiled code; None if it is not on disk or cannot run here."""
    for path in _kept(kernel.name, signature):
        try:
            head, _, code = path.read_bytes().partition(b"\n")
            header = json.loads(head)
            if header["signature"] != signature or header["digest"] != _digest(code):
                continue
        except (OSError, ValueError, KeyError, TypeError):
            continue  # the kernel is compiled again and the file replaced
        entry = _linked(kernel, header, code)
        if entry is not None:
            return entry
    return None


def save(kernel: Kernel, signature: str, compiled: Any) -> None:
    """Write what Numba has compiled; if that fails, the next process compiles again."""
    path = _path(kernel.name, signature)
    if path is None:
        return
    try:
        code = compiled.library._get_compiled_object()
        described = compiled.fndesc
        head = {
            "signature": signature,
            "digest": _digest(code := _with_own_symbols(code)),
            "wrapper": described.llvm_cpython_wrapper_name,
            "environment": compiled.target_context.get_env_name(described),
            "needs": _undefined_symbols(code),
            "constants": [_name_of_dtype(each) for each in compiled.environment.consts],
        }
    except (AttributeError, RuntimeError, ValueError, TypeError):
        return  # an unknown version of Numba, or a kernel that refers to Python objects
    _write(path, json.dumps(head).encode() + b"\n" + code)


def is_kept(name: str, signature: str) -> bool:
    """Whether the compiled code of a kernel, given as "file.name", is on disk."""
    return any(True for _ in _kept(name, signature))


def is_any_kept(name: str) -> bool:
    """Whether compiled code of a kernel is on disk, for any argument types."""
    module = name.partition(".")[0]
    return is_possible() and any(
        True for place in folders() for _ in place.glob(f"{module}-{_stamp(module)}/{name}-*.code")
    )


@contextmanager
def turn(name: str, signature: str) -> Iterator[bool]:
    """Let one process at a time compile a kernel; yield whether this one had to wait.

    The lock is released when its process ends.
    """
    path = _path(name, signature)
    if path is None:
        yield False
        return
    import fcntl

    waited = False
    place = path.with_suffix(".lock")
    with ExitStack() as open_files:
        # Without a lock, two processes may compile the same kernel, which only costs time.
        with suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            file = open_files.enter_context(open(place, "w"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waited = True
                fcntl.flock(file, fcntl.LOCK_EX)
        yield waited
        with suppress(OSError):
            place.unlink()


def _name_of_dtype(constant: Any) -> str:
    """The name of a dtype; kernels may refer to no other Python objects."""
    if not isinstance(constant, np.dtype) or constant.hasobject:
        raise TypeError("not a dtype")
    return constant.str


@cache
def is_possible() -> bool:
    """Whether machine code can be cached here: on 64-bit Linux, with a known version of Numba."""
    if not sys.platform.startswith("linux") or sys.byteorder != "little":
        return False
    if not _version_of_numba().startswith(_TRIED):
        return False
    return sys.maxsize > 2**32 and _engine_parts() is not None and bool(folders())


def _version_of_numba() -> str:
    """The installed version of Numba; "" if there is none.

    The name of a folder beside the package tells it. Python's own module for this takes longer to
    import than a kernel takes to load.
    """
    numba = find_spec("numba")
    for place in (numba and numba.submodule_search_locations) or ():
        for described in Path(place).parent.glob("numba-*.dist-info"):
            return described.name.split("-")[1].removesuffix(".dist")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("numba")
    except PackageNotFoundError:
        return ""


@cache
def folder() -> Path | None:
    """Where machine code is written: next to the kernels, the user's cache, or a private folder.

    The last is for containers with read-only files.
    """
    for place in _places():
        with suppress(OSError):
            place.mkdir(parents=True, exist_ok=True)
            # Never run code that another user could have written.
            if os.access(place, os.W_OK) and place.stat().st_uid == os.getuid():
                return place
    try:
        return private_folder()
    except OSError:
        return None


@cache
def folders() -> tuple[Path, ...]:
    """Where machine code is read: the writable folder, and those of a read-only image."""
    written = folder()
    places = [] if written is None else [written]
    for place in _places():
        with suppress(OSError):
            status = place.stat()
            # The same trust as in the package itself: its owner, this user or root.
            owners = {os.getuid(), 0, Path(__file__).stat().st_uid}
            if place != written and status.st_uid in owners and not status.st_mode & 0o022:
                places.append(place)
    return tuple(places)


def _places() -> list[Path]:
    """The folders to try for machine code, in order."""
    if os.environ.get("MANYLABEL_CACHE"):
        return [user_folder()]
    return [Path(__file__).parent / "__pycache__", user_folder()]


def user_folder() -> Path:
    """The folder for what this user can make again."""
    named = os.environ.get("MANYLABEL_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "manylabel"


def private_folder() -> Path:
    """A temporary folder that only this user can write.

    Its files are executed, so a folder that others can write is refused.
    """
    user = os.getuid() if hasattr(os, "getuid") else 0
    place = Path(tempfile.gettempdir(), f"manylabel-kernels-{user}")
    place.mkdir(mode=0o700, exist_ok=True)
    status = place.lstat()
    is_ours = not hasattr(os, "getuid") or status.st_uid == user
    if not stat.S_ISDIR(status.st_mode) or not is_ours or status.st_mode & 0o022:
        raise PermissionError(13, f"{place} belongs to another user")
    with tempfile.TemporaryFile(dir=place):
        pass
    return place


def compiled_files() -> set[str]:
    """The kernel modules that have current machine code."""
    names = set()
    for path in (
        (path for place in folders() for path in place.glob("*-*")) if is_possible() else ()
    ):
        module = path.name.rpartition("-")[0]
        # Code of an older version of the module does not count.
        if (Path(__file__).parent / f"{module}.py").exists() and path.name.endswith(_stamp(module)):
            names.add(module)
    return names


# File names


def _path(name: str, signature: str) -> Path | None:
    """The file to write for a kernel and argument types; None if there is no folder."""
    place = folder() if is_possible() else None
    return None if place is None else place / file_name(name, signature)


def _kept(name: str, signature: str) -> Iterator[Path]:
    """The files that may contain a kernel for some argument types."""
    if is_possible():
        file = file_name(name, signature)
        yield from (path for place in folders() if (path := place / file).exists())


def file_name(name: str, signature: str) -> str:
    """The path of a kernel's file within a folder of machine code."""
    module = name.partition(".")[0]
    return f"{module}-{_stamp(module)}/{name}-{_digest(signature.encode())}.code"


@cache
def _stamp(module: str) -> str:
    """A hash of everything that the machine code of a module depends on."""
    digest = hashlib.blake2b(_surroundings(), digest_size=12)
    for name in sorted(_reached(module, set())):
        digest.update(_source(name))
    return digest.hexdigest()


@cache
def _surroundings() -> bytes:
    """The processor, and the versions and settings of the compiler."""
    parts = _engine_parts()
    assert parts is not None
    binding, modules = parts
    files = [_FORMAT, str(sys.implementation.cache_tag), binding.get_host_cpu_name()]
    files.append(binding.get_host_cpu_features().flatten())
    for path in [modules["_helperlib"].__file__, binding.ffi.lib._name]:
        status = os.stat(path)
        files.append(f"{status.st_size} {status.st_mtime_ns}")
    files += [name for name in sorted(os.environ) if name.startswith("NUMBA_")]
    files += [os.environ[name] for name in sorted(os.environ) if name.startswith("NUMBA_")]
    return "\n".join(files).encode()


@cache
def _source(module: str) -> bytes:
    return (Path(__file__).parent / f"{module}.py").read_bytes()


def _reached(module: str, seen: set[str]) -> set[str]:
    """A kernel module, and those that it imports from, directly or not."""
    if module not in seen:
        seen.add(module)
        for other in re.findall(rb"^from manylabel\.kernels\.(\w+) import", _source(module), re.M):
            _reached(other.decode(), seen)
    return seen


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=12).hexdigest()


def _write(path: Path, data: bytes) -> None:
    """Write a file atomically; another process may write the same file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(data)
        os.replace(file.name, path)
    except OSError:
        return  # without the file, the next process compiles again


# Machine code in memory


@cache
def _engine_parts() -> tuple[Any, dict[str, ModuleType]] | None:
    """LLVM with the addresses of Numba's helper functions, and the modules that define them."""
    numba = find_spec("numba")
    if numba is None or not numba.submodule_search_locations:
        return None
    root = Path(numba.submodule_search_locations[0])
    try:
        from llvmlite import binding

        modules = {name: _extension(root, name) for name in _HELPERS}
        binding.add_symbol("_Py_NoneStruct", id(None))
        for name, prefix in _HELPERS.items():
            for helper, address in modules[name].c_helpers.items():
                own = prefix == "NRT_" and helper.startswith("_")
                binding.add_symbol(helper if own else prefix + helper, address)
        ours = _class_of_arrays(modules["_helperlib"].c_helpers["unpickle"])
        address = ctypes.cast(ours, ctypes.c_void_p).value
        binding.add_symbol(_OURS.strip(b"\0").decode(), address)
        for cls in vars(__import__("builtins")).values():
            if isinstance(cls, type) and issubclass(cls, BaseException):
                binding.add_symbol(f"PyExc_{cls.__name__}", id(cls))
        # Newer versions of llvmlite do not need this call and raise an error.
        with suppress(RuntimeError):
            binding.initialize()
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
    except (ImportError, AttributeError, OSError):
        return None
    return binding, modules


@cache
def _class_of_arrays(theirs: int) -> Any:
    """A function that returns the array class, and calls Numba's for any other class."""
    other = _Unpickle(theirs)

    def answer(data: int, size: int, name: int) -> Any:
        return np.ndarray if ctypes.string_at(data, size) == _ARRAY else other(data, size, name)

    return _Unpickle(answer)


def _with_own_symbols(code: bytes) -> bytes:
    return code.replace(_THEIRS, _OURS)


def _extension(root: Path, name: str) -> ModuleType:
    """Import an extension module of Numba without the package."""
    full = "numba." + name.replace("/", ".")
    if full in sys.modules:
        return sys.modules[full]
    path = next(
        candidate
        for suffix in EXTENSION_SUFFIXES
        if (candidate := root / f"{name}{suffix}").exists()
    )
    loader = ExtensionFileLoader(full, str(path))
    spec = spec_from_file_location(full, path, loader=loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    # If Numba is imported later it must use this module: there can be only one memory manager.
    sys.modules[full] = module
    return module


def _linked(kernel: Kernel, found: dict[str, Any], code: bytes) -> Callable[..., Any] | None:
    """The function in an object file, ready to be called from Python."""
    parts = _engine_parts()
    assert parts is not None
    binding, modules = parts
    target = binding.Target.from_default_triple().create_target_machine(jit=True)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), target)
    # LLVM ends the process if a symbol is missing. Creating the engine has loaded the symbols of
    # Python and of the C library.
    if any(binding.address_of_symbol(name) is None for name in found["needs"]):
        return None
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    dynamic = modules["_dynfunc"]
    environment = dynamic.Environment(kernel.function.__globals__)
    environment.consts.extend(np.dtype(name) for name in found["constants"])
    wrapper = engine.get_function_address(found["wrapper"])
    place = engine.get_global_value_address(found["environment"])
    if not wrapper:
        return None
    if place:
        ctypes.c_void_p.from_address(place).value = id(environment)
    kept = (engine, environment)
    made: Callable[..., Any] = dynamic.make_function(
        sys.modules[kernel.__module__], kernel.__name__, kernel.name, wrapper, environment, kept
    )
    return made


def _undefined_symbols(code: bytes) -> list[str]:
    """The external symbols that an object file (64-bit ELF) needs."""
    if code[:5] != b"\x7fELF\x02":
        raise ValueError("not a 64-bit ELF object file")
    (sections,) = struct.unpack_from("<Q", code, 0x28)
    size, n_sections = struct.unpack_from("<HH", code, 0x3A)
    heads = [
        struct.unpack_from("<IIQQQQIIQQ", code, sections + number * size)
        for number in range(n_sections)
    ]
    needed = []
    for _, kind, _, _, offset, length, link, _, _, each in heads:
        if kind != _SYMBOL_TABLE:
            continue
        names = heads[link][4]
        for at in range(offset + each, offset + length, each):
            name, _, _, section = struct.unpack_from("<IBBH", code, at)
            if name and section == _UNDEFINED:
                end = code.index(b"\0", names + name)
                needed.append(code[names + name : end].decode())
    return needed
