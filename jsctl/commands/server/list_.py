"""`jsctl server list`."""

from typing import Any

import click

from jsctl.base.units import NEVER, SECOND, pluralize, read_known_time, to_ns
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, option
from jsctl.commands.server.report.flags import ARCHIVE
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus
from jsctl.monitor.server.requests import fetch_servers
from jsctl.views.result import Result
from jsctl.views.server import server_list as view

Json = dict[str, Any]


@command(
    "list",
    columns=view.SERVERS,
    examples=["jsctl server list --context system", "jsctl server list 9 --sort name"],
)
@argument("expect", type=click.IntRange(min=1), required=False)
@option("--sort", "order", type=click.Choice(view.SORTS), default="rtt", help="Sort by this")
@option("--reverse", "-R", is_flag=True, help="Largest first")
@option("--compact/--no-compact", default=True, help="Leave out the domain that all server names share")
@option(*ARCHIVE[0], default="", **ARCHIVE[1])
async def list_(
    env: Env, expect: int | None, order: str, reverse: bool, compact: bool, archive: str
) -> Result:
    """Wait for EXPECT servers, if given; fewer are a failure. A login of the system account is needed."""
    if archive:
        replies, now = _read_archived(archive)
    else:
        replies, now = await fetch_servers(await env.connection(), expect or 0), env.clock()
    result = view.listing(replies, now, order=order, reverse=reverse, compact=compact)
    if expect and len(replies) < expect:
        env.say(f"{len(replies)} of {pluralize(expect, 'server')} replied")
        return result._replace(status=ExitStatus.FAILURE)
    return result


def _read_archived(path: str) -> tuple[list[tuple[Json, int]], float]:
    """Return the servers in an archive, without round-trip times, and when it was gathered."""
    from jsctl.monitor.audit.archive import METADATA, Archive
    from jsctl.monitor.audit.replay import build_pings

    with Archive(str(expand_home(path))) as archive:
        pings = [(reply, NEVER) for reply in build_pings(archive)]
        captured_at = str(archive.special(METADATA).get("capture_timestamp") or "")
    try:
        return pings, to_ns(captured_at) / SECOND if read_known_time(captured_at) else 0.0
    except ValueError:
        raise BadInput(f"{path} is damaged", "the time at which it was gathered is not valid") from None
