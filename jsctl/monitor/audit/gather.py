"""The gathering of what servers report about themselves, accounts and streams into an archive."""

import asyncio
import base64
import getpass
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jsctl.base.command_lines import build_line
from jsctl.base.units import SECOND, format_rfc3339, pluralize, seconds_to_ns
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Json
from jsctl.monitor.audit.archive import LOG, METADATA, UNCLUSTERED, ArchiveWriter
from jsctl.monitor.audit.replay import KINDS, LISTS
from jsctl.monitor.server.requests import MAX_REPLY_BYTES, ask_server, fetch_servers, parse_reply, ping
from jsctl.monitor.server.rows import find_account_detail
from jsctl.nats.connection import Connection
from jsctl.nats.replies import request_many

_SERVER_ENDPOINTS: Mapping[str, str] = {**KINDS, "EXPVARZ": "exp_variables"}
"""What each server is asked for, and the type of the files that hold its answers."""

_DETAILS: Mapping[str, Json] = {
    "CONNZ": {"subscriptions": True, "subscriptions_detail": True},
    "GATEWAYZ": {"accounts": True, "subscriptions": True, "subscriptions_detail": True},
    "HEALTHZ": {"details": True},
    "JSZ": {"accounts": True, "streams": True, "consumer": True, "config": True, "raft": True},
    "LEAFZ": {"subscriptions": True},
    "ROUTEZ": {"subscriptions": True, "subscriptions_detail": True},
    "SUBSZ": {"subscriptions": True},
}
_ACCOUNT_ENDPOINTS: Mapping[str, str] = {
    "CONNZ": "account_connections",
    "LEAFZ": "account_leafs",
    "SUBSZ": "account_subs",
    "INFO": "account_info",
    "JSZ": "account_jetstream_info",
}
_PINGED_ENDPOINTS: Mapping[str, tuple[str, str]] = {
    "RAFTZ": ("account_raftz", "account"),
    "IPQUEUESZ": ("account_ipqueues", "filter"),
}
"""What all servers are asked for about an account: the type of the files that hold the answers, and the key
of the account in the request.
"""

_PROFILES = (
    ("goroutine", 1),
    ("goroutine", 2),
    ("heap", 0),
    ("allocs", 0),
    ("mutex", 0),
    ("threadcreate", 0),
    ("block", 0),
    ("cpu", 0),
)
_PAGE_SIZE = 1024
_MAX_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Selection:
    """The selection of what to gather. cluster: only servers of this one; empty for all."""

    cluster: str = ""
    server_endpoints: bool = True
    server_profiles: bool = True
    account_endpoints: bool = True
    streams: bool = True
    consumers: bool = True
    details: bool = True


@dataclass(slots=True)
class Summary:
    """The outcome of gathering, in numbers. failures: requests without an answer that could be stored."""

    servers: int = 0
    accounts: int = 0
    streams: int = 0
    endpoints: int = 0
    profiles: int = 0
    failures: int = 0


class Gatherer:
    """One run of gathering. say: receives a line about each step; the lines are also stored in the
    archive.
    """

    def __init__(
        self,
        connection: Connection,
        writer: ArchiveWriter,
        selection: Selection,
        *,
        say: Callable[[str], None],
        clock: Callable[[], float],
        version: str,
    ) -> None:
        self._connection = connection
        self._writer = writer
        self._selection = selection
        self._profiled = min(5 * SECOND, connection.settings.timeout)  #: ns of a CPU profile
        self._say = say
        self._clock = clock
        self._version = version
        self._lines: list[str] = []
        self._gate = asyncio.Semaphore(_MAX_AT_ONCE)
        self._servers: dict[str, Json] = {}
        self._system = ""
        self.summary = Summary()

    async def run(self) -> Summary:
        """Gather everything that was selected. What a server or account refuses is noted in the archive's
        log.

        Raises Denied without the system account, Unreachable, and what the writer raises.
        """
        await self._find_servers()
        accounts = await self._find_accounts()
        selection, servers = self._selection, list(self._servers.values())
        if selection.server_endpoints:
            await self._run_for_each(self._gather_server, servers)
            self._note(
                f"gathered {pluralize(self.summary.endpoints, 'answer')} "
                f"of {pluralize(len(servers), 'server')}"
            )
        if selection.server_profiles:
            self._note(f"taking profiles of {pluralize(len(servers), 'server')}: {self._profiled // SECOND}s")
            await self._run_for_each(self._gather_profiles, servers)
            self._note(
                f"gathered {pluralize(self.summary.profiles, 'profile')} "
                f"of {pluralize(len(servers), 'server')}"
            )
        if selection.account_endpoints:
            earlier_endpoints = self.summary.endpoints
            await self._run_for_each(self._gather_account, list(accounts.items()))
            self._note(
                f"gathered {pluralize(self.summary.endpoints - earlier_endpoints, 'answer')}"
                f" about {pluralize(len(accounts), 'account')}"
            )
        if selection.streams:
            await self._run_for_each(
                self._gather_streams, [item for item in accounts.items() if item[0] != self._system]
            )
            self._note(f"gathered {pluralize(self.summary.streams, 'stream')}")
        self._add_metadata()
        self._writer.add("".join(line + "\n" for line in self._lines).encode(), "log", {"special": LOG})
        return self.summary

    def _note(self, line: str) -> None:
        self._lines.append(line)
        self._say(line)

    def _fail(self, request: str, error: Exception | str) -> None:
        self.summary.failures += 1
        self._note(f"{request}: {error}")

    async def _run_for_each(self, gather: Callable[[Any], Awaitable[None]], items: Sequence[Any]) -> None:
        async def gather_one(item: Any) -> None:
            async with self._gate:
                await gather(item)

        async with asyncio.TaskGroup() as group:
            for item in items:
                group.create_task(gather_one(item))

    # -- finding servers and accounts -------------------------------------------------------------------

    async def _find_servers(self) -> None:
        for reply, _ in await fetch_servers(self._connection):
            server = reply["server"]
            if not self._selection.cluster or server.get("cluster") == self._selection.cluster:
                self._servers[server["id"]] = server
        self.summary.servers = len(self._servers)
        if not self._servers:
            raise JsctlError(
                f"there is no server in cluster {self._selection.cluster!r}",
                f"{build_line('server list')} shows clusters",
            )
        names = ", ".join(sorted(server["name"] for server in self._servers.values()))
        self._note(f"found {pluralize(len(self._servers), 'server')}: {names}")

    async def _find_accounts(self) -> dict[str, int]:
        """Return the accounts in use, with the number of servers that know each."""
        accounts: dict[str, int] = {}
        for reply in await ping(self._connection, "ACCOUNTZ"):
            if reply["server"]["id"] not in self._servers:
                continue
            data = reply.get("data") or {}
            self._system = self._system or str(data.get("system_account", ""))
            for name in data.get("accounts") or ():
                accounts[name] = accounts.get(name, 0) + 1
        self.summary.accounts = len(accounts)
        self._note(f"found {pluralize(len(accounts), 'account')}; the system account is {self._system}")
        return accounts

    # -- servers -----------------------------------------------------------------------------------------

    async def _gather_server(self, server: Json) -> None:
        for endpoint, kind in _SERVER_ENDPOINTS.items():
            if endpoint == "JSZ" and not server.get("jetstream"):
                continue
            details = _DETAILS.get(endpoint) if self._selection.details else None
            paged = LISTS.get(endpoint) if details else None
            offset = 0
            while True:
                body = {**(details or {}), **({"offset": offset, "limit": _PAGE_SIZE} if paged else {})}
                try:
                    reply = await ask_server(self._connection, server["id"], endpoint, body)
                except JsctlError as error:
                    self._fail(f"{endpoint} of server {server['name']}", error)
                    break
                self._writer.add_json(reply, **_build_server_tags(server), artifact_type=kind)
                self.summary.endpoints += 1
                if not paged or len((reply.get("data") or {}).get(paged) or ()) < _PAGE_SIZE:
                    break
                offset += _PAGE_SIZE

    async def _gather_profiles(self, server: Json) -> None:
        for name, level in _PROFILES:
            body: Json = {"name": name, "debug": level}
            timeout = None
            if name == "cpu":
                body["duration"] = self._profiled
                timeout = self._profiled + 5 * SECOND
            try:
                reply = await ask_server(self._connection, server["id"], "PROFILEZ", body, timeout=timeout)
                data = reply.get("data") or {}
                if data.get("error"):
                    raise JsctlError(str(data["error"]))
                profile = base64.b64decode(data.get("profile") or "")
            except (JsctlError, ValueError) as error:
                self._fail(f"profile {name} of server {server['name']}", error)
                continue
            tags = {
                **_build_server_tags(server),
                "artifact_type": "profile",
                "profile_name": f"{name}_{level}" if level else name,
            }
            self._writer.add(profile, "prof", tags)
            self.summary.profiles += 1

    # -- accounts ----------------------------------------------------------------------------------------

    async def _gather_account(self, account: tuple[str, int]) -> None:
        name, server_count = account
        infos: list[Json] = []
        for endpoint, kind in _ACCOUNT_ENDPOINTS.items():
            has_jetstream = any((info.get("data") or {}).get("jetstream_enabled") for info in infos)
            if endpoint == "JSZ" and not has_jetstream:
                continue
            replies = await self._gather_answers(
                f"$SYS.REQ.ACCOUNT.{name}.{endpoint}", b"", name, kind, server_count
            )
            infos = replies if endpoint == "INFO" else infos
        for endpoint, (kind, key) in _PINGED_ENDPOINTS.items():
            body = _encode_body({key: name})
            await self._gather_answers(
                f"$SYS.REQ.SERVER.PING.{endpoint}", body, name, kind, len(self._servers)
            )

    async def _gather_answers(
        self, subject: str, body: bytes, account: str, kind: str, expect: int
    ) -> list[Json]:
        replies = await self._ask_all(subject, body, expect)
        for reply in replies:
            self._writer.add_json(
                reply, account=account, **_build_server_tags(reply["server"]), artifact_type=kind
            )
            self.summary.endpoints += 1
        return replies

    async def _ask_all(self, subject: str, body: bytes, expect: int) -> list[Json]:
        """Return one valid answer of each known server."""
        try:
            messages = await request_many(
                self._connection, subject, body, expect=expect, max_bytes=MAX_REPLY_BYTES
            )
        except JsctlError as error:
            self._fail(subject, error)
            return []
        replies: dict[str, Json] = {}
        for message in messages:
            try:
                reply = parse_reply(message.data, subject)
            except JsctlError as error:
                self._fail(subject, error)
                continue
            if reply["server"]["id"] in self._servers:
                replies.setdefault(reply["server"]["id"], reply)
        return list(replies.values())

    async def _gather_streams(self, account: tuple[str, int]) -> None:
        name, server_count = account
        body = {
            "account": name,
            "streams": True,
            "consumer": self._selection.consumers,
            "config": True,
            "raft": True,
            "direct_consumer": True,
        }
        streams = set()
        for reply in await self._ask_all("$SYS.REQ.SERVER.PING.JSZ", _encode_body(body), server_count):
            detail = find_account_detail(reply.get("data") or {}, name)
            for stream in detail.get("stream_detail") or ():
                streams.add(stream["name"])
                self._writer.add_json(
                    stream,
                    account=name,
                    server=reply["server"]["name"],
                    cluster=(stream.get("cluster") or {}).get("name") or UNCLUSTERED,
                    stream=stream["name"],
                    artifact_type="stream_info",
                )
        self.summary.streams += len(streams)

    def _add_metadata(self) -> None:
        info = self._connection.server_info
        try:
            user = getpass.getuser()
        except (KeyError, OSError):  # a user without a name
            user = "?"
        self._writer.add_json(
            {
                "capture_timestamp": format_rfc3339(seconds_to_ns(self._clock())),
                "connected_server_name": info.get("server_name", ""),
                "connected_server_version": info.get("version", ""),
                "connect_url": self._connection.url,
                "user_name": user,
                "version": self._version,
            },
            special=METADATA,
        )


def _encode_body(body: Mapping[str, Any]) -> bytes:
    """Return a request as JSON."""
    return json.dumps(body).encode()


def _build_server_tags(server: Json) -> dict[str, str]:
    return {"server": str(server["name"]), "cluster": str(server.get("cluster") or UNCLUSTERED)}
