"""Markdown on a terminal: by rich, with titles and code at the left, and other pages as commands."""

import io
import re

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown
from rich.padding import Padding
from rich.text import Text
from rich.theme import Theme

from jsctl.base.command_lines import build_line

_WIDEST = 100
_LINK = re.compile(r"\[([^]]+)\]\((\w+)\.md(?:#[\w-]+)?\)")
_THEME = Theme({"markdown.code": "cyan", "markdown.item.bullet": ""})
_STYLES = {"h1": "bold underline", "h2": "bold", "h3": "italic"}


class _Heading(Heading):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self.text.plain, style=_STYLES.get(self.tag, ""))


class _Code(CodeBlock):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Padding(Text(self.text.plain.rstrip("\n")), (0, 0, 0, 4))


class _Markdown(Markdown):
    elements = Markdown.elements | {"heading_open": _Heading, "fence": _Code, "code_block": _Code}


def format_markdown(text: str, width: int, *, color: bool) -> str:
    """Return a page as it is shown on a terminal with `width` columns."""
    page = _LINK.sub(_name_command, text)
    console = Console(
        file=io.StringIO(),
        width=min(width, _WIDEST),
        force_terminal=color,
        color_system="standard" if color else None,
        legacy_windows=False,
        theme=_THEME,
        _environ={},
    )
    with console.capture() as shown:
        console.print(_Markdown(page, hyperlinks=False))
    return "\n".join(line.rstrip() for line in shown.get().splitlines()).strip("\n")


def _name_command(link: re.Match[str]) -> str:
    """Return a link to another page as its text and the command that shows it."""
    return f"{link[1]} (`{build_line('manual', link[2])}`)"
