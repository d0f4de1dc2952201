"""Colors by meaning. Plain ANSI, so that static output does not need rich."""

_CODES = {
    "good": "32",
    "warn": "33",
    "bad": "1;31",
    "dim": "2",
    "bold": "1",
    "yellow": "33",
    "blue": "34",
    "cyan": "36",
    "green": "32",
    "magenta": "35",
    "red": "31",
}

SCHEMES = ("yellow", "blue", "cyan", "green", "magenta", "red")
"""Values of `--colors` and of a context's color_scheme, as in the `nats` tool."""


def paint(text: str, style: str) -> str:
    """Return `text` in the colors of a style or scheme; unknown names change nothing."""
    code = _CODES.get(style)
    return f"\x1b[{code}m{text}\x1b[0m" if code else text
