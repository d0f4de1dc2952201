"""Tables and info pages as text: widths, cuts, folds, wide characters."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.render import fit, info_page, table
from jsctl.render.emit import format_json, format_json_items, format_json_pieces
from jsctl.render.text import measure, show, show_all
from jsctl.views.result import Cell, Column, Field, InfoPage, Kind, Result, Section, Table

COLUMNS = (Column("Name", "name"), Column("Messages", "messages", "count"))


def test_a_box() -> None:
    rows = [("ORDERS", 1234), ("日本", Cell(5, "five", "bad"))]
    assert list(table.format_boxed(Table("", COLUMNS, rows))) == [
        "╭────────┬──────────╮",
        "│ Name   │ Messages │",
        "├────────┼──────────┤",
        "│ ORDERS │    1,234 │",
        "│ 日本   │     five │",
        "╰────────┴──────────╯",
    ]


def boxes(one: Table, width: int) -> list[str]:
    return list(table.format_boxed(one, width=width))


@pytest.mark.parametrize("name", ["a" * 60, "日本" * 30, "orders.new." * 6])
def test_names_are_shortened_in_the_middle_and_numbers_are_not(name: str) -> None:
    lines = boxes(Table("", COLUMNS, [(name, 123456789), ("short", 2)]), 40)
    assert {measure(line) for line in lines} == {40}
    start, end = lines[3].split("│")[1].strip().split("…")
    assert name.startswith(start)
    assert name.endswith(end)
    assert "123,456,789 │" in lines[3]


def titles(lines: list[str]) -> list[str]:
    return [title.strip().removeprefix("Column-") for title in lines[1].split("│")[1:-1]]


RANKS = (0, 2, 0, 0, 3, 1)


def test_columns_are_left_out_in_the_declared_order() -> None:
    columns = [Column(f"Column-{at}", f"c{at}", "count", hideable=rank) for at, rank in enumerate(RANKS)]
    many = Table("", columns, [range(6)])
    assert titles(boxes(many, 60)) == ["0", "1", "2", "3", "5"]
    assert boxes(many, 60)[-2:] == ["left out: Column-4; a wider terminal or a pipe shows all", "columns"]
    assert titles(boxes(many, 50)) == ["0", "2", "3", "5"]
    assert titles(boxes(many, 80)) == ["0", "1", "2", "3", "4", "5"]
    assert "no room" not in "".join(boxes(many, 80))
    assert "Column-4" in next(table.format_plain(many))


def test_an_empty_column_is_left_out_first_and_silently() -> None:
    columns = [Column(f"Column-{at}", f"c{at}", "count", hideable=rank) for at, rank in enumerate(RANKS)]
    some = Table("", columns, [[0, 1, 2, 3, 4, ""]])
    assert titles(boxes(some, 60)) == ["0", "1", "2", "3", "4"]
    assert "no room" not in "".join(boxes(some, 60))
    assert titles(boxes(some, 50)) == ["0", "1", "2", "3"]
    assert "left out: Column-4;" in "".join(boxes(some, 50))


VALUES: dict[Kind, list[object]] = {
    "text": ["", "", "name", "a.longer.name.of.a.stream"],
    "prose": ["", "", "the server is away, and nobody knows since when"],
    "count": [0, 0, 7, 1_234_567_890],
    "ago": [-1, 5_000_000],
}


@st.composite
def any_tables(draw: st.DrawFn) -> Table:
    kinds = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=8))
    columns = [
        Column(f"Column {index}", f"c{index}", kind, hideable=draw(st.integers(0, 3)))
        for index, kind in enumerate(kinds)
    ]
    rows = draw(st.lists(st.tuples(*[st.sampled_from(VALUES[kind]) for kind in kinds]), max_size=3))
    return Table("", columns, rows)


@given(any_tables(), st.integers(20, 120))
def test_a_column_that_says_nothing_goes_before_one_that_says_something(some: Table, width: int) -> None:
    rows, _ = table.format_cells(some)
    texts = [[column.title, *values] for column, *values in zip(some.columns, *rows, strict=True)]
    widths = [max(map(measure, column)) for column in texts]
    columns = list(enumerate(some.columns))
    blank = {
        index for index, column in columns if not any(column.data_value(row[index]) for row in some.rows)
    }
    values = [max(map(measure, column[1:]), default=0) for column in texts]
    shown = fit.fit_columns(some.columns, widths, width - 4, 3, blank=blank, values=values)
    hidden = {index for index in range(len(widths)) if index not in shown}
    hideable = {index for index, column in columns if column.hideable}
    empty = {index for index in blank - {0} if some.columns[index].kind in ("text", "prose")}
    assert shown
    assert hidden <= hideable | empty
    if hidden - empty:
        assert not empty & set(shown)
    if hidden - blank:
        assert not blank & hideable & set(shown) - {0}


def test_titles_are_folded_before_a_column_is_left_out() -> None:
    columns = (
        Column("ID", "id"),
        Column("Queue Group", "group", hideable=1),
        Column("Average Time", "average", "duration"),
    )
    wide = Table("", columns, [("a", "q", 5_000_000)])
    assert boxes(wide, 40)[1] == "│ ID │ Queue Group │ Average Time │"
    assert boxes(wide, 32)[1:3] == ["│    │ Queue │              │", "│ ID │ Group │ Average Time │"]
    assert boxes(wide, 24)[1:3] == ["│    │ Queue │ Average │", "│ ID │ Group │    Time │"]
    empty = Table("", columns, [("a", "", 5_000_000)])
    assert boxes(empty, 24)[1] == "│ ID │ Average Time │"


def test_a_url_is_whole_while_a_column_can_be_left_out() -> None:
    columns = (Column("URL", "url", "url"), Column("Log", "log", hideable=1))
    row = ("nats://127.0.0.1:50223", "/var/lib/somewhere/hub.log")
    assert f"│ {row[0]} │" in boxes(Table("", columns, [row]), 30)[3]


def test_prose_is_folded_between_words() -> None:
    says = "it has no leader: 2 of its 3 followers are away or behind"
    columns = (Column("Name", "name"), Column("Reason", "reason", "prose"))
    lines = boxes(Table("A title that has more words than fit on one line", columns, [("S", says)]), 40)
    assert max(map(measure, lines)) <= 40
    at = next(at for at, line in enumerate(lines) if "┼" in line)
    assert " ".join(line.split("│")[2].strip() for line in lines[at + 1 : -1]) == says


def test_folded_text() -> None:
    assert list(fit.fold("  try: one two three", 12, "    ")) == ["  try: one", "    two", "    three"]
    address = "https://example.net/a/very/long/address"
    assert list(fit.fold(f"see {address} for more", 20)) == ["see", "https://ex…g/address", "for more"]
    assert list(fit.fold("cannot read /srv/backups/of/the/shop/ORDERS.tgz: it is empty", 20, "  ")) == [
        "cannot read",
        "  /srv/backups/of/",
        "  the/shop/",
        "  ORDERS.tgz: it is",
        "  empty",
    ]
    assert list(fit.fold("x" * 30, 10)) == ["xxxxx…xxxx"]
    assert list(fit.fold("jsctl stream info " + "x" * 30, 20)) == ["jsctl stream info " + "x" * 30]
    assert list(fit.fold("short", 20)) == ["short"]


def test_values_of_sheets_are_folded_beside_or_below_their_labels() -> None:
    fields = [Field("Subjects", ", ".join(["orders.new"] * 5)), Field("URL", "nats://" + "x" * 40)]
    assert list(info_page.format_info_page(InfoPage("", [Section("", fields)]), width=50)) == [
        "  Subjects: orders.new, orders.new, orders.new,",
        "            orders.new, orders.new",
        "       URL:",
        "    nats://" + "x" * 16 + "…" + "x" * 22,
    ]


def test_plain_columns_are_aligned() -> None:
    assert list(table.format_plain(Table("Streams", COLUMNS, [("日本", 1), ("ORDERS", 22)], ("", 23)))) == [
        "Streams",
        "Name    Messages",
        "日本           1",
        "ORDERS        22",
        "              23",
    ]


def test_a_document_may_be_made_when_it_is_asked_for() -> None:
    assert Result(data=lambda: {"a": 1}).document() == {"a": 1}


@pytest.mark.parametrize("count", [0, 1, 2, 255, 256, 257, 1000])
def test_a_document_in_pieces_is_the_same(count: int) -> None:
    items = [{"name": f"a\n{n}", "tags": [n, {"deep": []}], "none": {}} for n in range(count)]
    document = {"at": 1, "empty": [], "items": items, "inner": [{"more": items}, "x"]}
    lazy = {"at": 1, "empty": iter(()), "items": iter(items), "inner": [{"more": iter(items)}, "x"]}
    whole = format_json(document)
    assert "".join(format_json_pieces(document)) == whole == "".join(format_json_pieces(lazy))
    assert (
        "".join(format_json_pieces(items)) == format_json(items) == "".join(format_json_pieces(iter(items)))
    )
    assert json.loads(format_json({"items": iter(items)})) == {"items": items}


PLAIN = st.one_of(
    st.text(), st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False), st.just("},\n    {")
)
OBJECTS = st.dictionaries(st.one_of(st.text(), st.just("},\n    {")), PLAIN, max_size=4)


@given(st.lists(OBJECTS, min_size=1, max_size=4), st.booleans())
def test_flat_objects_are_encoded_as_all_others(items: list[dict[str, object]], first: bool) -> None:
    assert format_json_items(items, first=first) == ("[" if first else ",") + format_json(items)[1:-2]


TEXTS = st.one_of(st.text(), st.text().map(lambda text: Cell(len(text), text)))
TIMES = st.sampled_from(
    [
        "2026-11-21T06:57:05.123456789Z",
        "2026-11-21T06:57:05Z",
        "2026-11-21T06:57:05.Z",
        "0001-01-01T00:00:00Z",
        "x\x1bZ",
    ]
)
COLUMN_VALUES = st.one_of(
    st.tuples(st.lists(TEXTS), st.sampled_from(["text", "time", "number"])),
    st.tuples(
        st.lists(st.integers(0, 3)), st.sampled_from(["bytes", "count", "duration", "number", "limit"])
    ),
    st.tuples(st.lists(st.one_of(TIMES, st.none())), st.just("time")),
    st.tuples(st.lists(st.one_of(st.booleans(), st.none())), st.just("bool")),
)


@given(COLUMN_VALUES)
def test_a_column_is_shown_as_its_values_are(column: tuple[list[object], Kind]) -> None:
    values, kind = column
    assert show_all(values, kind) == [show(value, kind) for value in values]
