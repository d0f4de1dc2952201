"""`jsctl server request jetstream`."""

from typing import Any

from jsctl.commands.cli import command, option
from jsctl.commands.server.request.flags import Servers, request, request_flags
from jsctl.env import Env
from jsctl.views.result import Result


@command("jetstream", examples=["jsctl server request jetstream --streams --leader"])
@option("--account", metavar="ACCOUNT", default="", help="Only this account")
@option("--accounts", is_flag=True, help="Include details of accounts")
@option("--streams", is_flag=True, help="Include details of streams")
@option("--consumer", is_flag=True, help="Include details of consumers")
@option("--config", is_flag=True, help="Include configurations")
@option("--raft", is_flag=True, help="Include the Raft groups")
@option("--leader", "leader_only", is_flag=True, help="Only the leader of the meta group answers")
@option(
    "--stream-leader", "stream_leader_only", is_flag=True, help="Let only the leaders of streams report them"
)
@option("--all", "everything", is_flag=True, help="Include all of these")
@request_flags
async def jetstream(env: Env, expect: int | None, servers: Servers, everything: bool, **body: Any) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    if everything:
        body |= dict.fromkeys(("consumer", "config", "raft"), True)
    body["streams"] = body["streams"] or body["consumer"]  # each is below the one before
    body["accounts"] = body["accounts"] or body["streams"]
    return await request(env, "JSZ", body, expect, servers)
