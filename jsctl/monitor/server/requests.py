"""Requests that servers answer to the system account ($SYS.REQ.SERVER.PING.*)."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple

from jsctl.base.command_lines import build_line
from jsctl.base.json_text import parse_json
from jsctl.base.units import SECOND
from jsctl.errors import ApiError, Denied, JsctlError, MalformedAnswer, NoResponders, NotFound
from jsctl.monitor.server.shapes import check_reply
from jsctl.nats.connection import Connection
from jsctl.nats.replies import iterate_replies

Json = dict[str, Any]

MAX_REPLY_BYTES = 1 << 30
"""Maximum bytes of all servers' replies: enough for a thousand servers with a page of connections each."""


class Filter(NamedTuple):
    """The servers that are to answer; empty means all. host: the name of a server. address: its host name."""

    host: str = ""
    cluster: str = ""
    tags: Sequence[str] = ()
    address: str = ""

    def body(self) -> Json:
        """Return the filter as the server's EventFilterOptions (server/events.go)."""
        options = {
            "server_name": self.host,
            "cluster": self.cluster,
            "tags": list(self.tags),
            "host": self.address,
        }
        return {key: value for key, value in options.items() if value}


async def ping(
    connection: Connection,
    endpoint: str,
    body: Mapping[str, Any] | None = None,
    *,
    server_filter: Filter | None = None,
    expect: int = 0,
    timeout: int | None = None,
    stall: int | None = None,
    keeps_refusals: bool = False,
) -> list[Json]:
    """Fetch the replies {"server": {...}, "data": {...}} of all servers to PING.<endpoint> (JSZ, VARZ, ...).

    expect: stop after that many; 0 waits for all servers that answer a ping, or until no more arrive.
    timeout: ns, instead of that of the settings. stall: ns without a further answer after which no more are
    awaited. keeps_refusals: whether replies that are errors are among them; see `find_refusal`. Raises Denied
    without the system account, else ApiError for what a server refuses.
    """
    if not expect and not (server_filter and server_filter.body()):
        expect = await count_servers(connection)
    request = {**(body or {}), **(server_filter.body() if server_filter else {})}
    subject = f"$SYS.REQ.SERVER.PING.{endpoint}" if endpoint else "$SYS.REQ.SERVER.PING"
    timeout = timeout or _choose_timeout(connection, server_filter)
    try:
        return await _collect_replies(connection, subject, request, expect, timeout, keeps_refusals, stall)
    except NoResponders:
        raise no_system_account_error() from None


async def _collect_replies(
    connection: Connection,
    subject: str,
    body: Mapping[str, Any],
    expect: int,
    timeout: int | None = None,
    keeps_refusals: bool = False,
    stall: int | None = None,
) -> list[Json]:
    read = _read_reply if keeps_refusals else parse_reply
    work = iterate_replies(
        connection,
        subject,
        json.dumps(dict(body)).encode(),
        expect=expect,
        timeout=timeout,
        **({"stall": stall or _MAX_SILENCE} if expect else {}),  # those that answered a ping do so again
        max_bytes=MAX_REPLY_BYTES,
    )
    async with aclosing(work) as messages:  # the first malformed one ends it
        return [read(message.data, subject) async for message in messages]


async def ping_account(
    connection: Connection, endpoint: str, body: Mapping[str, Any] | None = None, *, expect: int = 0
) -> list[Json]:
    """Fetch the replies {"server": {...}, "data": {...}} of all servers about the account of the login (CONNZ
    or STATZ), for the system account about all. Any login may ask.

    expect: stop after that many; 0 waits until no more arrive, as the number of servers is unknown.

    Raises Denied when the login may not ask, ApiError for what a server refuses.
    """
    # Servers map this CONNZ to the login's account, except for the system account; ACCOUNT.PING.CONNZ has
    # nothing for that one (nats-server: registerSystemImports).
    subject = f"$SYS.REQ.{'SERVER' if endpoint == 'CONNZ' else 'ACCOUNT'}.PING.{endpoint}"
    try:
        replies = await _collect_replies(connection, subject, body or {}, expect)
    except NoResponders:
        raise Denied(f"no server answers on {subject}", "the login needs permission for it") from None
    return deduplicate_servers(replies)


async def fetch_visible_servers(connection: Connection) -> list[Json]:
    """Return what servers say of themselves (`server` in their replies); none where the login may not ask."""
    try:
        replies = await ping_account(connection, "STATZ", {"include_unused": True})
    except JsctlError:
        return []
    return [reply["server"] for reply in replies]


async def fetch_free_storage(connection: Connection) -> list[Json]:
    """Return what servers with JetStream say of themselves, each with `free`: the bytes that are left for
    streams of each kind of storage (nats-server: jetstream_cluster.go selectPeerGroup), and `leads`: whether
    it is the meta leader. None where the login does not see them: it needs what the system account may ask,
    or an import of that."""
    try:
        replies = await ping(connection, "JSZ")
    except JsctlError:
        return []
    return [
        {
            **(server := reply["server"]),
            "free": {kind: _count_free(reply["data"], *_STORAGE[kind]) for kind in _STORAGE},
            "leads": (reply["data"].get("meta_cluster") or {}).get("leader") == server.get("name"),
        }
        for reply in deduplicate_servers(replies)
        if not reply["data"].get("disabled")
    ]


_STORAGE = {
    "file": ("max_storage", "reserved_storage", "storage"),
    "memory": ("max_memory", "reserved_memory", "memory"),
}


def _count_free(data: Json, most: str, reserved: str, used: str) -> int:
    limit = int((data.get("config") or {}).get(most) or 0)
    return max(0, limit - max(int(data.get(reserved) or 0), int(data.get(used) or 0)))


def deduplicate_servers(replies: Iterable[Json]) -> list[Json]:
    """Return the first reply of each server.

    A server answers a request once for each leaf node connection through which it arrives.
    """
    replies_by_server: dict[str, Json] = {}
    for reply in replies:
        replies_by_server.setdefault(str((reply.get("server") or {}).get("id", id(reply))), reply)
    return list(replies_by_server.values())


def get_server_id(reply: Json) -> str:
    """Return the ID of the server that sent a reply."""
    return str((reply.get("server") or {}).get("id", ""))


def _choose_timeout(connection: Connection, server_filter: Filter | None) -> int | None:
    """Return how long to wait for the first answer, in ns; None for the usual time.

    When a filter matches no server, nobody answers at all.
    """
    return min(2 * SECOND, connection.settings.timeout) if server_filter and server_filter.body() else None


_PING = "$SYS.REQ.SERVER.PING"
STATSZ = f"{_PING}.STATSZ"
"""A ping for logins with few permissions too: the manual names $SYS.REQ.SERVER.PING.> for them."""

_MAX_SILENCE = SECOND // 2
"""ns without a further answer to a ping after which no more are awaited."""

_MAX_LATE_SILENCE = 3 * SECOND // 2
"""The same as long as a server is missing that answered before, perhaps over a slow link; less than what
makes a place late in a report."""


async def fetch_servers(
    connection: Connection, expect: int = 0, *, subject: str = _PING, known: Iterable[str] = ()
) -> list[tuple[Json, int]]:
    """Fetch the answers {"server": {...}, "statsz": {...}} to a ping, each with its round-trip time in ns,
    measured here.

    expect: stop after that many; 0 waits for all servers that the first one knows, or until no more arrive.
    subject: $SYS.REQ.SERVER.PING or, with the same answers, $SYS.REQ.SERVER.PING.STATSZ. known: IDs of
    servers that answered before, which are awaited longer. Raises Denied without the system account.
    """
    answers: list[tuple[Json, int]] = []
    missing = set(known)
    started = time.monotonic()

    def choose_stall() -> int:
        return _MAX_LATE_SILENCE if missing else _MAX_SILENCE

    try:
        async with aclosing(iterate_replies(connection, subject, stall=choose_stall)) as messages:
            async for message in messages:
                rtt = int((time.monotonic() - started) * SECOND)
                answers.append((parse_reply(message.data, subject), rtt))
                missing.discard(get_server_id(answers[-1][0]))
                expect = expect or int(answers[0][0].get("statsz", {}).get("active_servers", 0))
                if len(answers) == expect:
                    break
    except NoResponders:
        raise no_system_account_error() from None
    if not answers:
        raise no_system_account_error()
    return answers


async def count_servers(connection: Connection) -> int:
    """Return the number of servers that answer a ping. Raises Denied without the system account.

    Servers still count one that was killed, for 2.5 minutes, and twice if it is back (server/events.go:
    checkRemoteServers), so that no more than this may answer another request.
    """
    return len(await fetch_servers(connection, subject=STATSZ))


async def ask_server(
    connection: Connection,
    server: str,
    endpoint: str,
    body: Mapping[str, Any] | None = None,
    *,
    timeout: int | None = None,
) -> Json:
    """Send a request to one server, by its ID. timeout: ns, instead of that of the settings.

    Raises NotFound when none has the ID, ApiError, Denied.
    """
    subject = f"$SYS.REQ.SERVER.{server}.{endpoint}"
    try:
        message = await connection.request(subject, json.dumps(dict(body or {})).encode(), timeout=timeout)
    except NoResponders:
        raise NotFound(
            f"no server has the ID {server!r}",
            f"{build_line('server ping', flags=['--id'])} shows them; this needs the system account",
        ) from None
    return parse_reply(message.data, subject)


def no_system_account_error() -> Denied:
    """Return the error for no answer on $SYS."""
    return Denied(
        "no server answers: this needs a login of the system account",
        "use its --user and --password, --creds or context",
    )


async def fetch_jetstream(
    connection: Connection, *, account: str = "", server_filter: Filter | None = None, expect: int = 0
) -> list[Json]:
    """Fetch JSZ of all servers; with an account, of that account with its streams and consumers."""
    body: Json = {"raft": True}
    if account:
        body |= {"account": account, "accounts": True, "streams": True, "consumer": True, "config": True}
        body["limit"] = 10_000
    return await ping(connection, "JSZ", body, server_filter=server_filter, expect=expect)


_ACCOUNTS_PER_PAGE = 256  #: accounts in one answer to JSZ


async def fetch_details(connection: Connection, *, expect: int = 0, timeout: int | None = None) -> list[Json]:
    """Fetch JSZ of all servers with all accounts, their streams and consumers: one reply for each server and
    page of accounts. expect: servers to wait for; 0 for all. timeout: ns."""
    body = {"accounts": True, "streams": True, "consumer": True, "config": True, "raft": True}
    replies: list[Json] = []
    offset = 0
    while True:
        page = await ping(
            connection,
            "JSZ",
            {**body, "limit": _ACCOUNTS_PER_PAGE, "offset": offset},
            expect=expect,
            timeout=timeout,
        )
        replies += page
        sizes = [len((reply.get("data") or {}).get("account_details") or ()) for reply in page]
        if max(sizes, default=0) < _ACCOUNTS_PER_PAGE:
            return replies
        offset += _ACCOUNTS_PER_PAGE


def parse_reply(data: bytes, subject: str) -> Json:
    """Parse a server's reply to `subject`. Raises ApiError for what it refuses, MalformedAnswer."""
    reply = _read_reply(data, subject)
    if refusal := find_refusal(reply):
        raise refusal
    return reply


def find_refusal(reply: Json) -> ApiError | None:
    """Return the error that a server's reply is, None if it is an answer."""
    if (error := reply.get("error")) is None:
        return None
    name = reply["server"]["name"]
    return ApiError(int(error.get("code", 0)), 0, f"{name}: {error.get('description', 'refused')}")


def _read_reply(data: bytes, subject: str) -> Json:
    try:
        reply: Json = parse_json(data)
        check_reply(reply, subject)
    except ValueError as fault:
        raise MalformedAnswer(subject, str(fault)) from None
    return reply
