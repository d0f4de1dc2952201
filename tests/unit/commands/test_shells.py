"""Words that shells complete."""

from jsctl.commands.completing import shells
from jsctl.commands.completing.name_cache import StoredNames, find_wait


def test_many_names_are_quoted_one_by_one_where_needed() -> None:
    """5,000 plain names cost nothing; others are still quoted."""
    assert [shells._quote_for_bash(word) for word in ("ORDERS_1", "a b", "x;y", "größe", "")] == [
        "ORDERS_1",
        "a\\ b",
        "x\\;y",
        "größe",
        "",
    ]


def test_young_names_are_not_waited_for_long() -> None:
    assert find_wait({}, is_young=True) <= 0.15 < find_wait({}, is_young=False) <= 1
    assert find_wait({"JSCTL_COMPLETE_WAIT": "700"}, is_young=True) == 0.7


def test_names_are_young_for_a_minute() -> None:
    names = StoredNames(["ORDERS"], at=1000)
    assert [names.is_young(now) for now in (999, 1000, 1059, 1061)] == [False, True, True, False]
