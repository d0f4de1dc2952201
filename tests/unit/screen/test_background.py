"""The background of a terminal, and colors that are readable on a light one."""

import re

import pytest

from jsctl.errors import BadInput
from jsctl.screen.background import AnswerReader, guess_is_light, read_choice
from jsctl.screen.terminal import _COLORS, _LIGHT


class _Pieces:
    """Keys that arrive in pieces."""

    def __init__(self, *pieces: str) -> None:
        self._pieces = list(pieces)
        self.closed = False

    def read(self, count: int = 1024) -> str:
        return self._pieces.pop(0) if self._pieces else ""


LIGHT, DARK = "\x1b]11;rgb:ffff/ffff/dcdc\x1b\\", "\x1b]11;rgba:1e/1e/1e/ff\x07"


@pytest.mark.parametrize(
    ("pieces", "keys", "answers"),
    [
        (("j" + LIGHT + "k",), "jk", [True]),
        ((DARK,), "", [False]),
        (("a" + LIGHT[:9], LIGHT[9:] + "b"), "ab", [True]),
        (("j\x1b", DARK[1:] + "k"), "j\x1bk", [False]),
        (("\x1b", LIGHT[1:9], LIGHT[9:] + "k"), "\x1bk", [True]),
        (("\x1b", "[A\x1b]", "x"), "\x1b[A\x1b]x", []),
        (("\x1b[200~" + "11;rgb", ":q"), "\x1b[200~11;rgb:q", []),
    ],
)
def test_answers_are_no_keys(pieces: tuple[str, ...], keys: str, answers: list[bool]) -> None:
    taken: list[bool] = []
    reader = AnswerReader(_Pieces(*pieces), taken.append)
    assert "".join(reader.read() for _ in range(4)) == keys
    assert taken == answers


def test_what_the_environment_says() -> None:
    assert [read_choice({"JSCTL_BACKGROUND": one}) for one in ("light", "dark", "")] == [True, False, None]
    with pytest.raises(BadInput, match="JSCTL_BACKGROUND is 'blue'"):
        read_choice({"JSCTL_BACKGROUND": "blue"})
    variants = {"0;15": True, "0;default;7": True, "15;0": False, "12;8": False, "": False, "x": False}
    assert {text: guess_is_light({"COLORFGBG": text}) for text in variants} == variants
    assert not guess_is_light({})


def _measure_brightness(color: str) -> float:
    """Return the relative luminance of WCAG 2.2."""
    shares = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("name", _LIGHT)
def test_a_light_background_is_readable(name: str) -> None:
    style = _LIGHT[name]
    assert "ansi" not in style and name in _COLORS
    behind = (re.findall(r"bg:(#\w{6})", style) or ["#ffffff"])[0]
    for color in re.findall(r"(?<!bg:)#\w{6}", style):
        dark, light = sorted(map(_measure_brightness, (color, behind)))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, name
