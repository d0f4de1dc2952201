"""Keys of a replay."""

import pytest

from jsctl.base.units import SECOND, format_time, seconds_to_ns
from jsctl.screen.model import Model, build_first_model, tick, with_board
from jsctl.views.board import Start
from tests.unit.screen.support import board, pressed, texts

TIMES = [1_700_000_000.0 + 10 * number for number in range(40)]


def replay() -> Model:
    """A replay of 40 rounds, ten seconds apart, at the first."""
    state = tick(build_first_model(Start("jsctl report"), SECOND, TIMES))
    return with_board(state, board([("alpha", 1, "")]))


def test_it_plays_to_its_end() -> None:
    state = replay()
    assert state.position == 0
    for _ in range(50):
        state = tick(state)
    assert state.position == 39
    assert state.paused
    assert "round 40 of 40, 1x, paused" in texts(state)[0]


def test_steps_pause() -> None:
    state = pressed(replay(), "}", "]", "]")
    assert state.position == 12
    assert state.paused
    assert tick(state).position == 12
    assert pressed(state, "{", "[").position == 1
    assert pressed(state, "{", "{", "[").position == 0
    assert tick(pressed(state, "p")).position == 13


def test_speed() -> None:
    assert pressed(replay(), ">", ">").speed == 4
    assert pressed(replay(), "<").speed == 0.5
    assert "2x" in texts(pressed(replay(), ">"))[0]


@pytest.mark.parametrize(
    ("text", "position"),
    [("+1m", 6), ("+1m5s", 7), ("-1h", 0), ("2030-01-01T00:00:00Z", 39), ("2023-11-14T22:13:50Z", 3)],
)
def test_going_to_a_time(text: str, position: int) -> None:
    state = pressed(replay(), "g", *text, "enter")
    assert state.position == position


def test_going_to_a_time_of_the_day() -> None:
    clock = format_time(seconds_to_ns(TIMES[5]))[11:19]
    assert pressed(replay(), "g", *clock, "enter").position == 5


def test_an_invalid_time() -> None:
    state = pressed(replay(), "g", *"nonsense", "enter")
    assert state.position == 0
    assert "is not a time" in texts(state)[-1]


def test_its_keys_are_shown() -> None:
    shown = "\n".join(texts(pressed(replay(), "?")))
    assert "step ten rounds" in shown
    assert texts(replay())[-1].startswith("[ ] step  { } ten")
