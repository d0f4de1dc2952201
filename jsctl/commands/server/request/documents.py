"""The verbs of `jsctl server request` that show the document of a monitoring endpoint."""

from collections.abc import Mapping
from typing import Any

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.server.request.flags import request, request_flags
from jsctl.env import Env
from jsctl.views.result import Result
from jsctl.views.server import replies as view

_STATES = {"open": 0, "closed": 1, "all": 2}
"""Values of the server's ConnState (server/monitor.go)."""


@command("accounts", examples=["jsctl server request accounts --account SYS"])
@option("--account", metavar="ACCOUNT", default="", help="Only this account")
@request_flags
async def accounts(env: Env, expect: int | None, servers: Mapping[str, Any], account: str) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    return await request(env, "ACCOUNTZ", {"account": account}, expect, servers)


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
@option("--filter-cid", type=int, metavar="CID", help="Only the connection of this number")
@option(
    "--filter-state", type=click.Choice(list(_STATES)), default="open", help="Only connections in this state"
)
@option("--filter-user", metavar="USER", default="", help="Only connections of this user")
@option("--filter-account", metavar="ACCOUNT", default="", help="Only this account")
@option(
    "--filter-subject",
    metavar="SUBJECT",
    default="",
    help="Only connections that subscribe to this subject",
)
@option("--filter-empty", is_flag=True, help="Leave out servers without such a connection")
@request_flags
async def connections(
    env: Env,
    expect: int | None,
    servers: Mapping[str, Any],
    sort: str,
    subscriptions: bool,
    filter_cid: int | None,
    filter_state: str,
    filter_user: str,
    filter_account: str,
    filter_subject: str,
    filter_empty: bool,
) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    body = {
        "sort": sort or "cid",
        "subscriptions": subscriptions,
        "subscriptions_detail": subscriptions,
        "cid": filter_cid,
        "state": _STATES[filter_state],
        "user": filter_user,
        "acc": filter_account,
        "auth": True,
        "filter_subject": filter_subject,
    }
    result = await request(env, "CONNZ", body, expect, servers)
    return view.with_connections(result) if filter_empty else result


@command("gateways", examples=["jsctl server request gateways"])
@option("--filter-account", metavar="ACCOUNT", default="", help="Only this account")
@option("--accounts", is_flag=True, help="Include details of accounts")
@option(
    "--subscriptions/--no-subscriptions",
    default=True,
    help="Include the subscriptions of the account of --filter-account",
)
@request_flags
@argument("gateway", required=False, default="", metavar="[NAME]")
async def gateways(
    env: Env,
    expect: int | None,
    servers: Mapping[str, Any],
    filter_account: str,
    accounts: bool,
    subscriptions: bool,
    gateway: str,
) -> Result:
    """End after WAIT answers. NAME is that of a gateway."""
    body = {
        "account_name": filter_account,
        "name": gateway,
        "accounts": accounts or bool(filter_account),
        "subscriptions": subscriptions and bool(filter_account),
        "subscriptions_detail": subscriptions and bool(filter_account),
    }
    return await request(env, "GATEWAYZ", body, expect, servers)


@command("ipqueue", examples=["jsctl server request ipqueue --no-all"])
@option("--all/--no-all", "everything", default=True, help="Include empty queues")
@option("--filter", metavar="TEXT", default="", help="Only queues whose names contain this")
@request_flags
async def ipqueue(
    env: Env, expect: int | None, servers: Mapping[str, Any], everything: bool, filter: str
) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    return await request(env, "IPQUEUESZ", {"all": everything, "filter": filter}, expect, servers)


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
    servers: Mapping[str, Any],
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
    body = {
        "account": account,
        "accounts": accounts or streams or consumer or everything,
        "streams": streams or consumer or everything,
        "consumer": consumer or everything,
        "config": config or everything,
        "raft": raft or everything,
        "leader_only": leader,
        "stream_leader_only": stream_leader,
    }
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
    env: Env,
    expect: int | None,
    servers: Mapping[str, Any],
    js_enabled: bool,
    server_only: bool,
    account: str,
    stream: str,
    consumer: str,
    details: bool,
) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    body = {
        "js-enabled-only": js_enabled,
        "js-server-only": server_only,
        "account": account,
        "stream": stream,
        "consumer": consumer,
        "details": details,
    }
    return await request(env, "HEALTHZ", body, expect, servers)


@command("leafnodes", examples=["jsctl server request leafnodes"])
@option("--subscriptions", is_flag=True, help="Include subscriptions")
@request_flags
async def leafnodes(env: Env, expect: int | None, servers: Mapping[str, Any], subscriptions: bool) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    return await request(env, "LEAFZ", {"subscriptions": subscriptions}, expect, servers)


@command("raft", examples=["jsctl server request raft"])
@option("--account", metavar="ACCOUNT", default="", help="Only this account")
@option("--group", metavar="GROUP", default="", help="Only this group")
@request_flags
async def raft(env: Env, expect: int | None, servers: Mapping[str, Any], account: str, group: str) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    return await request(env, "RAFTZ", {"account": account, "group": group}, expect, servers)


@command("routes", examples=["jsctl server request routes"])
@option("--subscriptions", is_flag=True, help="Include subscriptions")
@request_flags
async def routes(env: Env, expect: int | None, servers: Mapping[str, Any], subscriptions: bool) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    body = {"subscriptions": subscriptions, "subscriptions_detail": subscriptions}
    return await request(env, "ROUTEZ", body, expect, servers)


@command("subscriptions", examples=["jsctl server request subscriptions --detail"])
@option("--detail", is_flag=True, help="Include each subscription")
@option("--filter-account", metavar="ACCOUNT", default="", help="Only this account")
@option("--filter-subject", metavar="SUBJECT", default="", help="Only subscriptions that match this subject")
@request_flags
async def subscriptions(
    env: Env,
    expect: int | None,
    servers: Mapping[str, Any],
    detail: bool,
    filter_account: str,
    filter_subject: str,
) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    body = {"subscriptions": detail, "account": filter_account, "test": filter_subject}
    return await request(env, "SUBSZ", body, expect, servers)


@command("variables", examples=["jsctl server request variables 3 --cluster hub"])
@request_flags
async def variables(env: Env, expect: int | None, servers: Mapping[str, Any]) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    return await request(env, "VARZ", {}, expect, servers)
