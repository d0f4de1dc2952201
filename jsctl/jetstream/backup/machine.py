"""The loops over archives, in WebAssembly (`s2.wat`, `entries.wat`), which wasmtime compiles and runs.

No library for Python knows S2, and in Python the same loops take a hundred times as long.
"""

import atexit
from functools import cache
from typing import TYPE_CHECKING, cast

from jsctl.errors import JsctlError

if TYPE_CHECKING:
    from wasmtime import Engine, Module

_PAGE = 64 << 10
_SLACK = 64
"""Bytes after each allocation that the loops may read and write."""


class Machine:
    """An instance of one of the modules, with a memory of its own; for one thread at a time.

    view: all of its memory, until the next `allocate`.
    """

    def __init__(self, name: str) -> None:
        """Start the module of the file `name`.wat. Raises JsctlError where wasmtime does not run."""
        engine, module = _compile(name)
        from wasmtime import Func, Instance, Memory, Store

        self._store = Store(engine)
        exports = Instance(self._store, module, []).exports(self._store)
        self._functions = {key: value for key, value in exports.items() if isinstance(value, Func)}
        self._memory = cast(Memory, exports["memory"])
        self._top = self._memory.data_len(self._store)
        self._map()

    def allocate(self, size: int) -> int:
        """Return the address of new memory, which is zero; it is freed with the machine.

        Raises JsctlError when there is none.
        """
        from wasmtime import WasmtimeError

        address = self._top
        self._top += (size + _SLACK + 7) & ~7
        missing = self._top - len(self.view)
        if missing > 0:
            try:
                self._memory.grow(self._store, -(-missing // _PAGE))
            except WasmtimeError:
                raise JsctlError("not enough memory to read the archive") from None
            self._map()
        return address

    def call(self, function: str, *numbers: int) -> int:
        """Call a function of the module; all numbers are below 2**32."""
        signed = (number - (number >> 31 << 32) for number in numbers)
        return int(self._functions[function](self._store, *signed) or 0) & 0xFFFFFFFF

    def _map(self) -> None:
        size = self._memory.data_len(self._store)
        self.view = memoryview(self._memory.get_buffer_ptr(self._store, size)).cast("B")


@cache
def _compile(name: str) -> "tuple[Engine, Module]":
    """Return a compiled module, which all threads share. Raises JsctlError."""
    try:
        from wasmtime import Config, Engine, Module
    except (ImportError, OSError) as error:  # wasmtime has no build for this machine
        raise JsctlError(f"archives cannot be read on this machine: {error}") from None
    from importlib.resources import files

    atexit.register(_compile.cache_clear)  # wasmtime cannot free anything while the interpreter ends
    config = Config()
    config.parallel_compilation = False  # a forked process would wait for threads that it lacks
    engine = Engine(config)
    return engine, Module(engine, files(__package__).joinpath(f"{name}.wat").read_text("utf-8"))
