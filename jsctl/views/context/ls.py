"""`context ls`: the contexts and their descriptions."""

from collections.abc import Sequence

from jsctl.contexts.model import Context, strip_login
from jsctl.views.result import Cell, Column, Lines, Result, Table

COLUMNS = (Column("Name", "name"), Column("Description", "description", "prose"), Column("URL", "url", "url"))


def listing(contexts: Sequence[Context], selected: str, *, show_secrets: bool = False) -> Result:
    """Show all contexts; a star marks the selected one."""
    data = [
        {
            "name": context.name,
            **context.document(show_secrets=show_secrets),
            "selected": context.name == selected,
        }
        for context in contexts
    ]
    if not contexts:
        return Result([Table("", COLUMNS, (), empty="No known contexts")], data=data)
    rows = [
        (
            Cell(context.name, context.name + "*", "good") if context.name == selected else context.name,
            context.get("description"),
            strip_login(context.get("url")),
        )
        for context in contexts
    ]
    return Result([Table("Known Contexts", COLUMNS, rows)], data=data)


def names(contexts: Sequence[str]) -> Result:
    """Show one name per line."""
    return Result([Lines(contexts, whole=True)] if contexts else [], data=list(contexts))


def completions(contexts: Sequence[Context], selected: str) -> Result:
    """Show `name:description` lines, the form that shell completion reads; a star marks the selected one."""
    lines = []
    for context in contexts:
        mark = "*" if context.name == selected else ""
        name = context.name.replace(":", "\\:")
        lines.append(f"{name}{mark}:{context.get('description')}")
    return Result([Lines(lines, whole=True)] if lines else [], data=lines)
