"""`jsctl stream add`."""

from typing import Any

from jsctl.commands.cli import argument, command
from jsctl.commands.shared import adding
from jsctl.commands.shared.pick import stream_name
from jsctl.commands.stream.flags import given, stream_flags
from jsctl.env import Env
from jsctl.jetstream import api_levels
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.stream import config as configs
from jsctl.jetstream.stream import requests as streams
from jsctl.prompts import stream as questions
from jsctl.views.result import Result, Text
from jsctl.views.stream import info as view

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
@adding.add_flags
@stream_flags("add")
async def add(env: Env, stream: str, **flags: Any) -> Result:
    """Asks for what flags leave out; with --defaults, or without a terminal, what has a default takes it.

    A mirror or source is a stream's NAME; NAME@DOMAIN takes it from another JetStream domain.
    Settings may follow: NAME,api=PREFIX,deliver=PREFIX for another account, start=SEQUENCE or
    start=TIME, filter=SUBJECT or filter=SUBJECT:DESTINATION. The server's own JSON works, too.
    """
    draft = configs.lay(adding.read_file(env, flags, configs.parse_config), given(flags))
    if stream:
        draft["name"] = stream_name(stream)
    api = None if adding.is_local(flags) else await env.jetstream()
    draft = await _complete(env, api, draft, ask=adding.asks(env, flags), whole=bool(flags["config"]))
    configs.check(draft)
    for warning in configs.warnings(draft, api.own_domain if api else ""):
        env.say(f"warning: {warning}")
    if api is None:
        return adding.kept(draft, f"stream {draft['name']}", flags)
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
        size_needed = streams.needs_max_bytes(await api_levels.account_info(api))
    if ask:
        draft = await questions.ask_rest(env.prompter, draft, size_needed=size_needed)
    elif size_needed:
        draft["max_bytes"] = SIZE_WHERE_NEEDED
    return configs.with_defaults(draft)
