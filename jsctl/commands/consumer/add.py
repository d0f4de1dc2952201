"""`jsctl consumer add`."""

from dataclasses import dataclass, replace

from jsctl.base.command_lines import Suggestion
from jsctl.base.files import read_input
from jsctl.commands.cli import argument, command, option
from jsctl.commands.consumer.edit import build_target
from jsctl.commands.consumer.flags import SECTIONS, NewConsumerFlags, consumer_flags
from jsctl.commands.editing.adding import AddOptions, add_flags, ask_all
from jsctl.commands.editing.editing import EditOptions, edit_config, find_key_rule
from jsctl.commands.options.data_loss import LossOptions, loss_flags
from jsctl.commands.picking.pick import open_stream, pick_stream, validate_name, validate_stream_name
from jsctl.env import Env
from jsctl.errors import JsctlError, MissingName
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.config.documents import parse_document
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.availability import check_filters, check_name_is_free
from jsctl.jetstream.consumer.config import CONSUMER, find_warnings, get_filters, with_name
from jsctl.jetstream.stream.availability import find_config
from jsctl.prompts import consumer as questions
from jsctl.prompts.prompter import Prompter
from jsctl.views.consumer import info as view
from jsctl.views.result import Result, Text


@dataclass(frozen=True, slots=True)
class Options:
    """stream, consumer: names, empty if they are in the file or asked for."""

    stream: str
    consumer: str
    add: AddOptions
    update: bool
    permits: LossOptions
    flags: NewConsumerFlags


@command(
    "add",
    sections=SECTIONS,
    examples=[
        "jsctl consumer add ORDERS NEW --filter ORDERS.received --ack explicit --pull --sample 100",
        "jsctl consumer add ORDERS MONITOR --filter '' --ack none --target monitor.ORDERS --deliver last",
        "jsctl consumer add ORDERS WORK --pull --backoff 1s,10s,1m --max-deliver 5 --defaults",
        "jsctl consumer add ORDERS NEW --config new.json --max-pending 100",
        "jsctl consumer add ORDERS NEW --pull --max-pending 100 --update --defaults",
    ],
)
@argument("stream", default="")
@argument("consumer", default="")
@add_flags
@option("--update", is_flag=True, help="Give an existing consumer this configuration, as nats does")
@loss_flags
@consumer_flags("add")
async def add(env: Env, options: Options) -> Result:
    """Ask for what the flags leave out; with --defaults, or without a terminal, take the defaults. The
    default of --ack is explicit for a pull consumer, and none for a push consumer (--target).
    """
    if env.mirrors_nats:  # CONSUMER_EXISTS
        options = replace(options, update=True)
    config, stream = _read_file(env, options.add.config)
    initial = options.flags.apply(config, env.clock())
    if env.mirrors_nats and initial.get("backoff"):  # EXCLUSIVE_FLAGS
        initial.pop("ack_wait", None)
    stream, draft = await _complete_draft(env, options, initial, options.stream or stream)
    CONSUMER.validate(draft)
    for warning in find_warnings(draft):
        env.say(f"warning: {warning}")
    if options.add.is_local:
        return options.add.save(draft, f"consumer {draft['name']}", CONSUMER)
    api, stream = await open_stream(env, stream)
    draft = draft if options.add.config else CONSUMER.without_defaults(draft, initial)
    updated = await _update(env, api, stream, draft, options) if options.update else None
    return updated or await _create(api, stream, draft)


def _read_file(env: Env, file: str | None) -> tuple[Json, str]:
    """Return the configuration of --config, and the stream that it names; both are empty without it."""
    if not file:
        return {}, ""
    text = read_input(file, env.streams.stdin)
    config = CONSUMER.parse_config(text, file, unknown=find_key_rule(env))
    node = parse_document(text, file).value.get("stream_name")
    return config, node.as_text("stream_name") if node else ""


async def _complete_draft(env: Env, options: Options, initial: Json, stream: str) -> tuple[str, Json]:
    """Return the stream's name, and the draft with its name and the answers or defaults.

    The stream's name is empty if it was neither given nor asked for.
    """
    flags, asks = options.flags, options.add.asks(env)
    stream = validate_stream_name(stream) if stream else ""
    chosen_name = options.consumer or initial.get("durable_name") or initial.get("name") or ""
    if chosen_name:
        validate_name("consumer", chosen_name)
    temporary = flags.ephemeral or bool(
        options.add.config
        and not initial.get("durable_name")
        and (initial.get("name") or not options.consumer)
    )
    name = chosen_name or (consumers.generate_name() if temporary else "")
    if not (asks or not name):
        draft = with_name(initial, name, ephemeral=temporary)
        return stream, draft if options.add.config else CONSUMER.with_defaults(draft)
    api = await env.jetstream() if asks and not options.add.is_local else None

    async def begin() -> None:
        if api is not None and stream:
            await _check_is_possible(api, stream, "" if options.update else chosen_name, initial)

    async def ask(prompter: Prompter) -> tuple[str, Json]:
        stream_name, config = stream, None
        if api is not None:
            stream_name = stream_name or await pick_stream(env, api, "", prompter=prompter)
            config = await find_config(api, stream_name)
        checks_name = None if options.update else api
        consumer_name = name or await questions.ask_name(prompter, checks_name, stream_name)
        draft = with_name(initial, validate_name("consumer", consumer_name), ephemeral=temporary)
        if asks:
            draft = await questions.ask_rest(
                prompter,
                draft,
                pull=flags.pull,
                all_subjects="filter" in flags.fields,
                now=env.clock(),
                api=api,
                stream_config=config,
            )
        return stream_name, draft if options.add.config else CONSUMER.with_defaults(draft)

    def suggest(answers: tuple[str, Json]) -> Suggestion:
        names = [answers[0] or "STREAM", CONSUMER.get_name(answers[1])]
        more = ["--update"] if options.update else []
        return Suggestion("consumer add", names, [*CONSUMER.to_flags(answers[1]), *more, "--defaults"])

    return await ask_all(env, ask, suggest, begin)


async def _check_is_possible(api: Api, stream: str, name: str, draft: Json) -> None:
    """Raise JsctlError, before the first question, for a name that is taken or a filter that does not fit the
    stream.
    """
    try:
        if name:
            await check_name_is_free(api, stream, name)
        if filters := get_filters(draft):
            await check_filters(api, await find_config(api, stream), filters)
    except ValueError as error:
        raise JsctlError(str(error)) from None


async def _update(env: Env, api: Api, stream: str, draft: Json, options: Options) -> Result | None:
    """Give an existing consumer this configuration; return None if it does not exist."""
    try:
        info = await consumers.fetch_info(api, stream, CONSUMER.get_name(draft))
    except MissingName:
        return None
    editing = EditOptions(
        config_file=None,
        replace=True,
        force=True,
        interactive=False,
        dry_run=False,
        permits=options.permits,
    )
    target = build_target(api, stream, info["config"], lambda config: config)
    return await edit_config(env, replace(target, find_warnings=None), draft, editing)


async def _create(api: Api, stream: str, draft: Json) -> Result:
    info, created = await consumers.create(api, stream, draft)
    result = view.info_page(info)
    if not created:
        outcome = f"Consumer {stream} > {info['name']} already exists, nothing was changed"
        result = result._replace(parts=[Text(outcome), *result.parts])
    return result
