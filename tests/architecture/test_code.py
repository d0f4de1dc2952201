"""Habits of code that the package does without."""

import ast
import re
from collections.abc import Iterator

from tests.support.sources import PACKAGE, ROOT, modules

GENERATED = {PACKAGE / "nats" / "error_codes.py"}
"""Made from the server's list of errors: the one place with their numbers."""

SEALED = PACKAGE / "spark" / "session" / "settings_box.py"
"""Settings that travel, encrypted, between processes of one version: nobody else reads their keys."""

API_ERROR = r"10[0-2]\d\d"

# What is still to be mended, as a number that may only fall. Each goes when it reaches 0.
LEFT = {"fmt: skip": 4}


def check(rule: str, places: Iterator[str]) -> None:
    violations, allowed = sorted(places), LEFT.get(rule, 0)
    assert len(violations) <= allowed, f"{len(violations)}, {allowed} allowed:\n" + "\n".join(violations)


def test_formatting_is_ruffs() -> None:
    """Tables that need `# fmt: skip` read better built from keywords or one entry a line."""
    files = [path for folder in (PACKAGE, ROOT / "tests") for path in folder.rglob("*.py")]
    check(
        "fmt: skip",
        (
            f"{path.relative_to(ROOT)}:{number}"
            for path in files
            for number, line in enumerate(path.read_text().splitlines(), 1)
            if re.search(r"# fmt: (skip|off)$", line)
        ),
    )


def test_nothing_rests_on_assert() -> None:
    """`python -O` takes assertions out; what may happen is an error, what may not needs no line."""
    check(
        "assert",
        (
            module.place(node.lineno)
            for module in modules()
            for node in module.nodes
            if isinstance(node, ast.Assert)
        ),
    )


def test_json_keys_are_declared() -> None:
    """The fields of an internal tuple are no promise; a row of JSON says its keys."""
    check(
        "_asdict",
        (
            module.place(node.lineno)
            for module in modules()
            if module.path != SEALED
            for node in module.nodes
            if (isinstance(node, ast.Attribute) and node.attr == "_asdict")
            or (isinstance(node, ast.Name) and node.id == "asdict")
        ),
    )


def test_api_errors_have_names() -> None:
    """Error codes of the server are an enum's; a number in the code says nothing."""
    check(
        "error codes",
        (
            module.place(node.lineno)
            for module in modules()
            if module.path not in GENERATED
            for node in module.nodes
            if isinstance(node, ast.Constant)
            and type(node.value) is int
            and 10_000 < node.value < 10_300
            and re.fullmatch(API_ERROR, ast.get_source_segment(module.text, node) or "")
        ),
    )
