"""`jsctl stream copy`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.options.data_loss import confirm_taking, find_taken
from jsctl.commands.picking.pick import pick_stream, validate_stream_name
from jsctl.commands.stream.copy_data import DataOptions, copy_data, data_flags, open_endpoints
from jsctl.commands.stream.flags import SECTIONS, StreamFlags, stream_flags
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.backup.marks import remove_mark
from jsctl.jetstream.config.differences import find_differences
from jsctl.jetstream.declared.model import without_label
from jsctl.jetstream.identity import are_same
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.config import STREAM, find_warnings
from jsctl.nats.subjects import validate_name
from jsctl.views.intent import Intent
from jsctl.views.result import Result, Text
from jsctl.views.stream import info as view

_SEALED = ("sealed", "deny_delete", "deny_purge")  #: set by sealing, which an empty stream does not allow


@command(
    "copy",
    sections=SECTIONS,
    examples=[
        "jsctl stream copy ORDERS ORDERS2 --subjects 'ORDERS2.>'",
        "jsctl stream copy ORDERS ORDERS_OLD --data --subjects 'old.>'",
        "jsctl stream copy ORDERS ORDERS --data --from-domain leaf --to-domain hub",
        "jsctl stream copy ORDERS ORDERS --data --from-context east --to-context west --consumers",
    ],
)
@argument("stream", metavar="SOURCE", default="")
@argument("destination", default="")
@stream_flags("copy")
@data_flags
async def copy(env: Env, stream: str, destination: str, options: DataOptions, flags: StreamFlags) -> Result:
    """Replace settings of the source with those that flags name.

    With --data the messages are copied, too, with their sequences, subjects, headers and times: a snapshot of
    the source is restored as the copy, and all messages are compared afterwards. If it is interrupted, run it
    again: if servers allow that, it sends what is missing and continues with the comparison.
    """
    if not stream:
        stream = await pick_stream(
            env, await env.jetstream(options.from_context or None, options.from_domain), ""
        )
    if not destination:
        destination = await env.prompter.text("Name of the copy", flag="DESTINATION", check=validate_name)
    stream, destination = validate_stream_name(stream), validate_stream_name(destination)
    source, target = await open_endpoints(env, options, stream, destination)
    if stream == destination and await are_same([source.api, target.api]):
        raise BadInput("the copy has the name of its source in the same JetStream", "use another name")
    draft = _build_draft(
        env, (await streams.fetch_info(source.api, stream))["config"], destination, flags, options
    )
    for warning in find_warnings(draft, target.api.own_domain):
        env.say(f"warning: {warning}")
    losing = await find_taken(env, target.api, draft)
    if not env.dry_run:
        await confirm_taking(env, options.permits, f"copy Stream {stream}", losing)
    if options.data:
        return await copy_data(env, options, source, target, draft)
    if env.dry_run:
        await _announce(env, target.api, draft)
    info, created = await streams.create(target.api, draft)
    outcome = "was created" if created else "already exists, nothing was changed"
    result = view.info_page(info)
    return Result([Text(f"Stream {destination} {outcome}"), *result.parts], data=result.data)


async def _announce(env: Env, api: Api, draft: Json) -> None:
    """End a dry run with what would be created. Raises JsctlError if another stream has the name."""
    name = draft["name"]
    existing = await streams.fetch_info_or_none(api, name)
    if existing is not None and find_differences(
        STREAM.without_server_keys(existing["config"]), draft, STREAM
    ):
        raise JsctlError(f"stream {name} already exists with another configuration", "use another name")
    action = "leave Stream" if existing is not None else "create Stream"
    more = " as it is" if existing is not None else " without messages"
    env.announce(Intent(f"{action} {name}{more}", {"stream": name, "exists": existing is not None}))


def _build_draft(env: Env, live: Json, destination: str, flags: StreamFlags, data: DataOptions) -> Json:
    """Return the configuration of the copy. live: that of the source. Raises BadInput."""
    if live.get("sealed") and not data.data:
        env.say(f"warning: Stream {live['name']} is sealed; without messages its copy is not")
        live = {key: value for key, value in live.items() if key not in _SEALED}
    config = without_label(remove_mark(STREAM.without_server_keys(live)))
    draft = {**flags.apply(config), "name": destination}
    STREAM.validate(draft)
    return draft
