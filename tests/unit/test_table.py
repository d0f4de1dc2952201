"""Tables as text: widths, folds, wide characters."""

from jsctl.render import table
from jsctl.render.text import cells
from jsctl.views.result import Cell, Column, Result, Table

COLUMNS = (Column("Name", "name"), Column("Messages", "messages", "count"))


def test_a_box() -> None:
    rows = [("ORDERS", 1234), ("日本", Cell(5, "five", "bad"))]
    assert list(table.boxed(Table("", COLUMNS, rows))) == [
        "╭────────┬──────────╮",
        "│ Name   │ Messages │",
        "├────────┼──────────┤",
        "│ ORDERS │ 1,234    │",
        "│ 日本   │ five     │",
        "╰────────┴──────────╯",
    ]


def test_what_does_not_fit_is_folded_never_cut() -> None:
    for name in ("a" * 60, "日本" * 30, "orders.new." * 6):
        lines = list(table.boxed(Table("", COLUMNS, [(name, 1), ("short", 2)]), width=40))
        assert {cells(line) for line in lines} == {40}
        assert "".join(line.split("│")[1].strip() for line in lines[3:-2]) == name


def test_plain_columns_are_aligned() -> None:
    assert list(table.plain(Table("Streams", COLUMNS, [("日本", 1), ("ORDERS", 22)], ("", 23)))) == [
        "Streams",
        "Name    Messages",
        "日本    1",
        "ORDERS  22",
        "        23",
    ]


def test_a_document_may_be_made_when_it_is_asked_for() -> None:
    assert Result(data=lambda: {"a": 1}).document() == {"a": 1}
