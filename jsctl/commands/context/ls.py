"""`jsctl context ls`."""

from jsctl.commands.cli import command, option
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.views.context import contexts as view
from jsctl.views.result import Result, Text


@command("ls", examples=["jsctl context ls", "jsctl context ls --names"])
@option("--names", "names_only", is_flag=True, help="Only names, one a line")
@option("--completion", is_flag=True, hidden=True, help="name:description, for shell completion")
@option("--show-secrets", is_flag=True, help="Show secrets in --json")
def ls(env: Env, names_only: bool, completion: bool, show_secrets: bool) -> Result:
    store = env.contexts
    if names_only:
        return view.names(store.names())
    selected = store.selected()
    found = []
    for name in store.names():
        try:
            found.append(store.load(name))
        except JsctlError as error:
            if not completion:
                env.say(f"jsctl: {error}")
    if completion:
        lines = [
            c.name.replace(":", "\\:") + "*" * (c.name == selected) + f":{c.get('description')}"
            for c in found
        ]
        return Result([Text("\n".join(lines))] if lines else [], data=lines)
    return view.listing(found, selected, show_secrets=show_secrets)
