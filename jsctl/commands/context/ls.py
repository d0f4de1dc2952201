"""`jsctl context ls`."""

from jsctl.commands.cli import command, option
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.views.context import ls as view
from jsctl.views.result import Result


@command("ls", columns=view.COLUMNS, examples=["jsctl context ls", "jsctl context ls --names"])
@option("--names", "names_only", is_flag=True, help="Only names, one per line")
@option("--completion", is_flag=True, hidden=True, help="name:description, for shell completion")
@option("--show-secrets", is_flag=True, help="Show secrets in --json")
def ls(env: Env, names_only: bool, completion: bool, show_secrets: bool) -> Result:
    store = env.contexts
    if names_only and not env.wants_json:
        return view.names(store.names())
    contexts = []
    for name in store.names():
        try:
            contexts.append(store.load(name))
        except JsctlError as error:
            if not completion:
                env.say(f"jsctl: {error}")
    if completion:
        return view.completions(contexts, store.selected())
    return view.listing(contexts, store.selected(), show_secrets=show_secrets)
