"""Suggestions for misspelled names."""

from jsctl.base.similar_names import find_nearest


def test_the_most_similar_name_is_suggested() -> None:
    assert find_nearest("ORDESR", ["ORDERS", "ORDER_EVENTS"]) == "ORDERS"
    assert find_nearest("orders", ["ORDERS"]) == "ORDERS"


def test_no_name_is_suggested_when_none_is_similar() -> None:
    assert find_nearest("x", ["ORDERS"]) == ""
    assert find_nearest("ORDERS", []) == ""
    assert find_nearest("--trace", ["--storage"], likeness=0.8) == ""
