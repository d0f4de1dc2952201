"""`jsctl server request jetstream`."""

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
@option("--leader", is_flag=True, help="Only the leader of the meta group answers")
@option("--stream-leader", is_flag=True, help="Let only the leaders of streams report them")
@option("--all", "everything", is_flag=True, help="Include all of these")
@request_flags
async def jetstream(
    env: Env,
    expect: int | None,
    servers: Servers,
    account: str,
    accounts: bool,
    streams: bool,
    consumer: bool,
    config: bool,
    raft: bool,
    leader: bool,
    stream_leader: bool,
    everything: bool,
) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    return await request(
        env,
        "JSZ",
        {
            "account": account,
            "accounts": accounts or streams or consumer or everything,
            "streams": streams or consumer or everything,
            "consumer": consumer or everything,
            "config": config or everything,
            "raft": raft or everything,
            "leader_only": leader,
            "stream_leader_only": stream_leader,
        },
        expect,
        servers,
    )
