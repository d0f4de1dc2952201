"""Pictures of the live screen: (model, size) -> cells."""

import re
import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.render.fit import split
from jsctl.render.text import measure
from jsctl.screen.drawing import settle
from jsctl.screen.model import Model, arrange, move_to, with_board, with_part, with_size
from jsctl.screen.mouse import apply_click
from jsctl.services.statistics import Row
from jsctl.views.board import Board, Part, table_to_grid
from jsctl.views.result import Column, Result, Table, Text
from jsctl.views.service.documents import RATES
from tests.unit.screen.support import board, lines, model, names, pressed, texts

ROWS = [("alpha", 3000, ""), ("beta", 1, "no leader"), ("gamma", 2, "")]


def test_a_whole_screen() -> None:
    shown = texts(model(ROWS, 50, 8))
    assert [line.rstrip() for line in shown] == [
        "jsctl report                              every 2s",
        " 1 Streams 3  2 Consumers",
        "  Stream    Messages  Trouble",
        "● beta             1  no leader",
        "  alpha        3,000",
        "  gamma            2",
        "",
        "/ filter  s sort  enter open           +1 column →",
    ]


@given(st.integers(1, 220), st.integers(1, 70), st.booleans())
def test_no_line_is_wider_than_the_terminal(width: int, height: int, wide: bool) -> None:
    rows = [("名前" * 30 + str(n), n * 10**9, "a long sentence of what is wrong " * n) for n in range(9)]
    state = model(rows, width, height, filter="名")
    state = pressed(state, *(["w"] if wide else []), "down")
    shown = texts(state)
    assert len(shown) == height
    assert max(map(measure, shown)) <= width


@given(st.text("ab 名e\u0301", max_size=60), st.integers(2, 20))
def test_a_text_is_split_and_none_of_it_is_missing(text: str, width: int) -> None:
    pieces = list(split(text, width))
    assert "".join(pieces) == text
    assert max(map(measure, pieces)) <= width


def test_a_page_shows_the_whole_of_a_long_line() -> None:
    payload = "".join(map(str, range(100)))
    state = model(ROWS, 40, 20)._replace(pages=("p",), mode="page")
    answer = board(ROWS)._replace(page=Result([Text(payload, whole=True)]), page_key="p")
    assert payload in "".join(line.strip() for line in texts(with_board(state, answer)))


def test_columns_are_dropped_by_priority_and_names_shortened_in_the_middle() -> None:
    rows = [("orders-of-the-whole-of-europe-2026", 12_345, "")]
    assert "12,345" in texts(model(rows, 60))[3]
    narrow = texts(model(rows, 24))[3]
    assert "12,345" not in narrow
    assert narrow.strip().startswith("orders-")
    assert narrow.strip().endswith("2026")
    assert "…" in narrow


def test_what_hides_rows_is_always_said() -> None:
    """Also where the parts take the whole line, and in a window without them."""
    for height in (6, 24):
        shown = texts(pressed(model(ROWS, 44, height, filter="beta"), "f"))
        assert shown[0].rstrip() == "jsctl report  /beta  only what is wrong"
    assert "/beta  every 2s" in texts(model(ROWS, 60, filter="beta"))[0]
    hidden = "\n".join(texts(pressed(model(ROWS, 70, filter="alpha"), "f")))
    assert "none of 3 streams that is wrong matches /alpha; esc clears it" in hidden


def test_parts_that_do_not_fit_are_left_out() -> None:
    grid = table_to_grid(Table("", [Column("Name", "name")], [("a",), ("b",), ("c",)], rising=True))
    parts = [Part(str(at), f"Information on group {at}", lambda: grid) for at in range(3)]
    state = with_part(with_board(model([], 72, 8), Board(parts)), "0")
    assert texts(state)[1].rstrip() == " 1 Information on group 0 3  2 Information on group 1  3…"
    assert texts(state)[3].strip() == "c", "the row that matters most comes first"
    alone = with_part(with_board(model([], 60, 8), Board(parts[:1])), "0")
    assert texts(alone)[1].rstrip() == " Information on group 0 3"


def test_wide_columns() -> None:
    state = model(ROWS)
    assert "Subjects" not in texts(state)[2]
    assert "Subjects" in texts(pressed(state, "w"))[2]


def test_what_changed_since_the_last_round() -> None:
    state = with_board(model(ROWS), board([("alpha", 3001, ""), ROWS[1], ("new", 1, "")], number=2))
    by_name = {line[1][1].strip(): line for line in lines(state)[3:6]}
    assert [text.strip() for style, text in by_name["alpha"] if "changed" in style] == ["3,001"]
    assert not [text for style, text in by_name["beta"] if "changed" in style]
    assert by_name["new"][0] == ("good", "+ ")


def test_a_row_that_was_below_the_screen_is_not_new() -> None:
    rows = [(f"s{number:02}", number, "") for number in range(40)]
    state = with_board(model([]), board(rows, number=2))
    lines(state)
    later = with_board(state, board([*rows[30:], ("t", 1, "")], number=3))
    assert [line[1][1].strip() for line in lines(later) if line and line[0][1] == "+ "] == ["t"]


def test_nothing_is_new_in_a_first_answer() -> None:
    state = with_board(model([]), board(ROWS, number=2))
    assert not [line for line in lines(state) if line and line[0][1] == "+ "]


def test_an_answer_of_the_same_round_keeps_what_changed() -> None:
    later = with_board(model(ROWS), board([("alpha", 3001, "")], number=2))
    again = with_board(later, board([("alpha", 3001, ""), ("beta", 1, "")], number=2))
    assert any("changed" in style for style, _ in lines(again)[3])


def test_notices_are_counted_if_there_is_no_room() -> None:
    state = model(ROWS)
    state = with_board(state, board(ROWS, notices=[Text(f"place {n} is away", "bad") for n in range(9)]))
    shown = texts(state)
    assert shown[2:5] == [f"place {n} is away" for n in range(3)]
    assert shown[5] == "and 6 more such lines"


def test_a_long_notice_is_folded_where_there_is_room() -> None:
    words = " ".join(f"word{n}" for n in range(20))
    state = with_board(model(ROWS), board(ROWS, notices=[Text(words, "warn"), Text("short", "warn")]))
    shown = texts(state)
    assert " ".join(line.strip() for line in shown[2:4]) == words and shown[4] == "short"
    assert texts(with_size(state, 30, 24))[2].endswith("…")


def test_no_title_of_a_service_is_cut_at_80_columns() -> None:
    row = Row("orders-service", "create-order", 3, 300_000, 1234.5, 4_000, 6.7, 8_000_000, 1.25)
    columns = [Column("Where", "context"), *RATES]
    table = Table("", columns, [["cluster", *(column.get(row) for column in RATES)]])
    state = with_board(model(ROWS), Board([Part("x", "X", lambda: table_to_grid(table))]))
    titles = texts(state)[2]
    assert "Service" in titles and "Errors/s" in titles and "…" not in titles
    assert "…" not in texts(with_size(state, 60, 20))[2]


TABS = ("Streams", "Consumers", "Replication", "Servers", "Accounts", "Problems")
SIZES = [(3, 4, 1, 1, 1, 0), (1000, 2500, 40, 3, 1, 12), (99_999, 99_999, 9_999, 99, 9, 9_999)]


def list_shown(line: str, titles: Sequence[str]) -> list[int]:
    """The numbers of the titles that are in a line as a whole; what stands for the others is in its place."""
    numbers: list[int] = []
    for tab in re.split("  +", line.strip()):
        if tab.endswith("…"):
            first, _, last = tab[:-1].partition("-")
            assert int(first) == len(numbers) + 1
            numbers += [0] * (int(last or first) - len(numbers))
        else:
            number, title, *_ = tab.split()
            assert title == titles[len(numbers)] and int(number) == len(numbers) + 1, line
            numbers.append(int(number))
    assert len(numbers) == len(titles), line
    return [number for number in numbers if number]


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("chosen", TABS)
@pytest.mark.parametrize("width", [30, 60, 80, 100, 200])
def test_tabs_are_whole(rows: tuple[int, ...], chosen: str, width: int) -> None:
    """With their counts; a sign stands for those that do not fit."""
    state = model(ROWS, width)
    counts = dict(zip(TABS, rows, strict=True))
    parts = [
        Part(title, title, state.board.parts[0].build, count, title == "Problems")
        for title, count in counts.items()
    ]
    state = state._replace(board=Board(parts), part=chosen, counts=counts)
    line = texts(state)[1]
    shown = list_shown(line, TABS) if width > 30 else []
    assert measure(line) <= width and f"{chosen} {counts[chosen]:,}" in line
    for number in shown:
        count = rows[number - 1]
        forms = (f"{count:,}", str(count), f"{count // 1000}k")
        assert any(f" {TABS[number - 1]} {form} " in f"{line} " for form in forms), line
    assert width == 30 or f"Problems {rows[-1]:,}" in line
    assert len(shown) >= {80: 4, 100: 5, 200: 6}.get(width, 0), line


ASKED = ("Buckets", "Objects", "Services", "Connections", "Schedules")


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("chosen", [*TABS, *ASKED])
def test_tabs_that_are_asked_for_go_first(width: int, chosen: str) -> None:
    """The one that is shown stays, and a click on what stands for the others leads to them."""
    state = model(ROWS, width, asked=ASKED)
    titles = (*TABS, *ASKED)
    parts = [Part(title, title, state.board.parts[0].build, 1) for title in titles]
    state = state._replace(board=Board(parts), part=chosen, counts={chosen: 1})
    line = texts(state)[1]
    shown = list_shown(line, titles)
    assert measure(line) <= width and f"{titles.index(chosen) + 1} {chosen} 1" in line
    asked = [number for number in shown if number > len(TABS) and titles[number - 1] != chosen]
    assert not asked or len([number for number in shown if number <= len(TABS)]) == len(TABS)
    assert len(shown) == len(titles) or width < 200
    assert shown[0] == 1 or width < 80, "the first part stays longer than the others"
    for sign in re.findall(r"(\d+)(?:-\d+)?…", line):
        assert apply_click(state, line.index(f" {sign}") + 1, 1).part == titles[int(sign) - 1]


def test_foreign_text_moves_no_cursor() -> None:
    shown = "".join(texts(model([("a\x1b[2Jb", 1, "\x1b]0;title\x07")])))
    assert "\x1b" not in shown
    assert "\\x1b" in shown


def test_the_selected_row_is_on_the_screen() -> None:
    state = pressed(model([(f"s{n:03}", n, "") for n in range(100)], height=12), "end")
    assert any(text.startswith("  s099") for text in texts(state))
    smaller = with_size(state, 80, 8)
    assert any(text.startswith("  s099") for text in texts(smaller))


def test_ten_thousand_rows_do_not_stall() -> None:
    rows = [(f"stream-{n:05}", n % 977, "no leader" if n % 500 == 0 else "") for n in range(10_000)]
    state = model(rows)
    began = time.process_time()
    for _ in range(20):
        state = pressed(state, "pagedown")
        texts(state)
    took = (time.process_time() - began) / 20
    assert names(state)[state.view.at]
    assert took < 0.1, "a key and its picture take milliseconds, not a rendering of all rows"


def test_names_are_measured_again_where_rows_have_gone() -> None:
    def find_second_column(state: Model) -> int:
        return next(text.index("Messages") for text in texts(state) if "Messages" in text)

    rows = [(f"{'long name ' * (n == 60)}{n:03}", n, "") for n in range(100)]
    state = model(rows)
    at = find_second_column(state)
    state = settle(with_board(state, board(rows, 2)))
    assert find_second_column(state) == at
    assert find_second_column(settle(with_board(state, board(rows[:50], 3)))) < at


@given(st.lists(st.sampled_from(["", "", "late"]), max_size=30), st.booleans())
def test_rows_with_problems_come_first_and_others_keep_their_order(words: list[str], reverse: bool) -> None:
    rows = [(f"s{n:02}", n, word) for n, word in enumerate(words)]
    state = model(rows)
    state = arrange(state.with_view(reverse=reverse))
    assert list(state.rows) == sorted(rows, key=lambda row: bool(row[2]), reverse=not reverse)


@given(
    st.lists(st.none() | st.integers(0, 3) | st.sampled_from([0.5, "b", "A", "a"]), max_size=30),
    st.booleans(),
    st.integers(0, 40),
)
def test_rows_are_sorted_by_a_column_and_the_selected_one_stays(
    values: list[Any], reverse: bool, at: int
) -> None:
    """What is not known comes last; equal ones keep their order."""
    values = [value for value in values if not isinstance(value, str)] if reverse else [*map(str, values)]
    rows: list[Any] = [(f"s{n:02}", value, "") for n, value in enumerate(values)]
    state = arrange(move_to(model(rows), at).with_view(sort="messages", reverse=reverse))
    known = [row for row in rows if row[1] is not None]
    known.sort(key=lambda row: row[1].lower() if isinstance(row[1], str) else row[1], reverse=not reverse)
    assert list(state.rows) == [*known, *(row for row in rows if row[1] is None)]
    if rows:
        assert state.selected == rows[min(at, len(rows) - 1)]


def test_hidden_columns_are_counted_and_named() -> None:
    narrow = texts(model(ROWS, 30))
    assert narrow[-1].rstrip().endswith("+2 columns →")
    assert "Messages" not in narrow[2] and "Subjects" not in narrow[2]
    wide = texts(model(ROWS, 132))
    assert wide[-1].rstrip().endswith("+1 column → Subjects")
    assert "+" not in texts(pressed(model(ROWS, 120), "w"))[-1].replace("+ -", "")
    help = "\n".join(texts(pressed(model(ROWS, 120), "?")))
    assert "Columns that are not on the screen: Subjects" in help
    assert "column" not in texts(model([], 120))[-1]


def test_all_columns_are_reached_sideways() -> None:
    rows = [("orders-of-the-whole-of-europe", 12_345, "a long sentence of what is wrong")]
    state = pressed(model(rows, 40), "right")
    seen = set()
    for _ in range(5):
        titles = texts(state)[2]
        assert titles.startswith("  Stream"), "the first column stays"
        seen.update(titles.split())
        state = pressed(state, "right")
    assert seen >= {"Stream", "Messages", "Subjects", "Trouble"}
    last = texts(state)
    assert last == texts(pressed(state, "right", "right")), "it stops at the last column"
    assert texts(pressed(state, "left", "left", "left", "left"))[2] == texts(pressed(model(rows, 40), "w"))[2]
    assert texts(pressed(state, "w")) == texts(model(rows, 40)), "w goes back to those that fit"


def test_q_quits_from_every_page_that_says_so() -> None:
    for keys in ("?", "J", "enter"):
        state = pressed(model(ROWS, 120), keys)
        assert "q quit" in texts(state)[-1]
        assert pressed(state, "q").ended == "quit"
        assert pressed(state, "escape").mode == "table"
