"""`jsctl context add`."""

from collections.abc import Mapping
from typing import Any

from jsctl.base.command_lines import Suggestion
from jsctl.commands.cli import argument, command, option
from jsctl.commands.context.saving import ContextFlags, collect_values, context_flags, save
from jsctl.commands.editing.adding import ask_all
from jsctl.contexts.layers import from_context, to_flags
from jsctl.env import Env
from jsctl.prompts.contexts import ask, ask_name, has_login
from jsctl.prompts.prompter import Prompter
from jsctl.views.result import Result


@command(
    "add",
    examples=[
        "jsctl context add hub --server nats://localhost:4111 --user acc --password acc --select",
        "jsctl context add spoke --creds spoke.creds --server nats://localhost:4222 --js-domain spoke-1",
    ],
)
@argument("name", noun="context", default="")
@context_flags
@option("--defaults", is_flag=True, help="Use defaults for what the flags leave out, instead of asking")
async def add(env: Env, name: str, context: ContextFlags, defaults: bool) -> Result:
    """Save the address, login and settings. A password, token, creds, nkey, JWT or seed may say where it is:
    file://PATH, env://NAME, op://VAULT/ITEM/FIELD, data:;base64,TEXT, and nsc://OPERATOR/ACCOUNT/USER for
    creds.

    An existing context keeps what no flag replaces; a new one starts from the context of --context. On a
    terminal, jsctl asks for the server and the login if the flags leave them out.
    """
    store = env.contexts
    name = name or await ask_name(env.prompter)
    exists = store.exists(name)
    base = store.load(name) if exists else None
    if base is None and env.flags.get("context"):
        base = store.find(env.flags["context"])
    values = collect_values(env, context)
    if env.can_ask and not defaults and _needs_answers(values, exists):
        current = from_context(base) | {"description": base.get("description")} if base else {}

        flags = dict(values)

        async def questions(prompter: Prompter) -> dict[str, Any]:
            return flags | await ask(prompter, flags, current)

        def suggest(answers: dict[str, Any]) -> Suggestion:
            return Suggestion("context add", [name], [*to_flags(answers), "--defaults"])

        values = await ask_all(env, questions, suggest)
    return save(env, name, base, values, context)


def _needs_answers(values: Mapping[str, Any], exists: bool) -> bool:
    """Return whether to ask: for an existing context without any flag, for a new one without server or
    login.
    """
    if exists:
        return not values
    return not (values.get("nsc") or (values.get("url") and has_login(values)))
