"""`jsctl consumer pcgroup step-down`."""

from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.consumer.pcgroup.shared import kind_flag, open_group
from jsctl.commands.consumer.unpin import unpin_client
from jsctl.env import Env
from jsctl.errors import JsctlError, MissingName
from jsctl.jetstream.partitioned_groups import PRIORITY_GROUP, Kind
from jsctl.views.result import Result


@command("step-down", examples=["jsctl consumer pcgroup step-down ORDERS WORK m1 --force"])
@argument("stream")
@argument("pcgroup", metavar="GROUP")
@argument("member", completes="member")
@kind_flag
@destructive("Unpin without asking")
async def step_down(
    env: Env, stream: str, pcgroup: str, member: str, kind: Kind | None, force: bool
) -> Result:
    """Unpin the process that gets the messages of MEMBER, so that the server pins another one of this member,
    or the same again if it is the only one.
    """
    api, group = await open_group(env, stream, pcgroup, kind)
    consumer = group.name_consumer(group.check_member(member))
    try:
        return await unpin_client(env, api, group.queue, consumer, PRIORITY_GROUP, force=force)
    except MissingName:
        raise JsctlError(f"no process of member {member} of {group.label} has begun to read") from None
