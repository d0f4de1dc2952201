"""`jsctl stream add`."""

from typing import Any

from jsctl.commands.cli import argument, command, option
from jsctl.commands.config_output import saved
from jsctl.commands.pick import stream_name
from jsctl.commands.stream.flags import given, stream_flags
from jsctl.env import Env, read_input
from jsctl.jetstream import config as configs
from jsctl.jetstream import streams
from jsctl.jetstream.api import Api, Json
from jsctl.prompts import stream as questions
from jsctl.views import stream_info as view
from jsctl.views.result import Result, Text

SIZE_WHERE_NEEDED = 256 << 20
"""Bytes of a stream that said nothing, in an account that wants a limit (as the `nats` tool has it)."""


@command(
    "add",
    examples=[
        "jsctl stream add ORDERS --subjects 'ORDERS.*' --max-age 1y --defaults",
        "jsctl stream add backup --mirror ORDERS@leaf --defaults",
        "jsctl stream add all --source ORDERS@east --source ORDERS@west,start=1000 --defaults",
        "jsctl stream add copy --mirror ORDERS,api=JS.acc@hub.API,deliver=deliver.acc.hub --defaults",
        "jsctl stream add ORDERS --config orders.yaml --replicas 3",
    ],
)
@argument("stream", default="")
@option("--config", "config_file", metavar="FILE", help="Configuration in JSON or YAML; flags win over it")
@option("--validate", is_flag=True, help="Only check the configuration")
@option("--output", metavar="FILE", help="Save the configuration (- prints it) instead of creating")
@stream_flags("add")
@option("--defaults", is_flag=True, help="Take every default instead of asking")
async def add(
    env: Env,
    stream: str,
    config_file: str | None,
    validate: bool,
    output: str | None,
    defaults: bool,
    **flags: Any,
) -> Result:
    """Create a stream.

    Asks for what flags leave out; with --defaults, or without a terminal, what has a default takes it.

    A mirror or source is a stream's NAME; NAME@DOMAIN takes it from another JetStream domain.
    Settings may follow: NAME,api=PREFIX,deliver=PREFIX for another account, start=SEQUENCE or
    start=TIME, filter=SUBJECT or filter=SUBJECT:DESTINATION. The server's own JSON works, too.
    """
    base = configs.parse_config(read_input(config_file, env), config_file) if config_file else {}
    draft = configs.lay(base, given(flags))
    if stream:
        draft["name"] = stream_name(stream)
    only_local = validate or bool(output)
    api = None if only_local else await env.jetstream()
    draft = await _complete(env, api, draft, ask=not (defaults or config_file), whole=bool(config_file))
    configs.check(draft)
    for warning in configs.warnings(draft):
        env.say(f"warning: {warning}")
    if validate:
        return Result([Text(f"the configuration of stream {draft['name']} is valid")], data=draft)
    if output:
        return saved(draft, output, f"stream {draft['name']}")
    assert api is not None
    info, created = await streams.create(api, draft)
    name = draft["name"]
    told = f"Stream {name} was created" if created else f"Stream {name} exists already, nothing was changed"
    result = view.sheet(info)
    return Result([Text(told), *result.parts], data=result.data)


async def _complete(env: Env, api: Api | None, draft: Json, *, ask: bool, whole: bool) -> Json:
    """The draft with its name and subjects, then answers or defaults. whole: a file said the rest."""
    if not draft.get("name"):
        draft["name"] = await questions.ask_name(env.prompter)
    if not whole and not any(draft.get(key) for key in ("subjects", "mirror", "sources")):
        draft["subjects"] = await questions.ask_subjects(env.prompter)
    size_needed = False
    if api is not None and "max_bytes" not in draft:
        size_needed = streams.needs_max_bytes(await streams.account(api))
    if ask and env.can_ask:
        draft = await questions.ask_rest(env.prompter, draft, size_needed=size_needed)
    elif size_needed:
        draft["max_bytes"] = SIZE_WHERE_NEEDED
    return configs.with_defaults(draft)
