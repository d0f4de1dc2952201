"""The layout of help: where its lines are broken, and how flags are described."""

import re
from collections.abc import Iterable

import click

from jsctl.base.similar_names import find_nearest

BUILT_IN = {"help": "Show help on a command"}
"""The command of every group that is not in the registry."""

_NEVER_SUGGESTED = ("seal", "rm", "rmm", "purge")
"""Verbs that destroy: a typo must not lead to one of them."""

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
        # On a narrow terminal, click would leave the help ten columns.
        super().write_dl(whole, col_max if self.width > 2 * col_max else self.width // 3, col_spacing)

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


def show_help(ctx: click.Context, param: click.Parameter | None, value: bool) -> None:
    """Show the help of a command and end, as the callback of --help."""
    if not value or ctx.resilient_parsing:
        return
    text = ctx.get_help() + "\n"
    env = ctx.obj
    if env is None or not env.page(text):
        click.echo(text, nl=False, color=ctx.color)
    ctx.exit()


def suggest_command(name: str, path: str, children: Iterable[str]) -> str:
    """Return a question that names the command most like a misspelled one; empty when none is near.

    path: of the group; empty for the top level. children: the names of its commands.
    """
    offered = [*BUILT_IN, *(child for child in children if child not in _NEVER_SUGGESTED)]
    nearest = find_nearest(name, offered)
    return f"did you mean {nearest!r}?" if nearest else ""


def simplify_row(flags: str, help: str) -> tuple[str, str]:
    """Return a flag and its help without the range and the type that click adds, such as `[x>=1]`."""
    return flags.replace("INTEGER RANGE", "N"), re.sub(r"\s*\[[^][]*x[<>]=?[^][]*\]$", "", help)
