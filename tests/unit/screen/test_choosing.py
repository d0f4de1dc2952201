"""The columns of a part that the user chooses."""

import json
from pathlib import Path

import pytest

from jsctl.screen.choosing import read_columns, write_columns
from tests.unit.screen.support import model, pressed, texts

ROWS = [("alpha", 3000, ""), ("beta", 1, "no leader")]


def _read_titles(state: object) -> list[str]:
    return texts(state)[2].split()  # type: ignore[arg-type]


def test_columns_are_hidden_moved_and_added() -> None:
    state = pressed(model(ROWS), "C")
    assert texts(state)[2].startswith("> [x] Stream")
    state = pressed(state, "right", "escape")
    assert _read_titles(state) == ["Messages", "Stream", "Trouble"]
    state = pressed(state, "C", "end", " ", "escape")  # one that needs `w` otherwise
    assert _read_titles(state) == ["Messages", "Stream", "Trouble", "Subjects"]
    state = pressed(state, "C", "down", " ", "q")
    assert _read_titles(state) == ["Messages", "Trouble", "Subjects"] and not state.ended
    assert dict(state.columns) == {"streams": ("messages", "trouble", "subjects")}
    assert _read_titles(pressed(state, "w")) == ["Messages", "Trouble", "Subjects", "Stream"]
    assert _read_titles(pressed(state, "C", "backspace", "escape")) == ["Stream", "Messages", "Trouble"]
    assert _read_titles(pressed(state, "C", " ", " ", " ", "escape")) == ["Stream", "Messages", "Trouble"]
    assert _read_titles(pressed(state, "tab", "s-tab")) == ["Messages", "Trouble", "Subjects"]


def test_chosen_columns_scroll_sideways() -> None:
    state = pressed(model(ROWS, 30), "C", "end", " ", "escape")
    assert "+1 column →" in texts(state)[-1]
    end = pressed(state, "right", "right")
    assert _read_titles(end)[-1] == "Subjects" and texts(end)[-1].endswith("+2 columns ←")
    narrow = pressed(model(ROWS, 20), "C", "end", " ", "escape", "right")
    assert texts(narrow)[-1].endswith("↔"), "there are some on both sides"


def test_columns_that_are_gone_are_left_out() -> None:
    state = model(ROWS)._replace(columns={"streams": ("gone", "messages", "messages"), "consumers": ("x",)})
    assert _read_titles(state) == ["Messages"]
    assert _read_titles(model(ROWS)._replace(columns={"streams": ("gone",)}))[0] == "Stream"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"jsctl top": 3}', '{"jsctl top": {"1": 5}}', "\udc80"])
def test_a_file_of_another_shape_is_no_choice(tmp_path: Path, text: str) -> None:
    path = tmp_path / "new" / "columns.json"
    assert read_columns(path, "jsctl top") == {}
    write_columns(path, "jsctl report", {"streams": ("a", "b"), "servers": ()})
    write_columns(path, "jsctl top", {"1": ("c",)})
    assert json.loads(path.read_text()) == {
        "jsctl report": {"streams": ["a", "b"]},
        "jsctl top": {"1": ["c"]},
    }
    path.write_bytes(text.encode(errors="surrogateescape"))
    assert read_columns(path, "jsctl top") == {}
    write_columns(path, "jsctl report", {"streams": ("a",)})
    assert read_columns(path, "jsctl report") == {"streams": ("a",)}
