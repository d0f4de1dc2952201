"""Habits of code that the package does without."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "jsctl"
TREES = {path: ast.parse(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))}

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


def place(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


def test_formatting_is_ruffs() -> None:
    """Tables that need `# fmt: skip` read better built from keywords or one entry a line."""
    files = [path for folder in (PACKAGE, ROOT / "tests") for path in folder.rglob("*.py")]
    check(
        "fmt: skip",
        (
            place(path, token.start[0])
            for path in files
            if "# fmt:" in path.read_text()
            for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline)
            if token.type == tokenize.COMMENT and re.match(r"# fmt: (skip|off)", token.string)
        ),
    )


def test_nothing_rests_on_assert() -> None:
    """`python -O` takes assertions out; what may happen is an error, what may not needs no line."""
    check(
        "assert",
        (
            place(path, node.lineno)
            for path, tree in TREES.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.Assert)
        ),
    )


def test_json_keys_are_declared() -> None:
    """The fields of an internal tuple are no promise; a row of JSON says its keys."""
    check(
        "_asdict",
        (
            place(path, node.lineno)
            for path, tree in TREES.items()
            if path != SEALED
            for node in ast.walk(tree)
            if (isinstance(node, ast.Attribute) and node.attr == "_asdict")
            or (isinstance(node, ast.Name) and node.id == "asdict")
        ),
    )


def test_api_errors_have_names() -> None:
    """Error codes of the server are an enum's; a number in the code says nothing."""
    check(
        "error codes",
        (
            place(path, node.lineno)
            for path, tree in TREES.items()
            if path not in GENERATED
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and type(node.value) is int
            and 10_000 < node.value < 10_300
            and re.fullmatch(API_ERROR, ast.get_source_segment(path.read_text(), node) or "")
        ),
    )
