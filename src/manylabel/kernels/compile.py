"""The decorators for kernels, which compile them or load their machine code.

A kernel is compiled once for each combination of argument types, and its machine code is cached on
disk. A process that finds all its kernels there never imports Numba, which takes longer to import
than a prediction takes to compute.
"""

from __future__ import annotations

import functools
import gc
import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from manylabel import kernels
from manylabel.kernels import machine_code

__all__ = ["KERNELS", "Kernel", "kernel", "step", "summing_step"]

# `error_model="numpy"` drops the division-by-zero checks that stop loops from becoming vector code.
_KERNEL: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
# The bits of an array's flags for its layout: C order, Fortran order, aligned.
_LAYOUT = 0x103
_C_ORDER, _F_ORDER, _ALIGNED = 0x001, 0x002, 0x100

# NumPy types that share machine code with Python types.
_AS_PYTHON: dict[type, type] = {np.int64: int, np.float64: float, np.bool_: bool}

#: Every kernel by "file.name".
KERNELS: dict[str, Kernel] = {}

_lock = threading.RLock()


def _kind(value: Any) -> Any:
    """What machine code depends on: a number's type, or an array's dtype, dimensions and layout.

    Whether an array is writable makes no difference, so memory-mapped arrays use the same code.
    """
    cls = type(value)
    # Asked hundreds of times per document; `isinstance` is for subclasses.
    if cls is np.ndarray or isinstance(value, np.ndarray):
        return value.dtype.char, value.ndim, value.flags.num & _LAYOUT
    if isinstance(value, tuple):
        return (cls, *map(_kind, value))
    return cls


class Kernel:
    """A function of arrays and numbers that is compiled when it is first called, or earlier.

    Kernels can call each other.
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        self.function, self.options = function, options
        self.name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.__module__, self.__wrapped__ = function.__module__, function
        self._entries: dict[Any, Callable[..., Any]] = {}
        self._dispatcher: Any = None
        self._callee: Any = None
        KERNELS[self.name] = self

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run the machine code for arguments of these types."""
        if named:
            bound = inspect.signature(self.function).bind(*arguments, **named)
            bound.apply_defaults()
            arguments = bound.args
        entry = self._entries.get(tuple(map(_kind, arguments)))
        return (entry or self._find(arguments))(*arguments)

    def _find(self, arguments: tuple[Any, ...]) -> Callable[..., Any]:
        """Load machine code from disk, or compile it."""
        with _lock:
            key = tuple(map(_kind, arguments))
            if key not in self._entries:
                signature = ", ".join(map(described, arguments))
                entry = machine_code.load(self, signature)
                if entry is None:
                    # If another process is compiling the kernel, wait for its result.
                    with machine_code.turn(self.name, signature) as waited:
                        entry = machine_code.load(self, signature) if waited else None
                        types = functools.partial(_numba_types, arguments)
                        entry = entry or self.compiled(signature, types)
                self._entries[key] = entry
            return self._entries[key]

    def compiled(self, signature: str, types: Callable[[], tuple[Any, ...]]) -> Callable[..., Any]:
        """Compile for some argument types, and cache the code on disk."""
        if kernels.on_compile is not None:
            kernels.on_compile(self.name)
        asked = types()
        with _without_collection():
            entry = self.dispatcher.compile(asked)
        machine_code.save(self, signature, self.dispatcher.overloads[asked])
        return entry

    @property
    def is_compiled(self) -> bool:
        """Whether there is machine code for some argument types, in memory or on disk."""
        return bool(self._entries) or machine_code.is_any_kept(self.name)

    @property
    def dispatcher(self) -> Any:
        """The function as a Numba dispatcher."""
        if self._dispatcher is None:
            # Only C code calls through the C wrapper.
            self._dispatcher = self._decorated({"no_cfunc_wrapper": True})
        return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        """The type by which Numba calls this kernel from another one."""
        from numba import types

        if self._callee is None:
            # A function that only machine code calls needs no Python wrapper, which takes time to
            # compile. Numba's own cache would mix up the two versions.
            apart = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
            is_apart = machine_code.is_possible()
            self._callee = self._decorated(apart) if is_apart else self.dispatcher
        return types.Dispatcher(self._callee)

    def _decorated(self, more: dict[str, Any]) -> Any:
        """The function with Numba's decorator."""
        from numba import njit

        options = {**self.options, **more}
        if options.pop("uncounted", False):
            from numba.core.cpu import CPUTargetOptions

            # An undocumented option of Numba; without it, a step is an ordinary kernel.
            if hasattr(CPUTargetOptions, "_nrt"):
                options["_nrt"] = False
        # Use Numba's cache only if ours is not available.
        options["cache"] = False
        if not machine_code.is_possible():
            from manylabel.kernels.cache import find_cache

            options["cache"] = find_cache(__file__)
        return njit(**options)(self.function)

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"


@contextmanager
def _without_collection() -> Iterator[None]:
    """Do not look for cyclic garbage: compilation makes many objects, and nearly all remain."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def described(value: Any) -> str:
    """The type of an argument as a string that is the same in every process."""
    if isinstance(value, np.ndarray):
        flags = value.flags.num
        layout = "C" if flags & _C_ORDER else "F" if flags & _F_ORDER else "A"
        aligned = "" if flags & _ALIGNED else "?"
        return f"{value.dtype.kind}{value.dtype.itemsize}[{value.ndim}{layout}{aligned}]"
    if isinstance(value, tuple):
        cls = type(value)
        name = "" if cls is tuple else f"{cls.__module__}.{cls.__qualname__}"
        return f"{name}({', '.join(map(described, value))})"
    return _AS_PYTHON.get(type(value), type(value)).__name__


def _numba_types(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(map(_numba_type, arguments))


def _numba_type(value: Any) -> Any:
    """The Numba type of an argument; arrays count as writable."""
    from numba import typeof, types

    if isinstance(value, np.ndarray):
        return typeof(value).copy(readonly=False)
    if isinstance(value, tuple):
        cls = type(value)
        members = tuple(map(_numba_type, value))
        return types.BaseTuple.from_types(members, None if cls is tuple else cls)
    return typeof(value)


def kernel(function: Callable[..., Any]) -> Kernel:
    """Decorate a serial function that releases the GIL."""
    return Kernel(function, **_KERNEL)


def step(function: Callable[..., Any]) -> Kernel:
    """Decorate a step inside a kernel that creates no arrays.

    Reference counting is off: it would cost an atomic addition for each array of each tuple that
    the step reads.
    """
    return Kernel(function, **_KERNEL, uncounted=True)


def summing_step(function: Callable[..., Any]) -> Kernel:
    """Decorate a step whose additions may be reordered, so that they can be vectorised."""
    return Kernel(function, **_KERNEL, uncounted=True, fastmath={"reassoc", "contract"})
