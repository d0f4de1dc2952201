"""The colors of a live screen on a light terminal, in a real pseudo-terminal."""

import time

import pytest

from tests.support.emulator import Watched
from tests.support.run import Cli

LIGHT_KEY = "38;2;0;96;122"
"""The color of keys on a light background, #00607a."""


def _has_light_colors(watched: Watched) -> bool:
    return LIGHT_KEY in "".join(watched.screen.styled_lines) or "38;5;24" in "".join(
        watched.screen.styled_lines
    )


@pytest.mark.slow
def test_a_terminal_that_answers(cli: Cli) -> None:
    watched = Watched(cli.terminal("report --watch 200ms --part 3"))
    watched.until("3 Replication 0")
    assert "\x1b]11;?\x07" in watched.written and not _has_light_colors(watched)
    watched.press("\x1b]11;rgb:fafa/fafa/fafa\x1b\\")
    watched.until(lambda _: _has_light_colors(watched))
    assert "3 Replication 0" in watched.screen.text, "its digits are not keys"
    watched.press("q")
    assert watched.end() == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variables", "is_light", "asks"),
    [
        ({"JSCTL_BACKGROUND": "light"}, True, False),
        ({"JSCTL_BACKGROUND": "dark", "COLORFGBG": "0;15"}, False, False),
        ({"COLORFGBG": "0;15"}, True, True),
        ({"NO_COLOR": "1", "COLORFGBG": "0;15"}, False, False),
    ],
)
def test_what_the_environment_says(cli: Cli, variables: dict[str, str], is_light: bool, asks: bool) -> None:
    cli.environ.update(variables)
    watched = Watched(cli.terminal("report --watch 200ms"))
    watched.until("there are no streams")
    assert _has_light_colors(watched) == is_light
    assert ("\x1b]11;?" in watched.written) == asks
    watched.press("q")
    assert watched.end() == 0


@pytest.mark.slow
def test_a_wrong_background_is_one_line(cli: Cli) -> None:
    cli.environ["JSCTL_BACKGROUND"] = "blue"
    watched = Watched(cli.terminal("report --watch 200ms"))
    assert watched.end() == 64
    assert "jsctl: error: JSCTL_BACKGROUND is 'blue'; set it to light or dark" in watched.screen.text


@pytest.mark.slow
def test_an_end_before_the_answer_waits_for_it(cli: Cli) -> None:
    """The shell would read the answer as typed."""
    watched = Watched(cli.terminal("report --watch 200ms --count 1"))
    begun = time.monotonic()
    assert watched.end() == 0
    assert time.monotonic() - begun >= 0.25 and "\x1b]11;?" in watched.written
