"""`jsctl consumer pcgroup rm`."""

from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.consumer.losing import find_losing
from jsctl.commands.consumer.pcgroup.shared import kind_flag, open_group
from jsctl.commands.options.data_loss import Losing, LossOptions, loss_flags
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream import partitioned_groups as groups
from jsctl.jetstream.api import Api
from jsctl.jetstream.message.change_estimate import Changes
from jsctl.jetstream.message.data_loss import measure_stream
from jsctl.jetstream.message.removal import delete_streams
from jsctl.jetstream.partitioned_groups import Group, Kind
from jsctl.jetstream.stream import requests as streams
from jsctl.views.intent import Intent
from jsctl.views.result import Result, report


@command(
    "rm",
    examples=[
        "jsctl consumer pcgroup rm ORDERS WORK --allow-data-loss",
        "jsctl consumer pcgroup rm ORDERS WORK --force",
    ],
)
@argument("stream", default="")
@argument("pcgroup", metavar="GROUP", default="")
@kind_flag
@loss_flags
@destructive("Remove without asking", missing_ok=True)
async def rm(
    env: Env, stream: str, pcgroup: str, kind: Kind | None, permits: LossOptions, force: bool
) -> Result:
    """Remove the configuration of the group, for which its members stop; then, of an elastic group, its own
    stream with the copies of messages that were not acknowledged, and of a static one the members' consumers.
    After a kill, the same command removes what is left of an elastic group.
    """
    if force and not (stream and pcgroup):
        raise BadInput("--force needs both names", "specify STREAM and GROUP")
    try:
        api, group = await open_group(env, stream, pcgroup, kind, is_valid=False)
    except JsctlError as error:
        env.report_missing(error)
        return report("Nothing was removed", {"stream": stream, "group": pcgroup, "removed": False})
    if group.revision and group.violation:
        env.say(f"warning: {group.label} is not valid ({group.violation}); consumers of its members stay")
        group = group._replace(config={})
    losing = await _find_losing(api, group)
    more = f" and stream {group.queue}" if group.kind == "elastic" else ""
    loss = f", which deletes {losing[0].loss}" if losing and losing[0].loss else ""
    facts = {"stream": group.stream, "group": group.name, "kind": group.kind}
    facts |= losing[0].loss.to_json() if losing else {}
    await permits.confirm(env, Intent(f"remove {group.label}{more}{loss}", facts), losing, force=force)
    await groups.delete(api, group)
    if losing and group.kind == "elastic":
        await delete_streams(api, [group.queue], lambda names: None, permits.unprotect)
    text = f"Consumer group {group.stream} > {group.name} was removed"
    return report(text, {"stream": group.stream, "group": group.name, "removed": True})


async def _find_losing(api: Api, group: Group) -> list[Losing]:
    """Return what loses messages; nothing if the stream of an elastic group is gone."""
    if group.kind == "static":
        names = await groups.list_consumer_names(api, group)
        return [await find_losing(api, group.stream, Changes(consumers=dict.fromkeys(names)))]
    info = await streams.fetch_info_or_none(api, group.queue)
    return [Losing(f"Stream {group.queue}", info, measure_stream(info))] if info else []
