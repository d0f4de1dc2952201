"""The layout of help: what a page shows, where its lines are broken, and how flags are described.

A page of more than PAGE_LINES lines is cut to its first paragraph, its examples and its first FIRST_FLAGS
flags. `--help --all` shows it whole, with the global flags.
"""

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import click

from jsctl import registry
from jsctl.base.command_lines import build_line
from jsctl.base.similar_names import find_nearest
from jsctl.commands.cli.global_flags import is_own
from jsctl.commands.cli.showing_help import show_help

PAGE_LINES = 60
FIRST_FLAGS = 10

BUILT_IN = {"help": "Show help on a command"}
"""The command of every group that is not in the registry."""

_NEVER_SUGGESTED = ("seal", "rm", "rmm", "purge")
"""Verbs that destroy: a typo must not lead to one of them."""

_GUESSES = {"monitor": "report --watch", "status": "report", "health": "doctor"}
"""Command lines for what the commands of other tools are called."""

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


class HelpPage(click.Command):
    """A command with its help.

    summary: its line in the registry, shown above its own paragraphs. examples: shown below them. sections:
    titles of flags, each with those below it, the most used first. The others are below these.
    """

    summary: str = ""
    sections: Mapping[str, Sequence[str]] = MappingProxyType({})

    def __init__(self, *args: Any, examples: Sequence[str] = (), **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self.examples = examples
        self._own_help_option: click.Option | None = None

    def get_short_help_str(self, limit: int = 45) -> str:
        return self.summary or super().get_short_help_str(limit)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        # click's own one looks for translations of its help, which takes 2 ms.
        if self._own_help_option is None and (names := self.get_help_option_names(ctx)):
            self._own_help_option = click.Option(
                [*names, "help_page"],
                is_flag=True,
                expose_value=False,
                is_eager=True,
                help="Show this message and exit.",
                callback=show_help,
            )
        return self._own_help_option

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_above = isinstance(self, click.Group) and any(not arg.startswith("-") for arg in args)
        if "--all" in args and not is_above and {*args}.intersection(self.get_help_option_names(ctx)):
            ctx.meta[_ALL] = True
            args = [arg for arg in args if arg != "--all"]
        return super().parse_args(ctx, args)

    def get_help(self, ctx: click.Context) -> str:
        text = super().get_help(ctx)
        if ctx.meta.get(_ALL) or text.count("\n") < PAGE_LINES:
            return text
        ctx.meta[_CUT] = True
        return super().get_help(ctx)

    def list_sections(self, ctx: click.Context) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Yield the titles of help, each with the flags below it and their help."""
        own = [p for p in self.params if is_own(p) and isinstance(p, click.Option)]
        others = "Other flags" if self.sections else "Flags"
        for title, flags in {**self.sections, others: [p.opts[0] for p in own]}.items():
            listed = sorted((p for p in own if p.opts[0] in flags), key=lambda p: flags.index(p.opts[0]))
            own = [p for p in own if p not in listed]
            records = [p.get_help_record(ctx) for p in listed]
            if rows := [simplify_row(*record) for record in records if record]:
                yield title, rows

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        paragraphs = inspect.cleandoc(self.help or "").split("\n\n")
        for text in (self.summary, *paragraphs[: 1 if is_cut(ctx) else None]):
            if text:
                formatter.write_paragraph()
                with formatter.indentation():
                    formatter.write_text(text)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(" " * formatter.current_indent + example + "\n")
        sections = [*self.list_sections(ctx)]
        room = FIRST_FLAGS if is_cut(ctx) else sum(len(rows) for _, rows in sections)
        if ctx.meta.get(_ALL):
            shared = [p.get_help_record(ctx) for p in self.params if not is_own(p)]
            sections.append(("Global flags, anywhere on the line", [row for row in shared if row]))
            room += len(shared)
        for title, rows in sections:
            if room > 0:
                with formatter.section(title):
                    formatter.write_dl(rows[:room])
            room -= len(rows)
        if room < 0:
            formatter.write(f"\n{-room} more flags:\n  {ctx.command_path} --help --all\n")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if not ctx.meta.get(_ALL):
            what = "Global flags" if ctx.parent else "All commands, and the global flags"
            formatter.write(f"\n{what}: jsctl --help --all\n")


_ALL, _CUT = "jsctl.help.all", "jsctl.help.cut"  #: keys of `click.Context.meta`


def is_cut(ctx: click.Context) -> bool:
    """Return whether a page is cut to what people use first."""
    return _CUT in ctx.meta


def suggest_command(name: str, path: str, children: Iterable[str]) -> str:
    """Return a question that names the command most like a misspelled one; empty when none is near.

    path: of the group; empty for the top level. children: the names of its commands.
    """
    if line := _find_sibling(name, path) if path else _GUESSES.get(name) or _find_verb(name):
        return f"did you mean {build_line(line)}?"
    offered = [*BUILT_IN, *(child for child in children if child not in _NEVER_SUGGESTED)]
    nearest = find_nearest(name, offered, likeness=0.75)
    return f"did you mean {nearest!r}?" if nearest else ""


def _find_verb(name: str) -> str:
    """Return the command of streams that has this name or alias; empty for none, or one that destroys."""
    for verb, entry in registry.list_children("stream").items():
        if name in (verb, *entry.aliases) and verb not in _NEVER_SUGGESTED:
            return f"stream {verb}"
    return ""


def _find_sibling(name: str, path: str) -> str:
    """Return the command of this name in a group of the same name further up: `auth keys rotate` for
    `auth account keys rotate`; empty for none."""
    *above, group = path.split()
    if name in _NEVER_SUGGESTED:
        return ""
    lines = [" ".join([*above[:depth], group, name]) for depth in range(1, len(above))]
    return next((line for line in lines if line in registry.list_commands()), "")


def simplify_row(flags: str, help: str) -> tuple[str, str]:
    """Return a flag and its help without the range and the type that click adds, such as `[x>=1]`."""
    return flags.replace("INTEGER RANGE", "N"), re.sub(r"\s*\[[^][]*x[<>]=?[^][]*\]$", "", help)
