"""Modules that are imported when a name in them is first used: for verbs that need asyncio only in some
cases.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any


class Later(ModuleType):
    """A stand-in for a module until a name in it is used."""

    def __getattr__(self, name: str) -> Any:
        module = importlib.import_module(self.__name__)
        vars(self).update(vars(module))
        self.__class__ = ModuleType  # type: ignore[assignment]  # without this method from now on
        return getattr(module, name)


if TYPE_CHECKING:
    import asyncio as asyncio
else:
    asyncio = Later("asyncio")
