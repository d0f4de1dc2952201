"""Exports and imports: subjects that a mirror across accounts needs, and imports that lead nowhere."""

from collections.abc import Iterator, Sequence

from jsctl.monitor.doctor.imports import (
    ImportHop,
    find_details,
    follow_import,
    has_export,
    list_account_details,
    list_service_imports,
    trace_imports,
)
from jsctl.monitor.doctor.sharing import Gap, find_account_name, fix_gap, fix_invalid
from jsctl.monitor.doctor.snapshot import Link, Snapshot
from jsctl.monitor.rules.catalog import Rule
from jsctl.monitor.rules.links import build_create_subject
from jsctl.monitor.trouble import Trouble
from jsctl.nats.error_codes import ErrorCode
from jsctl.nats.subjects import covers

_COPY_CAUSES = ("ORIGIN_SILENT", "IMPORT_DEAD", "ORIGIN_MISSING")


def delivery_not_imported(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield mirrors and sources whose account does not import their delivery prefix."""
    for link in snapshot.links():
        gap = _find_missing_stream_import(snapshot, link, _trace_requests(snapshot, link))
        if gap:
            importer, exporter = (
                find_account_name(snapshot, gap.importer),
                find_account_name(snapshot, gap.exporter),
            )
            prefix_words = f"delivery prefix {link.deliver}" if link.deliver else "no delivery prefix"
            yield Trouble.of_network(
                "DELIVERY_NOT_IMPORTED",
                link.label,
                f"it copies {link.name} through {link.api} with {prefix_words}, and account {importer}"
                f" imports no stream from {exporter} that covers it",
                "what the origin sends does not arrive: the copy looks active, shows lag 0 and receives"
                " nothing",
                fix_gap(snapshot, gap, f"delivery-{link.name}"),
                [link.object],
            )


def flow_control_missing(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield mirrors and sources across accounts that lack the import of the flow control subject."""
    for link in snapshot.links():
        error = link.state.get("error") or {}
        stalled = error.get("err_code") == ErrorCode.SOURCE_CONSUMER_FLOW_CONTROL_STALLED
        subject = f"$JS.FC.{link.name}.>"
        hops = _trace_requests(snapshot, link)
        gap = _find_missing_service_import(snapshot, link, hops, subject)
        if not gap and not stalled:
            continue
        observation, fix = "flow control does not pass", ""
        if gap:
            importer, exporter = (
                find_account_name(snapshot, gap.importer),
                find_account_name(snapshot, gap.exporter),
            )
            observation = f"account {importer} does not import {gap.subject} from {exporter}"
            fix = fix_gap(snapshot, gap, f"flow-control-{link.name}")
        yield Trouble.of_network(
            "FLOW_CONTROL_MISSING",
            link.label,
            f"it copies {link.name} through {link.api}, and {observation}"
            + ("; the server says: stalled on flow control" if stalled else ""),
            "a few messages arrive; after about a megabyte the copy stalls",
            fix
            or f"account {link.view.account_name} must import the service {subject} from the account of the"
            f" origin, which exports it; {snapshot.build_system_line('doctor')} names both",
            [link.object],
        )


def import_dead(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield service imports that are configured on both sides, and that nobody answers: a reload broke
    them."""
    names = {server.id: server.name for server in snapshot.servers}
    for context in snapshot.contexts:
        for imported in context.tried:
            if imported.answers is not False:
                continue
            details = find_details(snapshot.servers, imported.account)
            is_exported = any(has_export(detail, "service", imported.remote) for detail in details)
            if not is_exported or not any(detail.get("jetstream_enabled") for detail in details):
                continue
            if not _is_reachable(snapshot, imported.account, imported.remote):
                continue
            objects = [
                link.object
                for link in snapshot.links()
                if link.view.account == context.account
                and covers(imported.local, f"{link.api}.{build_create_subject(link.config)}")
            ]
            yield Trouble.of_network(
                "IMPORT_DEAD",
                f"account {context.account_name}",
                f"it imports {imported.local} from {find_account_name(snapshot, imported.account)}, "
                "which exports it and has JetStream, but nobody answers",
                "a reload that adds an account breaks its service imports: requests and mirrors through"
                " them fail",
                "reload the configuration once more: "
                + snapshot.build_system_line(
                    "server config reload",
                    *([names.get(context.server, context.server)] if context.server else []),
                ),
                objects or [f"import {context.account_name} {imported.local}"],
            )


def import_invalid(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield imports of what is not exported, or whose token is not valid."""
    reported: set[tuple[str, str, str]] = set()
    for _, account, detail in list_account_details(snapshot):
        for imported in detail.get("imports") or ():
            key = (account, str(imported.get("account")), str(imported.get("subject")))
            if not imported.get("invalid") or key in reported:
                continue
            reported.add(key)
            exporter = find_account_name(snapshot, key[1])
            yield Trouble.of_network(
                "IMPORT_INVALID",
                f"account {detail.get('name_tag') or account}",
                f"the server refuses its import of {key[2]} from {exporter}",
                "nothing passes through it",
                fix_invalid(snapshot, account, key[1], imported),
                [f"import {detail.get('name_tag') or account} {key[2]}"],
            )


def _trace_requests(snapshot: Snapshot, link: Link) -> list[ImportHop]:
    """Return the imports through which the requests of a mirror or source pass; none if they stay in its
    account, or that is not known."""
    view = link.view
    if not (link.api and find_details(snapshot.servers, view.account)):
        return []
    subject = f"{link.api}.{build_create_subject(link.config)}"
    return trace_imports(snapshot.servers, view.account, subject, view.domain)


def _find_missing_stream_import(snapshot: Snapshot, link: Link, hops: Sequence[ImportHop]) -> Gap | None:
    """Return the first stream import that the messages need and that is missing."""
    importer, subject = link.view.account, f"{link.deliver}.>" if link.deliver else "the delivery subject"
    for hop in hops:
        import_hop = (
            follow_import(snapshot.servers, importer, subject, link.view.domain, "stream")
            if link.deliver
            else None
        )
        if import_hop is None or import_hop.account != hop.account:
            needed = subject if link.deliver else f"deliver.{find_account_name(snapshot, hop.account)}.>"
            return Gap(importer, hop.account, "stream", needed)
        importer, subject = import_hop.account, import_hop.subject
    return None


def _find_missing_service_import(
    snapshot: Snapshot, link: Link, hops: Sequence[ImportHop], subject: str
) -> Gap | None:
    """Return the first service import that a subject needs and that is missing."""
    importer = link.view.account
    for hop in hops:
        import_hop = follow_import(snapshot.servers, importer, subject, link.view.domain, "service")
        if import_hop is None or import_hop.account != hop.account:
            return Gap(importer, hop.account, "service", subject)
        importer, subject = import_hop.account, import_hop.subject
    return None


def _is_reachable(snapshot: Snapshot, account: str, remote: str) -> bool:
    """Return whether the JetStream behind an import exists, and no further import redirects its requests."""
    domain = remote.split(".API.")[0].removeprefix("$JS").removeprefix(".")
    servers = [server for server in snapshot.servers if server.jetstream and account in server.accounts]
    leads_on = any(
        covers(local, remote) or covers(remote, local)
        for detail in find_details(snapshot.servers, account)
        for _, local, _ in list_service_imports(detail)
    )
    return not leads_on and any(not domain or server.domain == domain for server in servers)


RULES = (
    Rule("IMPORT_INVALID", "an account imports what is not exported", "accounts"),
    Rule("IMPORT_DEAD", "a reload left a service import dead", "accounts"),
    Rule(
        "DELIVERY_NOT_IMPORTED",
        "the delivery prefix of a mirror or source is not imported",
        "accounts",
        _COPY_CAUSES,
    ),
    Rule(
        "FLOW_CONTROL_MISSING",
        "flow control of a mirror or source does not pass between accounts",
        "accounts",
        (*_COPY_CAUSES, "DELIVERY_NOT_IMPORTED"),
    ),
)

CHECKS = (import_invalid, import_dead, delivery_not_imported, flow_control_missing)
