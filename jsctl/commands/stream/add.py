"""`jsctl stream add`."""

from jsctl.base.command_lines import Suggestion
from jsctl.commands.cli import argument, command
from jsctl.commands.editing.adding import AddOptions, add_flags, ask_all
from jsctl.commands.options.data_loss import LossOptions, confirm_taking, find_taken, loss_flags
from jsctl.commands.picking.pick import validate_stream_name
from jsctl.commands.stream.flags import SECTIONS, StreamFlags, stream_flags
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream import api_levels
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.availability import check_name_is_free, check_subjects_are_free
from jsctl.jetstream.stream.config import STREAM, find_warnings
from jsctl.prompts import stream as questions
from jsctl.prompts.prompter import Prompter
from jsctl.views.result import Result, Text
from jsctl.views.stream import info as view

SIZE_WHERE_NEEDED = 256 << 20
"""max_bytes of a stream without one, in an account that requires it; the `nats` tool takes the same."""


@command(
    "add",
    sections=SECTIONS,
    examples=[
        "jsctl stream add ORDERS --subjects 'ORDERS.*' --max-age 1y --defaults",
        "jsctl stream add backup --mirror ORDERS@leaf --defaults",
        "jsctl stream add all --source ORDERS@east --source ORDERS@west,start=1000 --defaults",
        "jsctl stream add copy --mirror ORDERS,api=JS.acc@hub.API,deliver=deliver.acc.hub --defaults",
        "jsctl stream add ORDERS --config orders.yaml --replicas 3",
    ],
)
@argument("stream", default="")
@add_flags
@loss_flags
@stream_flags("add")
async def add(env: Env, stream: str, adding: AddOptions, permits: LossOptions, flags: StreamFlags) -> Result:
    """Ask for what the flags leave out; with --defaults, or without a terminal, take the defaults.

    A mirror or source is a stream's NAME; NAME@DOMAIN takes it from another JetStream domain. Settings may
    follow: NAME,api=PREFIX,deliver=PREFIX for another account, start=SEQUENCE or start=TIME, filter=SUBJECT
    or filter=SUBJECT:DESTINATION. The server's own JSON works as well.
    """
    initial = flags.apply(adding.read_config(env, STREAM))
    if stream:
        initial["name"] = validate_stream_name(stream)
    api = None if adding.is_local else await env.jetstream()
    draft = await _complete_draft(env, api, initial, adding)
    STREAM.validate(draft)
    for warning in find_warnings(draft, api.own_domain if api else ""):
        env.say(f"warning: {warning}")
    if api is None:
        return adding.save(draft, f"stream {draft['name']}", STREAM)
    await confirm_taking(env, permits, f"add Stream {draft['name']}", await find_taken(env, api, draft))
    info, created = await streams.create(
        api, draft if adding.config else STREAM.without_defaults(draft, initial)
    )
    outcome = "was created" if created else "already exists, nothing was changed"
    result = view.info_page(info)
    return Result([Text(f"Stream {draft['name']} {outcome}"), *result.parts], data=result.data)


async def _complete_draft(env: Env, api: Api | None, initial: Json, options: AddOptions) -> Json:
    """Return the draft with its name, subjects, and the answers or defaults."""
    size_needed = False
    if api is not None and "max_bytes" not in initial:
        size_needed = streams.needs_max_bytes(await api_levels.fetch_account_info(api))

    async def begin() -> None:
        if api is not None:
            await _check_is_free(api, initial)

    async def ask(prompter: Prompter) -> Json:
        draft = dict(initial)
        if not draft.get("name"):
            draft["name"] = await questions.ask_name(prompter, api)
        if not options.config and not any(draft.get(key) for key in ("subjects", "mirror", "sources")):
            draft["subjects"] = await questions.ask_subjects(prompter, api)
        if options.asks(env):
            draft = await questions.ask_rest(prompter, draft, size_needed=size_needed)
        elif size_needed and not options.config:
            draft["max_bytes"] = SIZE_WHERE_NEEDED
        return draft if options.config else STREAM.with_defaults(draft)

    def suggest(draft: Json) -> Suggestion:
        return Suggestion("stream add", [draft["name"]], [*STREAM.to_flags(draft), "--defaults"])

    return await ask_all(env, ask, suggest, begin)


async def _check_is_free(api: Api, draft: Json) -> None:
    """Raise JsctlError, before the first question, for a name or subjects of the command line that are
    taken."""
    try:
        if draft.get("name"):
            await check_name_is_free(api, draft["name"])
        await check_subjects_are_free(api, draft.get("subjects") or [])
    except ValueError as error:
        raise JsctlError(str(error)) from None
