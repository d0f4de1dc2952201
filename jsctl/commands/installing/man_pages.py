"""Pages for `man`, one for each command ("jsctl-stream-add"), made from the commands that the registry names.

The build of a wheel packs them, and `jsctl manual --man` writes them for installations that `man` does not
search.
"""

import inspect
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from jsctl import __version__, manual, registry
from jsctl.base.command_lines import build_line
from jsctl.base.files import naming_write_errors, write_atomically
from jsctl.base.user_folders import find_data_folder
from jsctl.commands.cli.global_flags import is_own
from jsctl.commands.cli.groups import Group
from jsctl.commands.cli.verbs import Command
from jsctl.errors import ExitStatus

_FIRST = '.\\" Made by jsctl from its commands; changes are lost.'
"""The first line of a page, by which those of jsctl are known."""


def build_pages(root: click.Group) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each page, such as `jsctl-stream-add.1`. root: the command `jsctl`."""
    for path in ("", *registry.list_commands()):
        ctx = _make_context(root, path.split())
        yield f"{_name_page(path)}.1", "\n".join(_build_page(path, ctx)) + "\n"


def _make_context(root: click.Group, words: Sequence[str]) -> click.Context:
    ctx = click.Context(root, info_name="jsctl")
    for word in words:
        command = ctx.command.get_command(ctx, word) if isinstance(ctx.command, click.Group) else None
        if command is None:
            raise RuntimeError(f"there is no command {' '.join(words)}")
        ctx = click.Context(command, info_name=word, parent=ctx)
    return ctx


def _name_page(path: str) -> str:
    return "jsctl" + "".join(f"-{word}" for word in path.split())


def _build_page(path: str, ctx: click.Context) -> Iterator[str]:
    command = ctx.command
    if not isinstance(command, Command | Group):
        raise TypeError(f"{path} is not a command of jsctl")
    title = _name_page(path)
    paragraphs = [part for part in (command.help or "").split("\n\n") if part.strip()]
    summary = command.summary or " ".join(paragraphs.pop(0).split()).rstrip(".")
    yield _FIRST
    yield f'.TH "{title.upper()}" 1 "" "jsctl {__version__}" "jsctl"'
    yield from (".nh", ".ad l")  # a flag is never broken
    yield from (".SH NAME", f"{title} \\- {_escape(summary)}")
    yield from (".SH SYNOPSIS", f".B {_escape(ctx.command_path)}")
    yield _escape(" ".join(command.collect_usage_pieces(ctx)))
    if paragraphs:
        yield ".SH DESCRIPTION"
    for paragraph in paragraphs:
        if paragraph.lstrip().startswith("\b"):  # its lines stay as they are
            yield from (".PP", ".nf", _escape(inspect.cleandoc(paragraph.replace("\b", ""))), ".fi")
        else:
            yield from (".PP", _escape(" ".join(paragraph.split())))
    for section, rows in command.list_sections(ctx):
        yield from _list(section.upper(), rows)
    if isinstance(command, click.Group):
        yield from _list("COMMANDS", _list_commands(path))
    if command.examples:
        yield from (".SH EXAMPLES", ".EX", *map(_escape, command.examples), ".EE")
    if not path:
        shared = [param for param in command.params if not is_own(param)]
        records = [record for param in shared if (record := param.get_help_record(ctx))]
        yield from _list("GLOBAL FLAGS, ANYWHERE ON THE LINE", records)
        yield from _list("EXIT STATUS", ((str(int(status)), status.meaning) for status in ExitStatus))
    yield from (".SH SEE ALSO", *_list_related(path))


def _list_commands(path: str) -> Iterator[tuple[str, str]]:
    for name, entry in registry.list_children(path).items():
        also = f" ({', '.join(entry.aliases)})" if entry.aliases else ""
        yield name + also, entry.help


def _list_related(path: str) -> Iterator[str]:
    words = path.split()
    topic = manual.find_topic(words[0]) if words else "start"
    above = [_name_page(" ".join(words[:count])) for count in range(len(words))]
    yield ",\n".join(
        [*(f"\\fB{_escape(page)}\\fR(1)" for page in above), _escape(build_line("manual", topic, place=()))]
    )


def _list(title: str, rows: "Iterator[tuple[str, str]] | Sequence[tuple[str, str]]") -> Iterator[str]:
    """Yield a section with a list; nothing for an empty list."""
    for at, (term, text) in enumerate(rows):
        if not at:
            yield f'.SH "{_escape(title)}"'
        yield from (".TP", f"\\fB{_escape(term)}\\fR", _escape(" ".join(text.split())))


def _escape(text: str) -> str:
    """Return text that man shows as it is: no character of it is a command of roff."""
    return re.sub(r"^(?=[.'])", r"\\&", text.replace("\\", "\\e").replace("-", "\\-"), flags=re.MULTILINE)


def find_folder(environ: Mapping[str, str]) -> Path:
    """Return the user's folder of pages, which `man` searches when ~/.local/bin is on PATH."""
    return find_data_folder(environ) / "man" / "man1"


def is_searched(folder: Path, environ: Mapping[str, str]) -> bool:
    """Return whether `man` looks for pages in a folder that exists."""
    program = shutil.which("manpath", path=environ.get("PATH", ""))
    if not program:
        return False
    try:
        done = subprocess.run(
            [program], capture_output=True, text=True, timeout=30, check=False, env=dict(environ)
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return str(folder.parent) in done.stdout.strip().split(os.pathsep)


def install(root: click.Group, folder: Path) -> int:
    """Write all pages to a folder, and return how many they are. Pages of an earlier version go."""
    with naming_write_errors():
        folder.mkdir(parents=True, exist_ok=True)
        uninstall(folder)
        pages = list(build_pages(root))
        for name, text in pages:
            write_atomically(folder / name, text, mode=None, durable=False)
    return len(pages)


def uninstall(folder: Path) -> int:
    """Remove the pages that jsctl has written to a folder, and return how many they were."""
    count = 0
    with naming_write_errors():
        for file in folder.glob("jsctl*.1"):
            if file.read_text(encoding="utf-8", errors="replace").startswith(_FIRST):
                file.unlink()
                count += 1
    return count
