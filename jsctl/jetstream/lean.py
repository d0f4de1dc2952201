"""Import nats-py without its JetStream half, which jsctl replaces and which is a third of its start-up."""

import importlib.util
import sys
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any


class _Deferred(ModuleType):
    """A module that is loaded at the first use of a name in it.

    importlib.util.LazyLoader would do, but it loads at `import a.b` already, which asks for `__spec__`.
    """

    def __getattr__(self, name: str) -> Any:
        self.__class__ = ModuleType  # type: ignore[assignment]  # so that loading happens once
        if self.__spec__ is not None and self.__spec__.loader is not None:
            self.__spec__.loader.exec_module(self)
        return getattr(self, name)


def deferred(package: str, child: str) -> ModuleType | None:
    """Register `package.child` to be loaded at its first use, before `package` is imported.

    The caller binds it to the package afterwards, as an import would. None when the package is loaded
    already or has no such child: then nothing was done, and an ordinary import is right.
    """
    parent = importlib.util.find_spec(package) if package not in sys.modules else None
    if parent is None or not parent.submodule_search_locations:
        return None
    name = f"{package}.{child}"
    spec = PathFinder.find_spec(name, parent.submodule_search_locations)
    if spec is None:
        return None
    module = importlib.util.module_from_spec(spec)
    module.__class__ = _Deferred
    sys.modules[name] = module
    return module
