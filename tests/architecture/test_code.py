"""Habits of code that the package does without."""

import re
from collections.abc import Iterable

from tests.support.sources import PACKAGE, ROOT, Use, uses

GENERATED = {PACKAGE / "nats" / "error_codes.py"}
"""The one place with the numbers of errors."""

SEALED = PACKAGE / "spark" / "session" / "settings_box.py"
"""Settings that travel, encrypted, between processes of one version: nobody else reads their keys."""


def check(violations: Iterable[Use]) -> None:
    places = sorted(use.place for use in violations)
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


def test_api_errors_have_names() -> None:
    """Error codes of the server are an enum's; a number in the code says nothing."""
    check(
        (
            use
            for use in uses()["integer"]
            if re.fullmatch(r"10(?!000)[0-2]\d\d", use.text) and use.path not in GENERATED
        ),
    )
