"""Help in Markdown, for language models: in the form of the `nats` tool, with what each command may do."""

import inspect
from collections.abc import Iterable, Iterator, Sequence

import click

from jsctl import registry
from jsctl.base.units import format_exact_duration
from jsctl.commands.cli import DURATION
from jsctl.commands.cli.global_flags import is_own
from jsctl.commands.cli.help_text import simplify_row
from jsctl.registry.model import DESTROYS, READS

_ABOUT = """\
With LLMFORMAT=1, pages, tables and help are Markdown. --json prints one JSON document; an error is one on
stderr, {"error", "code", "err_code", "status", "hint"}. Without a terminal nothing is asked: what has no
default is an error that names the flag. Tags of commands:

- scope:user: any login will do
- scope:system: needs a login of the system account, or the keys of an operator
- impact:ro: reads only
- impact:rw: changes something on servers, or in the contexts, stores and networks of this machine
- destroys: may remove something for good; --dry-run shows what, and --force does it without a question
"""


def build_page(ctx: click.Context) -> str:
    """Return the help of a command."""
    return "\n".join(_build_lines(ctx)).replace("\n\n\n", "\n\n")


def format_tags(path: str, entry: registry.Entry) -> str:
    """Return the tags of a command by its path ("stream ls"); empty for a group."""
    if entry.group and not entry.runs:
        return ""
    tags = [f"scope:{entry.scope}", "impact:ro" if entry.impact == READS else "impact:rw"]
    with_flag = [f"impact:rw with {entry.changes_with}"] if entry.changes_with else []
    return ", ".join([*tags, *with_flag, *(["destroys"] if entry.impact == DESTROYS else [])])


def _build_lines(ctx: click.Context) -> Iterator[str]:
    command = ctx.command
    path = ctx.command_path.partition(" ")[2]
    entry = registry.list_commands().get(path)
    yield from (f"# {ctx.command_path}", "")
    if entry is not None:
        yield entry.help
        if tags := format_tags(path, entry):
            yield f"**Tags:** {tags}"
        if entry.aliases:
            yield f"**Aliases:** {', '.join(entry.aliases)}"
    if command.help:
        yield from ("", inspect.cleandoc(command.help))
    usage = " ".join([ctx.command_path, *command.collect_usage_pieces(ctx)])
    yield from ("", "## Usage", "", "```", usage, "```")
    if examples := getattr(command, "examples", ()):
        yield from ("", "## Examples", "", "```", *examples, "```")
    yield from _build_table(
        "Arguments",
        ("Argument", "Required"),
        ((f"`{p.name}`", _format_need(p)) for p in command.params if isinstance(p, click.Argument)),
    )
    options = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
    yield from _list_flags("Flags", [p for p in options if is_own(p)], ctx)
    if isinstance(command, click.Group):
        children = registry.list_children(path)
        below = ((f"{path} {name}".strip(), child) for name, child in children.items())
        yield from _build_table(
            "Commands" if not path else "Subcommands",
            ("Command", "Description", "Tags"),
            ((f"`{name}`", child.help, format_tags(name, child)) for name, child in below),
        )
    yield from _list_flags("Global Flags", [p for p in options if not is_own(p)], ctx)
    if not path:
        yield from ("", "## Additional Information", "", _ABOUT)


def _list_flags(title: str, options: Sequence[click.Option], ctx: click.Context) -> Iterator[str]:
    columns = ("Flag", "Description", "Type", "Default", "Required", "Env Var")
    yield from _build_table(title, columns, (_describe(option, ctx) for option in options))


def _describe(option: click.Option, ctx: click.Context) -> tuple[str, ...]:
    """Return the row of a flag."""
    names = [f"`{name}`" for name in (*option.opts, *option.secondary_opts)]
    kind = "bool" if option.is_flag else option.make_metavar(ctx)
    _, help = simplify_row("", option.help or "")
    variable = getattr(option, "environment", None) or option.envvar
    return (
        *(", ".join(names), help, f"`{kind}`"),
        *(_format_default(option), _format_need(option), f"`{variable}`" if variable else ""),
    )


def _format_default(option: click.Option) -> str:
    """Return the value of a flag that is not given; empty where that is none, 0 or said by the help alone."""
    value = option.default
    if option.is_flag or not value or not isinstance(value, str | int | float):
        return ""
    is_duration = option.type is DURATION and not isinstance(value, str)
    return f"`{format_exact_duration(int(value)) if is_duration else value}`"


def _format_need(parameter: click.Parameter) -> str:
    is_repeatable = parameter.multiple or parameter.nargs == -1
    return ("Yes" if parameter.required else "No") + ", repeatable" * is_repeatable


def _build_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    listed = [_join(row) for row in rows]
    if listed:
        yield from ("", f"## {title}", "", _join(columns), _join("---" for _ in columns), *listed)


def _join(cells: Iterable[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"
