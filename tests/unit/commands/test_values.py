"""Types of flags."""

import click
import pytest

from jsctl.base.units import SECOND
from jsctl.commands.cli.values import DURATION, INTERVAL, SIZE


@pytest.mark.parametrize(
    ("text", "expected"),
    [("5", 5 * SECOND), ("0.5", SECOND // 2), ("500ms", SECOND // 2), ("1m", 60 * SECOND)],
)
def test_an_interval_without_a_unit_is_in_seconds(text: str, expected: int) -> None:
    assert INTERVAL.convert(text, None, None) == expected


def test_other_spans_need_a_unit() -> None:
    assert DURATION.convert("1m30s", None, None) == 90 * SECOND
    with pytest.raises(click.BadParameter):
        DURATION.convert("five", None, None)


def test_sizes() -> None:
    assert SIZE.convert("1KiB", None, None) == 1024 and SIZE.convert("-1", None, None) == -1
