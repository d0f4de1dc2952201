"""Exports and imports of accounts, as the servers report them, and how subjects pass through them.

`local` is the subject in the importing account, `remote` the same in the account that exports it
(nats-server: accounts.go, ACCOUNTZ).
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jsctl.base.units import SECOND
from jsctl.errors import JsctlError, NoResponders
from jsctl.monitor.doctor.snapshot import Import, Json, ServerView, Snapshot
from jsctl.monitor.rules.links import PROBE
from jsctl.nats.connection import Connection
from jsctl.nats.subjects import covers

_API = ("INFO", "STREAM.NAMES", f"STREAM.INFO.{PROBE}", f"CONSUMER.NAMES.{PROBE}", f"CONSUMER.CREATE.{PROBE}")
"""Requests below an API prefix that every JetStream answers and that change nothing."""

_MAX_HOPS = 8  #: imports followed at most; they may form a circle


class ImportHop(NamedTuple):
    """Where an import leads. account: the exporting one. subject: the subject there. local: the import's
    pattern.
    """

    account: str
    subject: str
    local: str


def find_details(servers: Iterable[ServerView], account: str, domain: str = "") -> list[Json]:
    """Return the servers' details of an account: from servers of the domain, or else from all."""
    knowing = [view for view in servers if account in view.accounts]
    in_domain = [view for view in knowing if view.domain == domain] if domain else []
    return [view.accounts[account] for view in in_domain or knowing]


def list_service_imports(detail: Mapping[str, Any], kind: str = "service") -> Iterator[tuple[str, str, str]]:
    """Yield (exporting account, local subject, remote subject) of an account's valid imports, without the
    server's own. kind: "service" or "stream"."""
    for imported in detail.get("imports") or ():
        remote = str(imported.get("subject") or "")
        local = str(imported.get("local_subject") or imported.get("to") or remote)
        is_servers_own = remote.startswith("$SYS.") or (remote == "$JS.API.>" == local)
        if imported.get("type") == kind and not imported.get("invalid") and not is_servers_own:
            yield str(imported.get("account") or ""), local, remote


def has_export(detail: Mapping[str, Any], kind: str, subject: str) -> bool:
    """Return whether an account exports a subject. kind: "service" or "stream"."""
    return any(
        export.get("type") == kind and covers(str(export.get("subject") or ""), subject)
        for export in detail.get("exports") or ()
    )


def follow_import(
    servers: Sequence[ServerView], account: str, subject: str, domain: str, kind: str
) -> ImportHop | None:
    """Return where an account's import takes a subject; None when no import covers it.

    kind: "service", or "stream", whose messages flow in the opposite direction.
    """
    for detail in find_details(servers, account, domain):
        for exporter, local, remote in list_service_imports(detail, kind):
            if covers(local, subject):
                return ImportHop(exporter, translate(local, remote, subject), local)
    return None


def trace_imports(servers: Sequence[ServerView], account: str, subject: str, domain: str) -> list[ImportHop]:
    """Return the imports through which a request passes, one account after the other."""
    hops: list[ImportHop] = []
    while len(hops) < _MAX_HOPS and (hop := follow_import(servers, account, subject, domain, "service")):
        hops.append(hop)
        account, subject = hop.account, hop.subject
    return hops


def translate(local: str, remote: str, subject: str) -> str:
    """Return the subject in the exporting account. Wildcards have the same order on both sides, or a number
    (`$1`)."""
    parts: list[str] = []
    rest: list[str] = []
    tokens = subject.split(".")
    for index, token in enumerate(local.split(".")):
        if token == ">":
            rest = tokens[index:]
        elif token == "*" or (token.startswith("$") and token[1:].isdigit()):
            parts.append(tokens[index])
    numbered, result = list(parts), []
    for token in remote.split("."):
        if token == ">":
            result += rest
        elif token == "*" and parts:
            result.append(parts.pop(0))
        elif token.startswith("$") and token[1:].isdigit() and 0 < int(token[1:]) <= len(numbered):
            result.append(numbered[int(token[1:]) - 1])
        else:
            result.append(token)
    return ".".join(result)


async def try_imports(
    connection: Connection, account: str, servers: Sequence[ServerView]
) -> Sequence[Import]:
    """Ask through each service import of an account that leads to a JetStream API whether anybody answers."""
    server = str(connection.server_info.get("server_id") or "")
    views = [view for view in servers if view.id == server] or list(servers)
    subjects = dict.fromkeys(
        imported
        for detail in find_details(views, account)
        for imported in list_service_imports(detail)
        if _build_request(imported[1], imported[2])
    )

    async def attempt(exporter: str, local: str, remote: str) -> Import:
        try:
            await connection.request(
                _build_request(local, remote), timeout=min(2 * SECOND, connection.settings.timeout)
            )
        except NoResponders:
            return Import(exporter, local, remote, False)
        except JsctlError:
            return Import(exporter, local, remote)
        return Import(exporter, local, remote, True)

    return await asyncio.gather(*(attempt(*imported) for imported in subjects))


def _build_request(local: str, remote: str) -> str:
    """Return the subject of a request that JetStream behind an import would answer, in the importing account;
    empty when there is none."""
    head, api, _ = remote.partition(".API.")
    if not api or not head.startswith("$JS"):
        return ""
    literal = ".".join(PROBE if token in ("*", ">") else token for token in remote.split("."))
    for name in _API:
        subject = f"{head}.API.{name}"
        if covers(remote, subject):
            return translate(remote, local, subject)
        # An import for a single stream, such as CONSUMER.CREATE.ORDERS.>
        verb = ".".join(name.split(".")[:2])
        if literal.startswith(f"{head}.API.{verb}."):
            return translate(remote, local, literal)
    return ""


def list_account_details(snapshot: Snapshot) -> Iterator[tuple[ServerView, str, Json]]:
    """Yield (server, account ID, details) of each account on each server that was asked for it."""
    for view in snapshot.servers:
        for account, detail in view.accounts.items():
            yield view, account, detail
