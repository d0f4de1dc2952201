"""`jsctl context ls`."""

from collections.abc import Sequence

from jsctl.commands.cli import command, option
from jsctl.contexts.model import Context, strip_login
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.views.result import Cell, Column, Lines, Result, Table, list_names

_COLUMNS = (
    Column("Name", "name"),
    Column("Description", "description", "prose"),
    Column("URL", "url", "url"),
)


def _show_listing(contexts: Sequence[Context], selected: str, *, show_secrets: bool = False) -> Result:
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
        return Result([Table("", _COLUMNS, (), empty="No known contexts")], data=data)
    rows = [
        (
            Cell(context.name, context.name + "*", "good") if context.name == selected else context.name,
            context.get("description"),
            strip_login(context.get("url")),
        )
        for context in contexts
    ]
    return Result([Table("Known Contexts", _COLUMNS, rows)], data=data)


def _show_completions(contexts: Sequence[Context], selected: str) -> Result:
    """Show `name:description` lines, the form that shell completion reads; a star marks the selected one."""
    lines = []
    for context in contexts:
        mark = "*" if context.name == selected else ""
        name = context.name.replace(":", "\\:")
        lines.append(f"{name}{mark}:{context.get('description')}")
    return Result([Lines(lines, whole=True)] if lines else [], data=lines)


@command("ls", columns=_COLUMNS, examples=["jsctl context ls", "jsctl context ls --names"])
@option("--names", "names_only", is_flag=True, help="Only names, one per line")
@option("--completion", is_flag=True, hidden=True, help="name:description, for shell completion")
@option("--show-secrets", is_flag=True, help="Show secrets in --json")
def ls(env: Env, names_only: bool, completion: bool, show_secrets: bool) -> Result:
    store = env.contexts
    if names_only and not env.wants_json:
        return list_names(store.names())
    contexts = []
    for name in store.names():
        try:
            contexts.append(store.load(name))
        except JsctlError as error:
            if not completion:
                env.say(f"jsctl: {error}")
    if completion:
        return _show_completions(contexts, store.selected())
    return _show_listing(contexts, store.selected(), show_secrets=show_secrets)
