"""Habits of code that the package does without."""

import ast
import re
from collections import Counter
from collections.abc import Iterable

from jsctl import registry
from tests.support.imports import find_users
from tests.support.sources import PACKAGE, ROOT, Use, read_modules, uses

GENERATED = {PACKAGE / "nats" / "error_codes.py"}
"""The one place with the numbers of errors."""

SEALED = PACKAGE / "spark" / "session" / "settings_box.py"
"""Settings that travel, encrypted, between processes of one version: nobody else reads their keys."""


def check(violations: Iterable[Use]) -> None:
    places = sorted(f"{use.place}: {use.text}" for use in violations)
    assert not places, "\n".join(places)


def test_formatting_is_ruffs() -> None:
    """Tables that need `# fmt: skip` read better built from keywords or one entry a line."""
    check(
        (
            Use(path, number, line)
            for folder in (PACKAGE, ROOT / "tests")
            for path in folder.rglob("*.py")
            for number, line in enumerate(path.read_text().splitlines(), 1)
            if re.search(r"# fmt: (skip|off)$", line)
        ),
    )


def test_nothing_rests_on_assert() -> None:
    """`python -O` takes assertions out; what may happen is an error, what may not needs no line."""
    check(uses()["assert"])


def test_json_keys_are_declared() -> None:
    """The fields of an internal tuple are no promise; a row of JSON says its keys."""
    check(
        (
            use
            for use in [*uses()["attribute"], *uses()["name"]]
            if use.text in ("_asdict", "asdict") and use.path != SEALED
        ),
    )


def test_fields_for_flags_are_read() -> None:
    """A flag whose field nothing reads is accepted, and does nothing."""
    read = {use.text for use in uses()["attribute"]}
    declared = [
        (path, field.target)
        for path, nodes in read_modules().items()
        if path.is_relative_to(PACKAGE / "commands") or path == PACKAGE / "spark" / "export" / "layout.py"
        for node in nodes
        if isinstance(node, ast.ClassDef)
        for field in node.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
    ]
    assert len(declared) > 500
    check(Use(path, name.lineno, name.id) for path, name in declared if name.id not in read)


def test_api_errors_have_names() -> None:
    """Error codes of the server are an enum's; a number in the code says nothing."""
    check(
        (
            use
            for use in uses()["integer"]
            if re.fullmatch(r"10(?!000)[0-2]\d\d", use.text) and use.path not in GENERATED
        ),
    )


def test_each_module_is_used() -> None:
    """By another module, the registry, pyproject.toml or a line of the manual."""
    paths = [path.relative_to(ROOT).as_posix() for path in read_modules()]
    users = find_users(paths)
    verbs = {entry.target.partition(":")[0] for entry in registry.list_commands().values()}
    pages = [(ROOT / "pyproject.toml"), *(PACKAGE / "manual").glob("*.md")]
    text = "".join(page.read_text() for page in pages)
    unused = [
        path
        for path, module in ((path, path.removesuffix(".py").replace("/", ".")) for path in paths)
        if not (users[path] or module in verbs or module in text or path in text or "__" in path)
    ]
    assert not unused, "nothing imports these; import or delete them:\n" + "\n".join(unused)


def test_each_function_is_used() -> None:
    """Functions and classes of modules: what only tests need is in tests/support."""
    words: Counter[str] = Counter()
    for path in PACKAGE.rglob("*.*"):
        if path.suffix in (".py", ".md", ".txt"):
            words.update(re.findall(r"\w+", path.read_text()))
    check(
        Use(path, node.lineno, f"{node.name}: nothing uses it; delete it")
        for path, nodes in read_modules().items()
        for node in ast.iter_child_nodes(nodes[0])
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if words[node.name] == 1 and not node.decorator_list
    )
