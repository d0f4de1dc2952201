"""Tables as text: widths, folds, wide characters."""

import json

import pytest

from jsctl.render import table
from jsctl.render.emit import json_pieces, json_text
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


@pytest.mark.parametrize("count", [0, 1, 2, 255, 256, 257, 1000])
def test_a_document_in_pieces_is_the_same(count: int) -> None:
    items = [{"name": f"a\n{n}", "tags": [n, {"deep": []}], "none": {}} for n in range(count)]
    document = {"at": 1, "empty": [], "items": items, "inner": [{"more": items}, "x"]}
    lazy = {"at": 1, "empty": iter(()), "items": iter(items), "inner": [{"more": iter(items)}, "x"]}
    whole = json_text(document)
    assert "".join(json_pieces(document)) == whole == "".join(json_pieces(lazy))
    assert "".join(json_pieces(items)) == json_text(items) == "".join(json_pieces(iter(items)))
    assert json.loads(json_text({"items": iter(items)}, indent=None)) == {"items": items}
