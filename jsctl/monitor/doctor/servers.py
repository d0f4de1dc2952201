"""The servers of a snapshot: those that an account reaches, and what they report to the system account."""

import asyncio
import json
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from jsctl.base.units import HOUR, SECOND, parse_time_ns, pluralize, to_ns
from jsctl.errors import ApiError, JsctlError
from jsctl.monitor.doctor.snapshot import Json, ServerView
from jsctl.monitor.server.requests import count_servers, parse_reply
from jsctl.monitor.server.rows import find_account_detail
from jsctl.monitor.trouble import Gap
from jsctl.nats.connection import Connection
from jsctl.nats.message import is_no_responders

_MAX_SILENCE = SECOND // 2  #: ns without a further answer after which no more are awaited
_MAX_LATE_SILENCE = SECOND // 20  #: the same once all known servers have answered
_MANY_ACCOUNTS = 200
_MANY_STREAMS = 2_000  #: more streams than this would make a server's answer too large


class Reply(NamedTuple):
    """A server's reply. ahead: ns by which its clock is ahead of ours. reliable: ns by which `ahead` may be
    wrong."""

    server: Json
    data: Json
    ahead: int | None
    reliable: int


async def fetch_reachable_servers(connection: Connection) -> list[ServerView]:
    """Fetch the servers that the account of a login reaches, also over leaf nodes.

    Any user may ask for them (nats-server: `$SYS.REQ.ACCOUNT.PING.STATZ`). Empty when none answers.
    """
    try:
        replies = await _ask_all(connection, "$SYS.REQ.ACCOUNT.PING.STATZ")
    except JsctlError:
        return []
    return [_build_view(reply)._replace(leafs=_count_leafs(reply)) for reply in replies]


def find_silence(servers: Sequence[ServerView]) -> list[Gap]:
    """Return that nobody answers over the leaf node connections of an account. servers: those that do.

    A server that hangs keeps its connections, and answers nothing; one whose permissions do not let the
    question pass looks the same.
    """
    linked = [server for server in servers if server.leafs]
    if not linked or len({server.cluster or server.id for server in servers}) > 1:
        return []
    count = sum(server.leafs for server in linked)
    names = ", ".join(server.name for server in linked)
    verb = "has" if len(linked) == 1 else "have"
    return [
        Gap(
            "servers",
            f"{names} {verb} {pluralize(count, 'leaf node connection')} of this account, and no server"
            " answers on the other side: it hangs, or its permissions do not let the question pass; a context"
            " of the system account shows which",
        )
    ]


def _count_leafs(reply: Reply) -> int:
    accounts = reply.data.get("account_statz") or ()
    return sum(int(account.get("leafnodes") or 0) for account in accounts)


async def fetch_system_servers(
    connection: Connection, accounts: Iterable[str]
) -> tuple[list[ServerView], Sequence[Gap]]:
    """Fetch what all servers report to the system account, with the details of all accounts, or of these only
    when there are too many.

    Returns the servers, and what was left out, a sentence each. Raises JsctlError.
    """
    expect = await count_servers(connection)
    names, *pages = await asyncio.gather(
        *(_ask_all(connection, f"$SYS.REQ.SERVER.PING.{endpoint}", expect=expect) for endpoint in _PAGES)
    )
    views: dict[str, ServerView] = {}
    for page, replies in zip(_PAGES[1:], pages, strict=True):
        for reply in replies:
            view = views.setdefault(reply.server["id"], _build_view(reply))
            views[view.id] = _with_page(view, page, reply.data)
    account_names = {name for reply in names for name in reply.data.get("accounts") or ()}
    selected = (
        sorted(account_names)
        if len(account_names) <= _MANY_ACCOUNTS
        else sorted(account_names & set(accounts))
    )
    gaps = (
        []
        if len(selected) == len(account_names)
        else [
            Gap(
                "accounts",
                f"imports and exports of {len(account_names) - len(selected)} of"
                f" {pluralize(len(account_names), 'account')} were not checked",
            )
        ]
    )
    details: dict[str, dict[str, Json]] = {}
    for start in range(0, len(selected), 16):
        batch = selected[start : start + 16]
        answers = await asyncio.gather(
            *(
                _ask_all(connection, "$SYS.REQ.SERVER.PING.ACCOUNTZ", {"account": name}, expect)
                for name in batch
            )
        )
        for name, replies in zip(batch, answers, strict=True):
            for reply in replies:
                if detail := reply.data.get("account_detail"):
                    details.setdefault(reply.server["id"], {})[name] = detail
    slow = await _fetch_slow_connections(connection, list(views.values()), expect)
    held, stream_gaps = await _fetch_held_streams(connection, list(views.values()), details, accounts, expect)
    return [
        view._replace(
            accounts=details.get(view.id, {}), held=held.get(view.id, {}), slow=slow.get(view.id, ())
        )
        for view in views.values()
    ], [*gaps, *stream_gaps]


async def _fetch_held_streams(
    connection: Connection,
    views: Sequence[ServerView],
    details: Mapping[str, Mapping[str, Json]],
    covered: Iterable[str],
    expect: int,
) -> tuple[dict[str, dict[str, Json]], Sequence[Gap]]:
    """Fetch the streams of the accounts that no context covers, by server and account."""
    enabled = {
        name
        for details_by_account in details.values()
        for name, detail in details_by_account.items()
        if detail.get("jetstream_enabled")
    }
    uncovered = sorted(enabled - set(covered))
    if not uncovered:
        return {}, ()
    if any(int(view.jsz.get("streams") or 0) > _MANY_STREAMS for view in views):
        return {}, [
            Gap(
                "streams",
                f"the streams of {pluralize(len(uncovered), 'account')} without a context: too many",
            )
        ]
    held: dict[str, dict[str, Json]] = {}
    for name in uncovered:
        body = {"account": name, "accounts": True, "streams": True, "consumer": True, "config": True}
        for reply in await _ask_all(connection, "$SYS.REQ.SERVER.PING.JSZ", body, expect):
            if detail := find_account_detail(reply.data, name):
                held.setdefault(reply.server["id"], {})[name] = detail
    return held, ()


async def _fetch_slow_connections(
    connection: Connection, views: Sequence[ServerView], expect: int
) -> dict[str, list[Json]]:
    """Fetch the connections that servers closed within an hour because they read too slowly, by server."""
    if not any(view.varz.get("slow_consumers") for view in views):
        return {}
    slow: dict[str, list[Json]] = {}
    body = {"state": _CLOSED, "sort": "stop", "limit": _MANY_CONNECTIONS}
    for reply in await _ask_all(connection, "$SYS.REQ.SERVER.PING.CONNZ", body, expect):
        now = to_ns(str(reply.server["time"]))
        slow[reply.server["id"]] = [
            closed
            for closed in reply.data.get("connections") or ()
            if str(closed.get("reason", "")).startswith("Slow Consumer")
            and now - parse_time_ns(str(closed["stop"])) < HOUR
        ]
    return slow


_CLOSED = 1  #: the state of closed connections in CONNZ
_MANY_CONNECTIONS = 1_024
_PAGES = ("ACCOUNTZ", "VARZ", "JSZ", "LEAFZ")


def _with_page(view: ServerView, page: str, data: Json) -> ServerView:
    if page == "VARZ":
        return view._replace(varz=data)
    return view._replace(jsz=data) if page == "JSZ" else view._replace(leafz=data)


def merge_servers(lists: Iterable[Collection[ServerView]]) -> list[ServerView]:
    """Return each server once, with everything that any of the lists has about it."""
    merged: dict[str, ServerView] = {}
    for views in lists:
        for view in views:
            earlier = merged.get(view.id)
            if earlier is None or (view.varz and not earlier.varz):
                merged[view.id] = view
    return sorted(merged.values(), key=lambda view: view.name)


async def _ask_all(
    connection: Connection, subject: str, body: Mapping[str, Any] | None = None, expect: int = 0
) -> list[Reply]:
    """Return one reply of each server, without those that refuse, as a server may not know an account.

    expect: how many servers are known; 0 waits until no more answer.
    """
    replies: dict[str, Reply] = {}
    refused = 0
    inbox = connection.new_inbox()
    async with connection.subscribe(inbox) as subscription:
        started = time.time_ns()
        await connection.publish(subject, json.dumps(dict(body or {})).encode(), reply=inbox)
        while True:
            # A server that has just joined may not be counted in `expect`.
            is_complete = bool(expect) and len(replies) + refused >= expect
            wait = _MAX_LATE_SILENCE if is_complete else 2 * _MAX_SILENCE if expect else _MAX_SILENCE
            message = await subscription.next(wait if replies or refused else connection.settings.timeout)
            if message is None or is_no_responders(message):
                break
            try:
                reply = _build_reply(parse_reply(message.data, subject), started)
            except ApiError:
                refused += 1
                continue
            replies.setdefault(reply.server["id"], reply)
    return list(replies.values())


def _build_reply(answer: Json, started: int) -> Reply:
    server = answer["server"]
    elapsed = time.time_ns() - started
    try:
        ahead = parse_time_ns(server["time"]) - started - elapsed // 2
    except (KeyError, ValueError, TypeError, AttributeError):
        ahead = None
    return Reply(server, answer.get("data") or {}, ahead, elapsed // 2)


def _build_view(reply: Reply) -> ServerView:
    server = reply.server
    return ServerView(
        server["id"],
        str(server.get("name") or server["id"]),
        str(server.get("cluster") or ""),
        str(server.get("domain") or ""),
        bool(server.get("jetstream")),
        reply.ahead,
        reply.reliable,
    )
