"""Requests that servers answer to the system account ($SYS.REQ.SERVER.PING.*)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from jsctl.errors import ApiError, Denied, MalformedAnswer, NoResponders
from jsctl.jetstream.shapes import check_answer, check_error
from jsctl.json_text import parse_json
from jsctl.nats.connection import Connection

Json = dict[str, Any]


class Filter(NamedTuple):
    """Which servers are to answer; empty means all."""

    host: str = ""
    cluster: str = ""
    tags: Sequence[str] = ()

    def body(self) -> Json:
        """Returns it as the server's EventFilterOptions (server/events.go)."""
        wanted = {"server_name": self.host, "cluster": self.cluster, "tags": list(self.tags)}
        return {key: value for key, value in wanted.items() if value}


async def ping(
    connection: Connection,
    what: str,
    body: Mapping[str, Any] | None = None,
    *,
    only: Filter | None = None,
    expect: int = 0,
) -> list[Json]:
    """Fetch the replies {"server": {...}, "data": {...}} of all servers to PING.<what> (JSZ, VARZ, ...).

    expect: stop after that many; 0 waits until no more come. Raises Denied without the system account,
    ApiError for what a server refuses.
    """
    request = {**(body or {}), **(only.body() if only else {})}
    subject = f"$SYS.REQ.SERVER.PING.{what}" if what else "$SYS.REQ.SERVER.PING"
    try:
        messages = await connection.request_many(subject, json.dumps(request).encode(), expect=expect)
    except NoResponders:
        raise no_system_account() from None
    return [parse_reply(message.data, subject) for message in messages]


def no_system_account() -> Denied:
    """Returns the error for no answer on $SYS."""
    return Denied(
        "no server answers: this needs a login of the system account",
        "use its --user and --password, --creds or context",
    )


async def fetch_jetstream(
    connection: Connection, *, account: str = "", only: Filter | None = None, expect: int = 0
) -> list[Json]:
    """Fetch JSZ of all servers; with an account, of that account with its streams and consumers."""
    body: Json = {"raft": True}
    if account:
        body |= {"account": account, "accounts": True, "streams": True, "consumer": True, "limit": 10_000}
    return await ping(connection, "JSZ", body, only=only, expect=expect)


def parse_reply(data: bytes, subject: str) -> Json:
    """Parse a server's reply to `subject`. Raises ApiError for what it refuses, MalformedAnswer."""
    try:
        reply: Json = parse_json(data)
        check_answer(reply, subject)
        if (error := reply.get("error")) is not None:
            check_error(error)
    except ValueError as fault:
        raise MalformedAnswer(subject, str(fault)) from None
    if error is not None:
        name = (reply.get("server") or {}).get("name", "a server")
        raise ApiError(int(error.get("code", 0)), 0, f"{name}: {error.get('description', 'refused')}")
    return reply
