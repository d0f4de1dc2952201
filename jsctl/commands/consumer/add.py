"""`jsctl consumer add`."""

from dataclasses import dataclass

from jsctl.commands.cli import argument, command
from jsctl.commands.consumer.flags import NewConsumerFlags, consumer_flags
from jsctl.commands.shared.adding import AddOptions, add_flags
from jsctl.commands.shared.pick import consumer_name, pick_stream, stream_name
from jsctl.env import Env
from jsctl.jetstream.api import Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import CONSUMER, with_name
from jsctl.prompts import consumer as questions
from jsctl.views.consumer import info as view
from jsctl.views.result import Result, Text


@dataclass(frozen=True, slots=True)
class Options:
    """stream, consumer: names, empty where they are asked for; the consumer's may be in the file."""

    stream: str
    consumer: str
    add: AddOptions
    flags: NewConsumerFlags


@command(
    "add",
    options=Options,
    examples=[
        "jsctl consumer add ORDERS NEW --filter ORDERS.received --ack explicit --pull --sample 100",
        "jsctl consumer add ORDERS MONITOR --filter '' --ack none --target monitor.ORDERS --deliver last",
        "jsctl consumer add ORDERS WORK --pull --backoff 1s,10s,1m --max-deliver 5 --defaults",
        "jsctl consumer add ORDERS NEW --config new.json --max-pending 100",
    ],
)
@argument("stream", default="")
@argument("consumer", default="")
@add_flags
@consumer_flags("add")
async def add(env: Env, options: Options) -> Result:
    """Asks for what flags leave out; with --defaults, or without a terminal, what has a default takes it.
    A pull consumer acknowledges explicitly, a push consumer (--target) not at all, unless --ack says
    otherwise.
    """
    flags = options.flags
    draft = flags.apply(options.add.read_config(env, CONSUMER), env.clock())
    named = options.consumer or draft.get("durable_name") or draft.get("name") or ""
    temporary = flags.ephemeral or bool(
        options.add.config and not draft.get("durable_name") and (draft.get("name") or not options.consumer)
    )
    stream = stream_name(options.stream) if options.stream else ""
    if not named:
        named = consumers.new_name() if temporary else await questions.ask_name(env.prompter)
    draft = with_name(draft, consumer_name(named), ephemeral=temporary)
    if options.add.asks(env):
        draft = await questions.ask_rest(
            env.prompter,
            draft,
            pull=flags.pull,
            all_subjects="filter" in flags.fields,
            now=env.clock(),
        )
    draft = CONSUMER.with_defaults(draft)
    CONSUMER.validate(draft)
    if options.add.is_local:
        return options.add.save(draft, f"consumer {named}")
    return await _create(env, stream, draft)


async def _create(env: Env, stream: str, draft: Json) -> Result:
    api = await env.jetstream()
    stream = await pick_stream(env, api, stream)
    info, created = await consumers.create(api, stream, draft)
    result = view.sheet(info)
    if not created:
        outcome = f"Consumer {stream} > {info['name']} exists already, nothing was changed"
        result = result._replace(parts=[Text(outcome), *result.parts])
    return result
