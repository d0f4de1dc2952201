"""`jsctl context add`."""

from typing import Any

from jsctl.commands.cli import argument, command, option
from jsctl.commands.context._save import layer, save
from jsctl.contexts.settings import from_context
from jsctl.env import Env
from jsctl.views.result import Result


@command(
    "add",
    examples=[
        "jsctl context add hub --server nats://localhost:4111 --user acc --password acc --select",
        "jsctl context add spoke --creds spoke.creds --server nats://localhost:4222 --js-domain spoke-1",
    ],
)
@argument("name", noun="context")
@option("--description", metavar="TEXT", help="Friendly description, shown when listing")
@option("--select", "-S", "select_it", is_flag=True, help="Select the saved context")
@option("--nsc", metavar="URL", help="User to look up with nsc: nsc://operator/account/user")
@option("--defaults", is_flag=True, help="Ask nothing; take the default for what flags left out")
async def add(
    env: Env, name: str, description: str | None, select_it: bool, nsc: str | None, defaults: bool
) -> Result:
    """An existing context keeps what no flag replaces; --context names one to start a new one from.
    On a terminal, asks for the server and the login when flags left them out.
    """
    store = env.contexts
    known = store.exists(name)
    base = store.load(name) if known else None
    if base is None and env.flags.get("context"):
        base = store.find(env.flags["context"])
    values = layer(env, description, nsc)
    if env.can_ask and not defaults and _asks(values, known):
        from jsctl.prompts.contexts import ask

        present = from_context(base) | {"description": base.get("description")} if base else {}
        values |= await ask(env.prompter, values, present)
    return save(env, name, base, values, select=select_it)


def _asks(values: dict[str, Any], known: bool) -> bool:
    """A new context is asked about until server and login are given; a known one when no flag is."""
    from jsctl.prompts.contexts import has_login

    if known:
        return not values
    return not (values.get("nsc") or (values.get("url") and has_login(values)))
