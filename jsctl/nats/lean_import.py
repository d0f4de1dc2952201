"""The import of nats-py without the parts that jsctl does not need: its JetStream half, a third of its
start-up, and the modules that read its version."""

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any


class _Deferred(ModuleType):
    """A module that is loaded at the first use of a name in it.

    importlib.util.LazyLoader would load it at `import a.b` already, which asks for `__spec__`.
    """

    def __getattr__(self, name: str) -> Any:
        self.__class__ = ModuleType  # type: ignore[assignment]  # so that loading happens once
        if self.__spec__ is not None and self.__spec__.loader is not None:
            self.__spec__.loader.exec_module(self)
        return getattr(self, name)


@contextmanager
def cheap_version(package: str) -> Iterator[None]:
    """Read the version of `package` from the name of its metadata folder while it is imported.

    importlib.metadata would bring email, zipfile and csv along, an eighth of the time of `stream ls`.
    """
    name = "importlib.metadata"
    spec = importlib.util.find_spec(package)
    if name in sys.modules or spec is None or not spec.submodule_search_locations:
        yield
        return
    stand_in = ModuleType(name)
    site_packages = Path(next(iter(spec.submodule_search_locations))).parent
    stand_in.version = lambda distribution: _read_version(site_packages, distribution)  # type: ignore[attr-defined]
    sys.modules[name] = stand_in
    try:
        yield
    finally:
        del sys.modules[name]


@contextmanager
def without_module(name: str, **attributes: object) -> Iterator[None]:
    """Import a package without a module that it loads and jsctl does not use, such as its own command line.

    attributes: what is imported from that module.
    """
    if name in sys.modules:
        yield
        return
    stand_in = ModuleType(name)
    vars(stand_in).update(attributes)
    sys.modules[name] = stand_in
    try:
        yield
    finally:
        del sys.modules[name]


def _read_version(folder: Path, package: str) -> str:
    """Return `2.16.0` for a folder `nats_py-2.16.0.dist-info`. Raises LookupError."""
    start = package.replace("-", "_") + "-"
    for entry in folder.iterdir():
        if entry.name.startswith(start) and entry.name.endswith(".dist-info"):
            return entry.name.removeprefix(start).removesuffix(".dist-info")
    raise LookupError(package)


def defer_import(package: str, child: str) -> ModuleType | None:
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
