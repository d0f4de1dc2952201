"""The layout of help: where its lines are broken, and how flags are described."""

import re
from collections.abc import Iterable

import click

_HYPHEN = "\u2011"  #: a non-breaking one


class Formatter(click.HelpFormatter):
    """A formatter that breaks lines at spaces only, so that flags and names such as nats-server stay
    whole.
    """

    def write_text(self, text: str) -> None:
        super().write_text(text.replace("-", _HYPHEN))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        listed = [self._format_row(*row) for row in rows]
        whole = [(first, second.replace("-", _HYPHEN)) for first, second in listed]
        super().write_dl(whole, col_max, col_spacing)

    def _format_row(self, flags: str, help: str) -> tuple[str, str]:
        """Return a flag's row; choices that are too long for the flag's column are in its help."""
        if len(flags) + self.current_indent <= self.width or not flags.endswith("]"):
            return flags, help
        name, _, choices = flags[:-1].partition(" [")
        return f"{name} CHOICE", f"{help.removesuffix(' this')}: {choices.replace('|', ', ')}"

    def getvalue(self) -> str:
        return super().getvalue().replace(_HYPHEN, "-")


class Context(click.Context):
    """The context of a running command, with help in our layout."""

    formatter_class = Formatter


def simplify_row(flags: str, help: str) -> tuple[str, str]:
    """Return a flag and its help without the range and the type that click adds, such as `[x>=1]`."""
    return flags.replace("INTEGER RANGE", "N"), re.sub(r"\s*\[[^][]*x[<>]=?[^][]*\]$", "", help)
