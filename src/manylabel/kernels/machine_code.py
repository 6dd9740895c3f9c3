"""Compiled kernels on disk, and how they get back into memory without Numba.

A file holds one kernel for arguments of certain types: a line of JSON that names the symbols, then
the object file that LLVM made. It lies in a folder named after everything that the code depends on:
the processor, the versions of Python, Numba and LLVM, and the source of the kernel and of those
that it calls. So a changed kernel is compiled again, and old code is never run.

Reading one needs LLVM's linker and three of Numba's extension modules, which are loaded by
themselves: most of the time that Numba takes to import goes into its compiler.
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
from importlib.metadata import PackageNotFoundError, version
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
    "is_kept",
    "is_possible",
    "load",
    "save",
    "turn",
]

#: Numba's extension modules, and what stands before the names of their functions in machine code.
_HELPERS = {"_helperlib": "numba_", "_dynfunc": "numba_", "core/runtime/_nrt_python": "NRT_"}
#: What is done here depends on how Numba is made; with other versions Numba keeps its own cache.
_TRIED = ("0.68.",)
#: Of the files; another one is another folder.
_FORMAT = "2"
_UNDEFINED, _SYMBOL_TABLE = 0, 2
#: Code that returns an array asks for the class by this function. Numba's imports all of Numba;
#: ours knows the one answer. In a table of symbols names cannot change their length.
_THEIRS, _OURS = b"\0numba_unpickle\0", b"\0mlabl_unpickle\0"
#: What stands for the class ``numpy.ndarray`` in such code.
_ARRAY = b"\x80\x04\x95\x15" + bytes(7) + b"\x8c\x05numpy\x94\x8c\x07ndarray\x94\x93\x94."
_Unpickle = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)


def load(kernel: Kernel, signature: str) -> Callable[..., Any] | None:
    """A kernel's compiled code, if it is on disk and can be run here."""
    for path in _kept(kernel.name, signature):
        try:
            head, _, code = path.read_bytes().partition(b"\n")
            header = json.loads(head)
            if header["signature"] != signature or header["digest"] != _digest(code):
                continue
        except (OSError, ValueError, KeyError, TypeError):
            continue  # compiled again, and written again
        entry = _linked(kernel, header, code)
        if entry is not None:
            return entry
    return None


def save(kernel: Kernel, signature: str, compiled: Any) -> None:
    """Keep what Numba has compiled; if it cannot be kept, the next process compiles again."""
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
        return  # another Numba than those we know, or a kernel that refers to Python objects
    _write(path, json.dumps(head).encode() + b"\n" + code)


def is_kept(name: str, signature: str) -> bool:
    """Whether there is a file of the compiled code of a kernel, given as "file.name"."""
    return any(True for _ in _kept(name, signature))


@contextmanager
def turn(name: str, signature: str) -> Iterator[bool]:
    """Let one process at a time compile a kernel; whether this one had to wait for another.

    The lock goes with the process that holds it.
    """
    path = _path(name, signature)
    if path is None:
        yield False
        return
    import fcntl

    waited = False
    place = path.with_suffix(".lock")
    with ExitStack() as open_files:
        # Without a lock two may compile the same, which takes time and nothing else.
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
    """The arrays that a kernel returns have dtypes, which are the only objects that it may need."""
    if not isinstance(constant, np.dtype) or constant.hasobject:
        raise TypeError("not a dtype")
    return constant.str


@cache
def is_possible() -> bool:
    """Whether machine code can be kept here: the object files of Linux are the ones we can read."""
    if not sys.platform.startswith("linux") or sys.byteorder != "little":
        return False
    try:
        if not version("numba").startswith(_TRIED):
            return False
    except PackageNotFoundError:
        return False
    return sys.maxsize > 2**32 and _engine_parts() is not None and bool(folders())


@cache
def folder() -> Path | None:
    """Where machine code is written: beside the kernels, in the user's cache, or in a private one.

    The last one is for containers whose files cannot be written.
    """
    for place in _places():
        with suppress(OSError):
            place.mkdir(parents=True, exist_ok=True)
            # Code that others could write is not ours to run.
            if os.access(place, os.W_OK) and place.stat().st_uid == os.getuid():
                return place
    try:
        return private_folder()
    except OSError:
        return None


@cache
def folders() -> tuple[Path, ...]:
    """Where machine code is read: what may be written, and what comes with a read-only image."""
    written = folder()
    places = [] if written is None else [written]
    for place in _places():
        with suppress(OSError):
            status = place.stat()
            # As trustworthy as the package itself, which is run as well.
            owners = {os.getuid(), 0, Path(__file__).stat().st_uid}
            if place != written and status.st_uid in owners and not status.st_mode & 0o022:
                places.append(place)
    return tuple(places)


def _places() -> list[Path]:
    """The folders that are meant for machine code."""
    named = os.environ.get("MANYLABEL_CACHE")
    if named:
        return [Path(named)]
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "manylabel"
    return [Path(__file__).parent / "__pycache__", user]


def private_folder() -> Path:
    """A folder for temporary files that belongs to this user alone.

    What lies there is run as a program, so that one which others can write is not used.
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
    """The files of kernels of which there is machine code that can be run here."""
    names = set()
    for path in (
        (path for place in folders() for path in place.glob("*-*")) if is_possible() else ()
    ):
        module = path.name.rpartition("-")[0]
        # Code of an older version of the file does not count.
        if (Path(__file__).parent / f"{module}.py").exists() and path.name.endswith(_stamp(module)):
            names.add(module)
    return names


# Names of files


def _path(name: str, signature: str) -> Path | None:
    """The file that a kernel for some types is written to."""
    place = folder() if is_possible() else None
    return None if place is None else place / file_name(name, signature)


def _kept(name: str, signature: str) -> Iterator[Path]:
    """The files that may hold a kernel for some types."""
    if is_possible():
        file = file_name(name, signature)
        yield from (path for place in folders() if (path := place / file).exists())


def file_name(name: str, signature: str) -> str:
    """The name of a kernel's file within a folder of machine code."""
    module = name.partition(".")[0]
    return f"{module}-{_stamp(module)}/{name}-{_digest(signature.encode())}.code"


@cache
def _stamp(module: str) -> str:
    """Stands for everything that the code of a file's kernels depends on."""
    digest = hashlib.blake2b(_surroundings(), digest_size=12)
    for name in sorted(_reached(module, set())):
        digest.update(_source(name))
    return digest.hexdigest()


@cache
def _surroundings() -> bytes:
    """The processor, and the versions of what compiles."""
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
    """A file of kernels, and those whose kernels or constants it uses."""
    if module not in seen:
        seen.add(module)
        for other in re.findall(rb"^from manylabel\.kernels\.(\w+) import", _source(module), re.M):
            _reached(other.decode(), seen)
    return seen


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=12).hexdigest()


def _write(path: Path, data: bytes) -> None:
    """All of a file or nothing; another process may be writing the same."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(data)
        os.replace(file.name, path)
    except OSError:
        return  # a full disk costs time, not the answer


# Machine code in memory


@cache
def _engine_parts() -> tuple[Any, dict[str, ModuleType]] | None:
    """LLVM, told where Numba's helpers are, and the modules that they are in."""
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
        # Newer versions need no such call, and refuse it.
        with suppress(RuntimeError):
            binding.initialize()
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
    except (ImportError, AttributeError, OSError):
        return None
    return binding, modules


@cache
def _class_of_arrays(theirs: int) -> Any:
    """Our answer to code that asks for the class of arrays; Numba's where it asks for another."""
    other = _Unpickle(theirs)

    def answer(data: int, size: int, name: int) -> Any:
        return np.ndarray if ctypes.string_at(data, size) == _ARRAY else other(data, size, name)

    return _Unpickle(answer)


def _with_own_symbols(code: bytes) -> bytes:
    return code.replace(_THEIRS, _OURS)


def _extension(root: Path, name: str) -> ModuleType:
    """An extension module of Numba's, without the package around it."""
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
    # Numba must find this one should it be imported later: there is one memory manager.
    sys.modules[full] = module
    return module


def _linked(kernel: Kernel, found: dict[str, Any], code: bytes) -> Callable[..., Any] | None:
    """The function in an object file, ready to be called from Python."""
    parts = _engine_parts()
    assert parts is not None
    binding, modules = parts
    target = binding.Target.from_default_triple().create_target_machine(jit=True)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), target)
    # LLVM ends the process if a symbol is missing. Those of Python and of the C library are known
    # since there is an engine.
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
    """The names that an object file (ELF, 64 bits) needs from elsewhere."""
    if code[:5] != b"\x7fELF\x02":
        raise ValueError("no object file of Linux")
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
