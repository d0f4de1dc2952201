"""`jsctl consumer add`."""

from typing import Any

from jsctl.commands.cli import argument, command
from jsctl.commands.consumer.flags import consumer_flags, laid
from jsctl.commands.shared import adding
from jsctl.commands.shared.pick import consumer_name, pick_stream, stream_name
from jsctl.env import Env
from jsctl.jetstream.api import Json
from jsctl.jetstream.consumer import config as configs
from jsctl.jetstream.consumer import requests as consumers
from jsctl.prompts import consumer as questions
from jsctl.views.consumer import info as view
from jsctl.views.result import Result, Text


@command(
    "add",
    examples=[
        "jsctl consumer add ORDERS NEW --filter ORDERS.received --ack explicit --pull --sample 100",
        "jsctl consumer add ORDERS MONITOR --filter '' --ack none --target monitor.ORDERS --deliver last",
        "jsctl consumer add ORDERS WORK --pull --backoff 1s,10s,1m --max-deliver 5 --defaults",
        "jsctl consumer add ORDERS NEW --config new.json --max-pending 100",
    ],
)
@argument("stream", default="")
@argument("consumer", default="")
@adding.add_flags
@consumer_flags("add")
async def add(env: Env, stream: str, consumer: str, **flags: Any) -> Result:
    """Asks for what flags leave out; with --defaults, or without a terminal, what has a default takes it.
    A pull consumer acknowledges explicitly, a push consumer (--target) not at all, unless --ack says
    otherwise.
    """
    draft = laid(adding.read_file(env, flags, configs.parse_config), flags, env.clock())
    named = consumer or draft.get("durable_name") or draft.get("name") or ""
    temporary = flags["ephemeral"] or bool(
        flags["config"] and not draft.get("durable_name") and (draft.get("name") or not consumer)
    )
    if stream:
        stream = stream_name(stream)
    if not named:
        named = consumers.new_name() if temporary else await questions.ask_name(env.prompter)
    draft = configs.named(draft, consumer_name(named), ephemeral=temporary)
    if adding.asks(env, flags):
        draft = await questions.ask_rest(
            env.prompter,
            draft,
            pull=flags["pull"],
            all_subjects=bool(flags["filter"]),
            now=env.clock(),
        )
    draft = configs.with_defaults(draft)
    configs.check(draft)
    if adding.is_local(flags):
        return adding.kept(draft, f"consumer {named}", flags)
    return await _created(env, stream, draft)


async def _created(env: Env, stream: str, draft: Json) -> Result:
    api = await env.jetstream()
    stream = await pick_stream(env, api, stream)
    info, created = await consumers.create(api, stream, draft)
    result = view.sheet(info)
    if not created:
        told = f"Consumer {stream} > {info['name']} exists already, nothing was changed"
        result = result._replace(parts=[Text(told), *result.parts])
    return result
