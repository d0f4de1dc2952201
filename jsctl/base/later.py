"""Modules that are imported when a name in them is first used: for verbs that need asyncio only in some
cases.
"""

import importlib
import sys
from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any


class Later(ModuleType):
    """A stand-in for a module until a name in it is used.

    known: names that it has without the module.
    """

    def __init__(self, name: str, known: Mapping[str, Any] = MappingProxyType({})) -> None:
        super().__init__(name)
        vars(self).update(known)

    def __getattr__(self, name: str) -> Any:
        if name == "__path__":  # `from a import b` asks whether a is a package
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        module = importlib.import_module(self.__name__)
        vars(self).update(vars(module))
        self.__class__ = ModuleType  # type: ignore[assignment]  # without this method from now on
        return getattr(module, name)


if TYPE_CHECKING:
    import asyncio as asyncio
else:
    asyncio = Later("asyncio")
