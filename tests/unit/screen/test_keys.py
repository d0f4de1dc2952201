"""Keys of the live screen: (model, key) -> model."""

from operator import itemgetter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.base.units import SECOND
from jsctl.screen.keys import HELP, apply_paste
from jsctl.screen.model import open_page, with_board
from jsctl.screen.mouse import apply_click
from jsctl.views.board import Board, Detail, Grid, Link, Part
from jsctl.views.result import Column, Text
from tests.unit.screen.support import COLUMNS, board, grid, model, names, pressed, texts

ROWS = [("alpha", 3, ""), ("beta", 1, "no leader"), ("gamma", 2, "")]


def test_what_is_wrong_comes_first() -> None:
    assert names(model(ROWS)) == ["beta", "alpha", "gamma"]


def test_moving_stops_at_both_ends() -> None:
    state = model(ROWS)
    assert pressed(state, "down", "j", "j", "j").selected[0] == "gamma"
    assert pressed(state, "end", "up").selected[0] == "alpha"
    assert pressed(state, "G", "home", "k").selected[0] == "beta"


def test_pages_move_by_what_is_on_the_screen() -> None:
    state = model([(f"s{n:03}", n, "") for n in range(200)], height=20)
    assert pressed(state, "pagedown").view.at == 14
    assert pressed(state, "pagedown", "pagedown", "pageup").view.at == 14


def test_the_selected_row_stays_selected_when_others_come() -> None:
    state = pressed(model(ROWS), "down", "down")
    later = with_board(state, board([("aaa", 1, ""), *ROWS], number=2))
    assert later.selected[0] == "gamma"
    gone = with_board(later, board([("aaa", 1, "")], number=3))
    assert gone.selected[0] == "aaa"


def test_sorting() -> None:
    state = pressed(model(ROWS), "s")
    assert names(state) == ["alpha", "beta", "gamma"]
    state = pressed(state, "s")
    assert names(state) == ["alpha", "gamma", "beta"], "the largest first"
    assert names(pressed(state, "S")) == ["beta", "gamma", "alpha"]
    assert names(model(ROWS, sort="messages")) == ["alpha", "gamma", "beta"]


def test_names_of_other_parts_are_gone_to() -> None:
    """An exact name of any part comes before the beginning of a part's; a piece of a name is looked for in
    the part on the screen."""
    readers = [("alpha", "A1", ""), ("beta", "s", ""), ("beta", "work-gamma", "stuck")]
    columns = [COLUMNS[0], Column("Consumer", "consumer", "text", read=itemgetter(1))]
    consumers = Grid(columns, readers, key=itemgetter(0, 1))
    parts = [
        Part("streams", "Streams", lambda: grid(ROWS)),
        Part("consumers", "Consumers", lambda: consumers),
    ]
    state = with_board(model(ROWS), Board(parts, number=2))

    def go(text: str) -> tuple[str, str]:
        there = pressed(state, ":", *text, "enter")
        return there.part, there.selected[0 if there.part == "streams" else 1]

    assert [go(text) for text in ("a1", "S", "gamma", "st", "amm", "consumers")] == [
        ("consumers", "A1"),
        ("consumers", "s"),
        ("streams", "gamma"),
        ("streams", "beta"),
        ("streams", "gamma"),
        ("consumers", "A1"),
    ]


def test_from_a_stream_to_its_consumers_and_back_with_one_key() -> None:
    """Also from a page; another part has all rows again."""
    readers = [("alpha", "A1", ""), ("beta", "B1", ""), ("beta", "B2", "stuck")]

    def parts(number: int = 1) -> Board:
        streams = Grid(
            *(COLUMNS, ROWS),
            key=itemgetter(0),
            page=itemgetter(0),
            detail=lambda row: Detail("consumers", row[0], f"stream {row[0]}"),
        )
        consumers = Grid(COLUMNS[:1], readers, key=itemgetter(0, 1), owner=itemgetter(0))
        built = [
            Part("streams", "Streams", lambda: streams),
            Part("consumers", "Consumers", lambda: consumers),
        ]
        return Board(built, number=number)

    state = pressed(with_board(model(ROWS), parts()), "down")
    assert (state.selected[0], "c consumers" in texts(state)[-1]) == ("beta", True)
    shown = pressed(state, "c")
    assert (shown.part, [row[1] for row in shown.rows]) == ("consumers", ["B1", "B2"])
    assert "stream beta" in texts(shown)[0] and "c back" in texts(shown)[-1]
    assert len(with_board(shown, parts(2)).rows) == 2, "also in the next round"
    for back in (["c"], ["escape"], ["down", "c"]):
        there = pressed(shown, *back)
        assert (there.part, there.selected[0], len(there.rows)) == ("streams", "beta", 3)
    assert len(pressed(shown, "1", "2").rows) == 3
    assert [row[1] for row in pressed(state, "enter", "c").rows] == ["B1", "B2"]
    assert "none of 3 rows belongs to stream gamma" in texts(pressed(state, "down", "c"))[3]
    assert pressed(pressed(state, "2"), "c").part == "consumers", "nothing is below a consumer"


def test_a_filter_works_while_it_is_typed() -> None:
    state = pressed(model(ROWS), "/", "A", "backspace", "m", "m")
    assert names(state) == ["gamma"]
    assert texts(state)[-1].startswith("/mm")
    assert names(pressed(state, "enter")) == ["gamma"]
    assert len(names(pressed(state, "enter", "escape"))) == 3
    assert len(names(pressed(state, "escape"))) == 3


def test_an_inverse_filter() -> None:
    assert names(pressed(model(ROWS), "/", *"!no leader", "enter")) == ["alpha", "gamma"]
    assert names(model(ROWS, filter="!^a")) == ["beta", "gamma"]


def test_an_invalid_filter_is_reported_and_changes_nothing() -> None:
    state = pressed(model(ROWS), "/", "[")
    assert len(names(state)) == 3
    assert "not a valid regular expression" in texts(state)[-1]
    with pytest.raises(ValueError, match="not a valid regular expression"):
        model(ROWS, filter="[")


def test_letters_are_text_while_a_filter_is_typed() -> None:
    state = pressed(model(ROWS), "/", "q")
    assert not state.ended
    assert "none of 3 streams matches /q" in "".join(texts(state))


def test_only_what_is_wrong() -> None:
    state = pressed(model(ROWS), "f")
    assert names(state) == ["beta"]
    assert len(names(pressed(state, "f"))) == 3
    assert names(model(ROWS, faults=True)) == ["beta"]


def test_parts() -> None:
    state = model(ROWS)
    assert pressed(state, "2").part == "consumers"
    assert pressed(state, "2", "1").part == "streams"
    assert pressed(state, "9").part == "streams"
    assert pressed(state, "tab").part == "consumers"
    assert pressed(state, "tab", "tab").part == "streams"
    assert pressed(state, "down", "2", "1").view.at == 1, "each part keeps its place"


def test_going_to_a_part_and_to_a_row() -> None:
    state = model(ROWS)
    assert pressed(state, ":", *"cons", "enter").part == "consumers"
    assert pressed(state, ":", *"gam", "enter").selected[0] == "gamma"
    assert "no part or row is called 'zz'" in texts(pressed(state, ":", *"zz", "enter"))[-1]
    assert pressed(state, ":", "q", "enter").ended


def test_time() -> None:
    state = model(ROWS)
    assert pressed(state, "p").paused
    assert not pressed(state, "p", " ").paused
    assert pressed(state, "+").interval == 5 * SECOND
    assert pressed(state, "-", "-").interval == SECOND // 2
    assert pressed(state, *"--------").interval == SECOND // 5, "never without a pause"
    assert pressed(state, "r").query != state.query


def test_a_page_and_back() -> None:
    state = pressed(model(ROWS), "down", "enter")
    assert state.query.page == ("stream", "alpha")
    assert "waiting for the answer" in "".join(texts(state))
    assert pressed(state, "escape").query.page is None
    assert pressed(state, "escape").selected[0] == "alpha"


def test_json_help_and_the_line() -> None:
    state = model(ROWS)
    assert '"stream": "beta"' in "\n".join(texts(pressed(state, "J")))
    assert '"stream"' not in "\n".join(texts(pressed(state, "J", "escape")))
    shown = "\n".join(texts(pressed(state, "?")))
    assert all(words in shown for _, words in HELP)
    assert texts(pressed(state, "?"))[-1].strip() == "esc back  ↑↓ scroll  q quit", "other keys do nothing"
    line = pressed(state, "y")
    assert texts(line)[-1] == "jsctl stream info beta"
    assert pressed(line, "y", "down", "y").lines == ("jsctl stream info beta", "jsctl stream info alpha")


def test_what_is_pasted_is_never_keys() -> None:
    state = model(ROWS)
    assert apply_paste(state, "q1X") == state and apply_paste(pressed(state, "?"), "q") == pressed(state, "?")
    assert names(apply_paste(pressed(state, "/"), "be\n\x1bta")) == ["beta"]
    assert apply_paste(pressed(state, ":"), "q").typed == "q"


def test_quitting() -> None:
    assert pressed(model(ROWS), "q").ended
    assert pressed(model(ROWS), "/", "c-c").ended
    assert pressed(model(ROWS), "enter", "q").ended


KEYS = [
    *"jkgGsSfwpr+-Jy:?/! 123",
    "up",
    "down",
    "pageup",
    "pagedown",
    "home",
    "end",
    "enter",
    "escape",
    "tab",
]


@given(
    st.lists(st.sampled_from(KEYS), max_size=30),
    st.integers(1, 130),
    st.integers(1, 50),
    st.integers(0, 60),
)
def test_no_keys_break_a_picture(keys: list[str], width: int, height: int, number: int) -> None:
    rows = [(f"stream-{n}-é-名前", n * 1000, "no leader" if n % 7 == 0 else "") for n in range(number)]
    state = pressed(model(rows, width, height), *keys)
    state = pressed(with_board(state, board(rows[::2], number=2)), *keys)
    assert len(texts(state)) == height


def test_a_page_with_rows() -> None:
    """It has rows, a filter and an order of its own; those of the part are back after it, and an answer for a
    page that was closed is not shown."""
    rows = [("m2", 9, ""), ("m1", 8, "")]
    older = Link("earlier", "show earlier ones", "more", replaces=True)
    find = Link("find", "search", replaces=True, ask="what", answer=lambda text: ("find", int(text)))

    def listing(number: int, key: object) -> Board:
        content = grid(rows)
        return board(ROWS, number, page=content, page_key=key, links={"[": older, "F": find})

    state = pressed(model(ROWS, sort="messages"), "/", *"alp", "enter", "enter")
    assert (state.query.page, state.query.rows) == (("stream", "alpha"), 18)
    state = with_board(state, listing(2, ("stream", "alpha")))
    assert (names(state), state.mode) == (["m2", "m1"], "table"), (
        "in the order of the page, without the filter"
    )
    state = pressed(state, "down", "/", "m", "1", "enter")
    assert names(with_board(state, listing(3, ("stream", "alpha")))) == ["m1"]
    deeper = pressed(state, "enter")
    assert deeper.pages == (("stream", "alpha"), ("stream", "m1"))
    late = with_board(deeper, listing(4, ("stream", "alpha")))
    assert (late.mode, late.board.page, dict(late.board.links)) == ("page", None, {})
    assert names(pressed(late, "escape")) == ["m1"]
    assert pressed(state, "[").pages == ("more",)
    asked = pressed(state, "F", "x", "enter")
    assert (asked.mode, "invalid literal" in texts(asked)[-1]) == ("ask", True)
    assert pressed(asked, "backspace", "7", "enter").pages == (("find", 7),)
    there = pressed(state, "escape", "escape")
    assert (there.part, names(there), there.filter, there.pages) == ("streams", ["alpha"], "alp", ())
    assert names(pressed(state, "2", "1")) == ["alpha"]
    assert (pressed(state, ":").pages, names(pressed(state, ":", "escape"))) == ((), ["alpha"])


def test_the_title_of_a_page_ends_with_it() -> None:
    """And its notices; before the next answer, which a place that is away may delay."""
    page: dict[str, Any] = {"page": grid(ROWS), "page_key": "p", "heading": "messages of alpha"}
    page["notices"] = [Text("no more of them", "dim")]
    link = {"m": Link("messages", "show messages", "p")}
    shown = model(ROWS, height=10)._replace(plain=board(ROWS, heading="east  10:00"))
    opened = open_page(shown, "p")
    assert "east  10:00" in texts(opened)[0]
    opened = with_board(opened, board(ROWS, links=link, **page))
    assert "messages of alpha" in texts(opened)[0] and "no more of them" in texts(opened)[2]
    for keys in (["escape"], ["2"], [":"], ["m"]):
        screen = "\n".join(texts(pressed(opened, *keys)))
        assert "east  10:00" in screen and "no more of them" not in screen
    late = with_board(pressed(opened, "escape"), board(ROWS, **page))
    assert "east  10:00" in texts(late)[0]


def test_clicks() -> None:
    """A tab, a title and a row, wherever they are drawn; elsewhere nothing happens."""
    state = model(ROWS)
    tabs, titles, *rows = texts(state)[1:6]
    assert apply_click(state, tabs.index("Consumers"), 1).part == "consumers"
    sorted_state = apply_click(state, titles.index("Messages") + 2, 2)
    assert names(sorted_state) == ["alpha", "gamma", "beta"]
    assert names(apply_click(sorted_state, titles.index("Messages") + 2, 2)) == ["beta", "gamma", "alpha"]
    at = next(line for line, text in enumerate(rows, 3) if "gamma" in text)
    chosen = apply_click(state, 5, at)
    assert (chosen.selected[0], chosen.pages) == ("gamma", ())
    assert apply_click(chosen, 5, at).pages == (("stream", "gamma"),)
    for x, y in ((0, 0), (79, 1), (79, 12), (0, 23)):
        assert apply_click(state, x, y) == state
    for y in range(24):
        assert apply_click(pressed(state, "?"), 3, y) == pressed(state, "?")


def test_a_line_is_copied_once() -> None:
    copied = pressed(model(ROWS), "y")
    assert copied.copied == "jsctl stream info beta"
    assert pressed(copied, "down").copied == ""
