"""Consumers that link two accounts or streams, one of which no longer exists."""

from collections.abc import Iterator

from jsctl.monitor.doctor.imports import find_details, list_account_details, list_service_imports
from jsctl.monitor.doctor.sharing import find_account_name
from jsctl.monitor.doctor.snapshot import DomainView, Json, Snapshot
from jsctl.monitor.rules.catalog import Rule
from jsctl.monitor.trouble import Trouble
from jsctl.nats.subjects import covers


def consumer_orphaned(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield consumers that clients or streams of another account use, when one of the two sides no longer
    exists."""
    yield from _find_orphaned_imports(snapshot)
    yield from _find_orphaned_deliveries(snapshot)
    yield from _find_missing_named_consumers(snapshot)


def _find_orphaned_imports(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield imports that name a consumer which does not exist, or whose stream does not."""
    reported: set[tuple[str, str, str]] = set()
    for _, account, detail in list_account_details(snapshot):
        for exporter, _, remote in list_service_imports(detail):
            domain, stream, consumer = _parse_consumer(remote)
            if not stream or (account, exporter, stream + consumer) in reported:
                continue
            views = [
                view
                for view in snapshot.domains
                if view.account == exporter and view.domain == (domain or view.domain) and view.error is None
            ]
            if not views or any(_exists(view, stream, consumer) for view in views):
                continue
            reported.add((account, exporter, stream + consumer))
            is_gone = not any(stream in view.streams or stream in view.silent for view in views)
            missing = f"stream {stream}" if is_gone else f"consumer {stream} > {consumer}"
            user, owner = str(detail.get("name_tag") or account), find_account_name(snapshot, exporter)
            yield Trouble.of_network(
                "CONSUMER_ORPHANED",
                f"consumer {stream} > {consumer}",
                f"account {user} imports {remote} from {owner}, where {missing} does not exist",
                f"clients in {user} wait for messages that never arrive",
                f"create it in {owner}: "
                + snapshot.build_account_line(
                    exporter,
                    domain,
                    *(["stream add", stream] if is_gone else ["consumer add", stream, consumer]),
                )
                + f"; or remove the import from {user}",
                [f"import {user} {remote}"],
            )


def _parse_consumer(remote: str) -> tuple[str, str, str]:
    """Return (domain, stream, consumer) that the subject of an import names; empty for none."""
    tokens = remote.split(".")
    if tokens[:2] == ["$JS", "ACK"] and len(tokens) >= 4:
        consumer_parts = "", tokens[2], tokens[3]
    elif ".API.CONSUMER.MSG.NEXT." in remote and tokens[0] == "$JS":
        head, _, rest = remote.partition(".API.CONSUMER.MSG.NEXT.")
        stream, _, consumer = rest.partition(".")
        consumer_parts = head[4:], stream, consumer
    else:
        return "", "", ""
    return consumer_parts if all(part not in ("", "*", ">") for part in consumer_parts[1:]) else ("", "", "")


def _exists(view: DomainView, stream: str, consumer: str) -> bool:
    if stream in view.silent:
        return True
    if stream not in view.streams:
        return False
    return view.consumers is None or any(
        info["stream_name"] == stream and info["name"] == consumer for info in view.consumers
    )


def _find_orphaned_deliveries(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield push consumers that deliver to another account, where nobody listens any more."""
    for view in snapshot.domains:
        exported = [
            str(export.get("subject"))
            for detail in find_details(snapshot.servers, view.account, view.domain)
            for export in detail.get("exports") or ()
            if export.get("type") == "stream"
        ]
        for info in view.consumers or ():
            subject = (info.get("config") or {}).get("deliver_subject") or ""
            is_for_others = any(covers(pattern, subject) for pattern in exported) or _is_for_stream(info)
            if not subject or info.get("push_bound") or not is_for_others:
                continue
            stream, name = info["stream_name"], info["name"]
            yield Trouble.of_network(
                "CONSUMER_ORPHANED",
                f"consumer {view.format_stream(stream)} > {name}",
                f"it delivers to {subject} for another account or domain, and no stream listens there",
                "with interest or work queue retention, the stream keeps the messages that wait for it,"
                " and grows",
                "create the stream on the other side again" + _describe_removal(view, stream, name),
                [f"consumer {view.format_stream(stream)} > {name}"],
            )


def _describe_removal(view: DomainView, stream: str, name: str) -> str:
    """Return how to remove a consumer; empty if messages that wait for it would go with it."""
    retention = (view.streams.get(stream) or {}).get("config", {}).get("retention", "limits")
    return f", or remove it: {view.build_line('consumer rm', stream, name)}" if retention == "limits" else ""


def _is_for_stream(info: Json) -> bool:
    """Return whether a consumer was created for a mirror or source (ack policy of nats-server 2.14)."""
    return str((info.get("config") or {}).get("ack_policy")) == "flow_control"


def _find_missing_named_consumers(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield mirrors and sources that name a consumer of the origin which, according to the server, does not
    exist."""
    for link in snapshot.links():
        name = (link.config.get("consumer") or {}).get("name")
        error = str((link.state.get("error") or {}).get("description") or "")
        if name and "consumer" in error and "not found" in error:
            yield Trouble.of_network(
                "CONSUMER_ORPHANED",
                link.label,
                f"it copies {link.name} through consumer {name}, which does not exist there",
                "nothing is copied until it exists",
                f"create it at the origin: {link.build_origin_line('consumer add', link.name, name)}",
                [link.object],
            )


RULES = (Rule("CONSUMER_ORPHANED", "a consumer between accounts has lost one side", "consumers"),)

CHECKS = (consumer_orphaned,)
