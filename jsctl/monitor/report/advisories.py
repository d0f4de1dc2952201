"""The advisories that the connection of a context receives between two rounds."""

import re
from collections.abc import Callable
from typing import Any

from jsctl.base.json_text import parse_json
from jsctl.base.units import SECOND, format_rfc3339, parse_time_ns, seconds_to_ns
from jsctl.jetstream.api import Json
from jsctl.jetstream.consumer.requests import is_reader
from jsctl.monitor.events import KINDS, list_jetstream_subjects, parse
from jsctl.nats.error_codes import ErrorCode
from jsctl.nats.message import Message
from jsctl.nats.subjects import matches

_JETSTREAM = "io.nats.jetstream.advisory.v1."
CONNECTED, DISCONNECTED, LOGIN_REFUSED = "client_connect", "client_disconnect", "login_refused"
_OF_SERVERS = {
    "$SYS.SERVER.*.SHUTDOWN": "server_shutdown",
    "$SYS.SERVER.*.LAMEDUCK": "server_lame_duck",
    "$SYS.SERVER.*.CLIENT.AUTH.ERR": LOGIN_REFUSED,
    "$SYS.ACCOUNT.*.CONNECT": CONNECTED,
    "$SYS.ACCOUNT.*.DISCONNECT": DISCONNECTED,
}
"""What only the system account receives. Of the account $G servers publish no connections; of violations of
permissions they publish nothing (server/events.go)."""
API_ERROR, API_REQUEST = "api_error", "api_request"
"""An API audit advisory of a request that failed, and of one that changed something."""

ADVISORY_KINDS = tuple(
    kind.removeprefix(_JETSTREAM)
    for kind in KINDS
    if kind.startswith(_JETSTREAM) and not kind.endswith(".api_audit")
)
"""The kinds of advisories that are counted: the last token of their type. Requests are counted by servers."""

_CLOSED, _STOPPED, _REFUSED = "Client Closed", "Server Shutdown", "Authentication Failure"
_ORDINARY = frozenset({_CLOSED, "Read Error", "Write Error"})
"""Reasons of servers for the end of a connection (server/monitor.go: ClosedState); ordinary ones are of the
client, which may also have been killed."""

_TOOLS = ("jsctl", "NATS CLI")
"""How names of clients begin that connect for a single command."""

_REDACTED_SINCE = (2, 11, 2)
"""The version of nats-server from which on the user of a login by token is not the token (its pull request
6808)."""

_LONG = 10 * SECOND
"""ns from which a connection is long, so that its end may be one that is missed."""

_MAX_ENTRIES = 500
"""How many different advisories are kept between two rounds; further ones are counted by kind."""

_KEPT = ("stream", "consumer", "server", "cluster", "action", "leader", "paused", "pause_until", "reason")
_AUDIT = b'"type":"io.nats.jetstream.advisory.v1.api_audit"'
_FAILED = b'\\"error\\":{'
_REQUESTED = re.compile(rb'\$JS\.(?:[^".]+\.)*?API\.([^"]*)')
_CHANGES = re.compile(
    rb"(STREAM|CONSUMER)\.(?:DURABLE\.)?(CREATE|UPDATE|DELETE|PURGE|RESTORE|PAUSE|RESET|UNPIN)\b"
    rb"|.*\b(?:MSG\.DELETE|STEPDOWN|REMOVE|PURGE|MOVE|CANCEL_MOVE)\b"
)


class AdvisoryLog:
    """The advisories since the last `take`. Those that differ in time and sequences alone are one, with a
    count. is_denied: whether the login may not subscribe to them.

    An entry is `{"kind", "at", "last", "received", "count", "domain", ...}`: by the clock of the server when
    the first and the last was published, and by ours when the first was received. Bodies of requests and
    logins are not kept.
    """

    def __init__(self, prefix: str, clock: Callable[[], float], *, is_recorded: bool) -> None:
        """prefix: of JetStream events, empty for the usual one. clock: seconds since 1970. is_recorded:
        whether to listen for the audit of API requests, too, which has a copy of each answer, and for
        servers that stop and connections of clients, as a user of the system account may."""
        [subject] = list_jetstream_subjects(prefix, advisories=True, metrics=False)
        # The audit alone has no further token: JSAuditAdvisory of nats-server's jetstream_api.go.
        without_audit = subject.removesuffix(">") + "*.>"
        self.subjects = [subject, *_OF_SERVERS] if is_recorded else [without_audit]
        self.is_denied = False
        self._names_users = True
        self._clock = clock
        self._entries: dict[tuple[Any, ...], Json] = {}

    def note_server(self, version: str) -> None:
        """Note the version of the server that advisories are received from."""
        self._names_users = tuple(map(int, re.findall(r"\d+", version)[:3])) >= _REDACTED_SINCE

    def add(self, message: Message) -> None:
        """Add what was received; requests that change nothing and do not fail are left out."""
        is_well = _AUDIT in message.data[:200] and _FAILED not in message.data
        if is_well and not _is_change(message.data):
            return  # also the answers to our own lists, which may be large
        event = parse(message.data)
        if event is not None and not self._names_users:
            _get_object(event, "client").pop("user", None)
        entry = None if event is None else _build_entry(message.subject, event)
        if entry is None:
            return
        key: tuple[Any, ...] = (entry["kind"], entry["domain"], *map(repr, entry["facts"].values()))
        if key not in self._entries and len(self._entries) >= _MAX_ENTRIES:
            entry["facts"] = {}
            key = entry["kind"], entry["domain"]
        received = format_rfc3339(seconds_to_ns(self._clock()))
        at = entry["at"] if _is_time(entry["at"]) else received  # any client may publish one
        known = self._entries.setdefault(key, {**entry, "at": at, "received": received, "count": 0})
        known["count"] += 1
        known["last"] = at

    def take(self) -> list[Json]:
        """Return the entries since the last call, in the order in which they were received."""
        entries, self._entries = [*self._entries.values()], {}
        return entries


def _build_entry(subject: str, event: Json) -> Json | None:
    """Return what is kept of an event; None for one of another kind."""
    kind, at = str(event.get("type", "")).removeprefix(_JETSTREAM), str(event.get("timestamp", ""))
    facts = {key: event[key] for key in _KEPT if isinstance(event.get(key), (str, bool))}
    if of_server := next((one for one in _OF_SERVERS if matches(one, subject)), ""):
        kind = _OF_SERVERS[of_server]
        if kind in (CONNECTED, DISCONNECTED, LOGIN_REFUSED):
            facts = _describe_client(event)
            is_reported = kind == DISCONNECTED and facts["reason"] in (_REFUSED, _STOPPED)  # by others, too
            if is_reported or (facts["client"].startswith(_TOOLS) and facts["reason"] in ("", *_ORDINARY)):
                return None
        else:
            at, facts = str(event.get("time", "")), {"server": str(event.get("name", ""))}
    elif kind == "api_audit":
        kind, response = API_REQUEST, _parse_response(event)
        client = _get_object(event, "client")
        by = name_client(client.get("user"), client.get("name"), client.get("host"))
        facts |= {"subject": str(event.get("subject", "")), "by": by}
        if error := _get_object(response, "error"):
            kind = API_ERROR
            if error.get("err_code") == ErrorCode.NOT_ENABLED_FOR_ACCOUNT:
                return None  # reports find out so that an account has no JetStream
            facts |= {"error": str(error.get("description", "")), "err_code": error.get("err_code")}
        elif not _is_change(str(event.get("subject", "")).encode()):
            return None
        elif isinstance(response.get("purged"), int):
            facts["purged"] = response["purged"]
    elif kind not in ADVISORY_KINDS:
        return None
    names = (str(facts.get("consumer")), *str(facts.get("subject")).split("."))
    if any(map(is_reader, names)):
        return None  # jsctl reads through it, as recordings do, too
    return {"kind": kind, "at": at, "domain": str(event.get("domain", "")), "facts": facts}


def _describe_client(event: Json) -> Json:
    """Return what is kept of a client's connection, and whether it has ended and was long."""
    client = _get_object(event, "client")
    start, stop = (str(client.get(key) or "") for key in ("start", "stop"))
    is_known = _is_time(start) and _is_time(stop)
    return {
        "server": str(_get_object(event, "server").get("name") or ""),
        "account": str(client.get("acc") or ""),
        "user": str(client.get("user") or ""),
        "client": str(client.get("name") or ""),
        "host": str(client.get("host") or ""),
        "is_leaf": client.get("kind") == "Leafnode",
        "reason": str(event.get("reason") or ""),
        "is_long": is_known and parse_time_ns(stop) - parse_time_ns(start) >= _LONG,
    }


def name_client(user: Any, name: Any, host: Any) -> str:
    """Return who asked or connected: `app (orders-service, 10.0.0.7)`; empty if nothing is known."""
    user, where = str(user or ""), ", ".join(str(word) for word in (name, host) if word)
    return f"{user} ({where})" if user and where else user or where


def is_of_servers(kind: str) -> bool:
    """Return whether what an entry tells of belongs to no domain."""
    return kind.startswith("server_") or kind in _OF_SERVERS.values()


def is_ordinary_end(facts: Json) -> bool:
    """Return whether a connection was ended by its client; leaf nodes mean to stay. facts: of an entry."""
    return facts.get("reason") in _ORDINARY and not facts.get("is_leaf")


def _is_change(text: bytes) -> bool:
    """Return whether the first subject of the API in a text is of a request that changes something."""
    request = _REQUESTED.search(text)
    return request is not None and _CHANGES.match(request[1]) is not None


def _is_time(text: str) -> bool:
    try:
        return parse_time_ns(text) > 0
    except ValueError:
        return False


def _parse_response(event: Json) -> Json:
    try:
        document = parse_json(str(event.get("response")).encode())
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _get_object(event: Json, key: str) -> Json:
    value = event.get(key)
    return value if isinstance(value, dict) else {}
