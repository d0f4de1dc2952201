"""Which files use a file, by what their text says.

A file uses the modules that it imports, also inside functions, and those that it names in a string. Tests
also use the verbs whose lines they call, the `conftest.py` above them, and what their own path says that they
test. A file that is not Python is used by those that name it in a string, or its folder, if that has no code.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath

from jsctl import registry

ROOT = Path(__file__).parents[2]

_IMPORT = re.compile(
    r"""(?:^|["';])[ \t]*(?:from[ \t]+((?:jsctl|tests)[\w.]*)[ \t]+import[ \t]*(\([^)]*\)|[^\n;"']*)"""
    r"""|import[ \t]+([\w., \t]+))""",
    re.MULTILINE,
)
STRING = re.compile(r"\"([^\"\\\n]*)|'([^'\\\n]*)")
"""A string of one line, to its first backslash: no name has one."""
_MODULE = re.compile(r"((?:jsctl|tests)(?:\.\w+)+)(\.\{)?")
"""A module, or a package of which an f-string names a module."""


def find_users(files: Iterable[str]) -> dict[str, set[str]]:
    """Return the files that use each of `files`, which are paths in the project, also of what is gone."""
    paths = set(files)
    modules = {_name_module(path): path for path in paths if path.endswith(".py")}
    data: dict[str, set[str]] = defaultdict(set)
    code = {PurePosixPath(path).parent for path in modules.values() if not path.endswith("__init__.py")}
    for path in paths - set(modules.values()):
        folder = PurePosixPath(path).parent
        for name in (PurePosixPath(path).name, *(() if folder in code else (folder.name,))):
            data[name].add(path)
    users: dict[str, set[str]] = defaultdict(set)
    for module, path in modules.items():
        for used in _list_used(module, path, modules, data):
            if used != path:
                users[used].add(path)
    return users


def _name_module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _list_used(module: str, path: str, modules: dict[str, str], data: dict[str, set[str]]) -> Iterator[str]:
    file = ROOT / path
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    is_test = module.startswith("tests.")
    names = set(_list_imports(text))
    for double, single in STRING.findall(text):
        string = double or single
        if match := _MODULE.match(string):
            names.update(
                [name for name in modules if name.startswith(f"{match[1]}.")] if match[2] else [match[1]]
            )
        yield from data.get(string.rpartition("/")[2], ())
        if is_test:
            names.add(_find_verb(string))
    if is_test:
        folders = module.split(".")[:-1]
        names |= {".".join([*folders[:count], "conftest"]) for count in range(1, len(folders) + 1)}
        names |= _guess_tested(module)
    if path.endswith("/__init__.py"):
        yield from data.get(PurePosixPath(path).parent.name, ())
    for name in names:
        parts = name.split(".")
        for count in range(len(parts), 0, -1):  # the packages of a module are imported with it
            if used := modules.get(".".join(parts[:count])):
                yield used


def _list_imports(text: str) -> Iterator[str]:
    for origin, names, imported in _IMPORT.findall(text):
        if origin:
            yield origin
            for line in names.strip("()").splitlines():
                for name in line.partition("#")[0].split(","):
                    yield f"{origin}.{name.split(' as ')[0].strip()}"
        else:
            yield from (name.split(" as ")[0].strip() for name in imported.split(","))


@cache
def _find_verb(line: str) -> str:
    """Return the module of the verb that a command line calls; empty for any other text."""
    path = ""
    for word in line.removeprefix("jsctl ").split(None, 5):
        below = _list_names(path).get(word)
        if below is None:
            break
        path = below
    return _list_targets().get(path, "")


@cache
def _list_targets() -> dict[str, str]:
    return {path: entry.target.partition(":")[0] for path, entry in registry.list_commands().items()}


@cache
def _list_names(path: str) -> dict[str, str]:
    """Return the path of each command below `path`, by its names."""
    return {
        name: f"{path} {own}".strip()
        for own, entry in registry.list_children(path).items()
        for name in (own, *entry.aliases)
    }


def _guess_tested(module: str) -> set[str]:
    """Return what the path of a test says that it tests: `tests.unit.nats.test_x` tests `jsctl.nats.x`."""
    name = module.replace("tests.unit.", "tests.", 1).replace("tests.", "jsctl.", 1)
    folder, _, last = name.rpartition(".test_")
    return {f"{folder}.{last}", f"{folder}.{last}_"} if folder else set()
