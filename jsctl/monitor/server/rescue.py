"""A lower quorum for a meta group that lost most of its servers (META.RESCUE, ADR-61)."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from jsctl.base.json_text import parse_json
from jsctl.errors import JsctlError, NoResponders
from jsctl.nats.connection import Connection
from jsctl.nats.replies import request_many

Json = dict[str, Any]

_SUBJECT = "$JS.API.META.RESCUE"


class RescuePlan(NamedTuple):
    """The state of a meta group, as the servers that answer report it. leader: empty when there is none."""

    servers: Sequence[str]
    size: int
    quorum: int
    leader: str


class RescueResult(NamedTuple):
    """A server's reply about its quorum. error: why it refused; empty for a success."""

    server: str
    before: int
    after: int
    error: str = ""


def plan_rescue(replies: Sequence[Json], domain: str) -> RescuePlan:
    """Return the state of the meta group of a domain. replies: to JSZ."""
    metas = {
        str(reply["server"]["name"]): meta
        for reply in replies
        if str(reply["server"].get("domain") or "") == domain
        and (meta := (reply.get("data") or {}).get("meta_cluster"))
    }
    size = max((int(meta.get("cluster_size", 0)) for meta in metas.values()), default=0)
    quorum = max((int(meta.get("quorum_needed", 0)) for meta in metas.values()), default=0) or size // 2 + 1
    # One that answers without leading led once, in the memory of others.
    named = {str(meta["leader"]) for meta in metas.values() if meta.get("leader")}
    leader = next((name for name in sorted(named) if metas.get(name, {}).get("leader", name) == name), "")
    return RescuePlan(sorted(metas), size, quorum, leader)


async def rescue_quorum(connection: Connection, quorum: int, expect: int) -> list[RescueResult]:
    """Lower the quorum; every server answers for itself. expect: how many should answer. Raises
    JsctlError."""
    body = json.dumps({"quorum_needed": quorum}).encode()
    try:
        messages = await request_many(connection, _SUBJECT, body, expect=expect)
    except NoResponders:
        raise JsctlError("no server supports META.RESCUE", "it needs nats-server 2.15") from None
    results = []
    for message in messages:
        try:
            reply = parse_json(message.data)
            error = (reply.get("error") or {}).get("description", "")
            results.append(
                RescueResult(
                    str(reply.get("server", "")),
                    int(reply.get("prev_quorum", 0)),
                    int(reply.get("new_quorum", 0)),
                    str(error),
                )
            )
        except (ValueError, AttributeError) as fault:
            raise JsctlError(f"the server's answer on {_SUBJECT} is malformed: {fault}") from None
    if not results:
        raise JsctlError("no server supports META.RESCUE", "it needs nats-server 2.15")
    return results
