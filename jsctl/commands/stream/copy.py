"""`jsctl stream copy`."""

from typing import Any

from jsctl.commands.cli import argument, command
from jsctl.commands.shared.pick import pick_stream, stream_name
from jsctl.commands.stream.copy_data import DataOptions, copy_data, data_flags, ends
from jsctl.commands.stream.flags import given, stream_flags
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.backup.marks import remove_mark
from jsctl.jetstream.declared.model import unlabelled
from jsctl.jetstream.stream import config as configs
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.subjects import check_name
from jsctl.views.result import Result, Text
from jsctl.views.stream import info as view

_SEALED = ("sealed", "deny_delete", "deny_purge")  #: an empty stream cannot be sealed, and sealing sets all


@command(
    "copy",
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
async def copy(
    env: Env,
    stream: str,
    destination: str,
    data: bool,
    from_context: str,
    to_context: str,
    from_domain: str | None,
    to_domain: str | None,
    consumers: bool,
    compare: bool,
    progress: bool,
    force: bool,
    **flags: Any,
) -> Result:
    """Flags replace single settings.

    With --data the messages come along, with their sequences, subjects, headers and times: a snapshot of the
    source is restored as the copy, and all messages are compared afterwards. Started again after it was
    interrupted, it sends what is missing, where servers allow that, and continues with the comparison.
    """
    options = DataOptions(
        data, from_context, to_context, from_domain, to_domain, consumers, compare, progress, force
    )
    if not stream:
        stream = await pick_stream(env, await env.jetstream(from_context or None, from_domain), "")
    if not destination:
        destination = await env.prompter.text("Name of the copy", flag="DESTINATION", check=check_name)
    stream, destination = stream_name(stream), stream_name(destination)
    source, target = await ends(env, options, stream, destination)
    if stream == destination and (source.api.connection, source.api.prefix) == (
        target.api.connection,
        target.api.prefix,
    ):
        raise BadInput("a copy needs a name of its own")
    live = (await streams.info(source.api, stream))["config"]
    if live.get("sealed") and not data:
        env.say(f"warning: Stream {stream} is sealed; without messages its copy is not")
        live = {key: value for key, value in live.items() if key not in _SEALED}
    draft = configs.lay(unlabelled(remove_mark(configs.without_reserved(live))), given(flags))
    draft["name"] = destination
    configs.check(draft)
    for warning in configs.warnings(draft, target.api.own_domain):
        env.say(f"warning: {warning}")
    if data:
        return await copy_data(env, options, source, target, draft)
    info, created = await streams.create(target.api, draft)
    told = f"Stream {destination} was {'created' if created else 'there already, nothing was changed'}"
    result = view.sheet(info)
    return Result([Text(told), *result.parts], data=result.data)
