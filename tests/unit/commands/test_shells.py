"""Words that shells complete."""

from jsctl.commands.completing import shells
from jsctl.commands.completing.name_cache import parse_wait


def test_many_names_are_quoted_one_by_one_where_needed() -> None:
    """5,000 plain names cost nothing; others are still quoted."""
    assert [shells._quote_for_bash(word) for word in ("ORDERS_1", "a b", "x;y", "größe", "")] == [
        "ORDERS_1",
        "a\\ b",
        "x\\;y",
        "größe",
        "",
    ]


def test_many_known_names_are_not_waited_for() -> None:
    assert parse_wait({}, known=5000) < parse_wait({}, known=10) == parse_wait({})
    assert parse_wait({"JSCTL_COMPLETE_WAIT": "700"}, known=5000) == 0.7
