"""`jsctl server request`, its own flags, and the verbs that differ in what they ask for."""

from typing import Any

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.server.request.flags import GROUP, Servers, group_flags, request, request_flags
from jsctl.env import Env
from jsctl.views.result import Result
from jsctl.views.server import replies as view


@command("request", examples=["jsctl server request variables", "jsctl server request --name n1 connections"])
@group_flags
def declare(env: Env, **flags: Any) -> None:
    """Ask each server for a JSON document. A login of the system account is needed."""
    env.flags[GROUP] = {key: value for key, value in flags.items() if value not in (None, ())}


@command("accounts", examples=["jsctl server request accounts --account SYS"])
@option("--account", metavar="ACCOUNT", default="", help="Only this account")
@request_flags
async def accounts(env: Env, expect: int | None, servers: Servers, **body: Any) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    return await request(env, "ACCOUNTZ", body, expect, servers)


_STATES = {"open": 0, "closed": 1, "all": 2}
"""Values of the server's ConnState (server/monitor.go)."""


@command(
    "connections",
    examples=[
        "jsctl server request connections",
        "jsctl server request connections --filter-user app --sort bytes_to",
    ],
)
@option(
    "--sort",
    metavar="FIELD",
    default="",
    help="Sort by cid, start, subs, bytes_to, msgs_to, idle, uptime",
)
@option("--subscriptions", is_flag=True, help="Include subscriptions")
@option("--filter-cid", "cid", type=int, metavar="CID", help="Only the connection of this number")
@option(
    "--filter-state",
    "state",
    type=click.Choice(list(_STATES)),
    default="open",
    help="Only connections in this state",
)
@option("--filter-user", metavar="USER", default="", help="Only connections of this user")
@option("--filter-account", "acc", metavar="ACCOUNT", default="", help="Only this account")
@option(
    "--filter-subject",
    metavar="SUBJECT",
    default="",
    help="Only connections that subscribe to this subject",
)
@option("--filter-empty", is_flag=True, help="Leave out servers without such a connection")
@request_flags
async def connections(
    env: Env, expect: int | None, servers: Servers, filter_user: str, filter_empty: bool, **body: Any
) -> Result:
    """End after WAIT answers; without it, wait for all servers. Without a login of the system account, show
    the connections of your account.
    """
    body |= {
        "sort": body["sort"] or "cid",
        "state": _STATES[body["state"]],
        "user": filter_user,
        "auth": True,
    }
    body["subscriptions_detail"] = body["subscriptions"]
    result = await request(env, "CONNZ", body, expect, servers)
    return view.with_connections(result) if filter_empty else result


@command("gateways", examples=["jsctl server request gateways"])
@option("--filter-account", "account_name", metavar="ACCOUNT", default="", help="Only this account")
@option("--accounts", is_flag=True, help="Include details of accounts")
@option(
    "--subscriptions/--no-subscriptions",
    default=True,
    help="Include the subscriptions of the account of --filter-account",
)
@request_flags
@argument("gateway", required=False, default="", metavar="[NAME]")
async def gateways(
    env: Env, expect: int | None, servers: Servers, gateway: str, subscriptions: bool, **body: Any
) -> Result:
    """End after WAIT answers. NAME is that of a gateway."""
    body["name"] = gateway
    if body["account_name"]:
        body |= {"accounts": True, "subscriptions": subscriptions, "subscriptions_detail": subscriptions}
    return await request(env, "GATEWAYZ", body, expect, servers)


@command("ipqueue", examples=["jsctl server request ipqueue --no-all"])
@option("--all/--no-all", "all", default=True, help="Include empty queues")
@option("--filter", metavar="TEXT", default="", help="Only queues whose names contain this")
@request_flags
async def ipqueue(env: Env, expect: int | None, servers: Servers, **body: Any) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    return await request(env, "IPQUEUESZ", body, expect, servers)


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


@command("jetstream-health", examples=["jsctl server request jetstream-health"])
@option("--js-enabled/--no-js-enabled", "-J", help="Fail where JetStream is off")
@option("--server-only/--no-server-only", "-S", help="Check the server, not its streams and consumers")
@option("--account", metavar="ACCOUNT", default="", help="Only this account")
@option("--stream", metavar="STREAM", default="", help="Only this stream; needs --account")
@option("--consumer", metavar="CONSUMER", default="", help="Only this consumer; needs --stream")
@option("--details/--no-details", default=True, help="Include all failures")
@request_flags
async def jetstream_health(
    env: Env, expect: int | None, servers: Servers, js_enabled: bool, server_only: bool, **body: Any
) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    body |= {"js-enabled-only": js_enabled, "js-server-only": server_only}
    return await request(env, "HEALTHZ", body, expect, servers)


@command("leafnodes", examples=["jsctl server request leafnodes"])
@option("--subscriptions", is_flag=True, help="Include subscriptions")
@request_flags
async def leafnodes(env: Env, expect: int | None, servers: Servers, **body: Any) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    return await request(env, "LEAFZ", body, expect, servers)


@command("raft", examples=["jsctl server request raft"])
@option("--account", metavar="ACCOUNT", default="", help="Only this account")
@option("--group", metavar="GROUP", default="", help="Only this group")
@request_flags
async def raft(env: Env, expect: int | None, servers: Servers, **body: Any) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    return await request(env, "RAFTZ", body, expect, servers)


@command("routes", examples=["jsctl server request routes"])
@option("--subscriptions", is_flag=True, help="Include subscriptions")
@request_flags
async def routes(env: Env, expect: int | None, servers: Servers, subscriptions: bool) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    body = {"subscriptions": subscriptions, "subscriptions_detail": subscriptions}
    return await request(env, "ROUTEZ", body, expect, servers)


@command("subscriptions", examples=["jsctl server request subscriptions --detail"])
@option("--detail", "subscriptions", is_flag=True, help="Include each subscription")
@option("--filter-account", "account", metavar="ACCOUNT", default="", help="Only this account")
@option(
    "--filter-subject",
    "test",
    metavar="SUBJECT",
    default="",
    help="Only subscriptions that match this subject",
)
@request_flags
async def subscriptions(env: Env, expect: int | None, servers: Servers, **body: Any) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    return await request(env, "SUBSZ", body, expect, servers)


@command("variables", examples=["jsctl server request variables 3 --cluster hub"])
@request_flags
async def variables(env: Env, expect: int | None, servers: Servers) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    return await request(env, "VARZ", {}, expect, servers)
