"""Mirrors and sources that get nothing from their origins."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from jsctl.base.units import (
    NEVER,
    SECOND,
    format_count,
    format_exact_duration,
    join_some,
    pluralize,
    truncate_to_seconds,
)
from jsctl.jetstream.config.origins import api_to_domain
from jsctl.jetstream.state import read_last_active
from jsctl.monitor.doctor.snapshot import Link, Snapshot
from jsctl.monitor.rules.links import ANEW, build_create_subject
from jsctl.monitor.rules.objects import SILENT
from jsctl.monitor.trouble import Trouble, has_leader, is_settled
from jsctl.nats.error_codes import ErrorCode

_RECENT = 10 * SECOND  #: ns since the last sign of life of an origin that certainly exists


def origin_silent(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield API prefixes of mirrors and sources on which nobody answers."""
    groups: dict[tuple[str, str], list[Link]] = defaultdict(list)
    for link in snapshot.links():
        if is_unanswered(link):
            groups[link.view.account, link.api].append(link)
    for (_, api), links in groups.items():
        domain = api_to_domain(api)
        first = links[0]
        yield Trouble.of_network(
            "ORIGIN_SILENT",
            f"domain {domain}" if domain else f"API prefix {api}",
            f"nobody answers on {api}.{build_create_subject(first.config)}, which {_format_names(links)}"
            f" {'copies' if len(links) == 1 else 'copy'} from; {_format_last_heard(links)}",
            "what the origin stores meanwhile does not arrive, and the copy shows lag 0 and no error",
            _describe_reconnection(snapshot, first, domain)
            or (
                f"start the servers of domain {domain}, or connect its leaf node with a remote for account"
                f" {first.view.account_name}; a wrong name cannot be edited: create"
                " another mirror with the right one"
                if domain
                else f"account {first.view.account_name} must import the service {api}.CONSUMER.CREATE.>"
                " from the account of the origin, which exports it; CONSUMER.CREATE.* is not enough with a"
                " filter"
            ),
            [link.object for link in links],
        )


def _describe_reconnection(snapshot: Snapshot, link: Link, domain: str) -> str:
    """Return how to connect a domain that exists and that the copy does not reach; empty for one that does
    not exist.
    """
    through = [
        view.context
        for view in snapshot.domains
        if (view.domain, view.account) == (domain, link.view.account) and view.error is None
    ]
    if not domain or not through:
        return ""
    return (
        f"domain {domain} answers in context {through[0]}: connect domain {link.view.domain} with it, by"
        f" a leaf node remote for account {link.view.account_name}, or start the hub between them"
    )


def is_unanswered(link: Link) -> bool:
    """Return whether nobody answers on the API prefix that a stream copies from."""
    if not link.api or link.origin.answers is not False:
        return False
    # Perhaps only the servers of the stream know the prefix; then they hear from the origin.
    heard = read_last_active(dict(link.state))
    return bool(api_to_domain(link.api)) or heard == NEVER or heard >= _RECENT


def origin_missing(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield mirrors and sources of streams that do not exist."""
    for link in snapshot.links():
        error = link.state.get("error") or {}
        if link.origin.missing or error.get("err_code") == ErrorCode.STREAM_NOT_FOUND:
            place = f" on {link.api}" if link.api else ""
            yield Trouble.of_network(
                "ORIGIN_MISSING",
                link.label,
                f"it is a {link.kind} of stream {link.name}{place}, which does not exist",
                "nothing is copied; once a stream of that name is created, all of it is",
                f"create it: {link.build_origin_line('stream add', link.name)}",
                [link.object],
            )


def link_idle(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield mirrors and sources that look active and copy nothing."""
    for link in snapshot.links():
        heard = read_last_active(dict(link.state))
        if link.is_stuck and heard != NEVER and not link.state.get("error"):
            lag = link.progress.lag
            at_origin = int((link.origin.info.get("state") or {}).get("messages") or 0)
            more = (
                f"it is {pluralize(lag, 'message')} behind"
                if lag
                else f"{link.name} has {format_count(at_origin)}"
            )
            copied = int(link.info["state"]["messages"])
            yield Trouble.of_network(
                "LINK_IDLE",
                link.label,
                f"it heard from its origin {format_exact_duration(truncate_to_seconds(heard))} ago, "
                f"but copies nothing: it holds {pluralize(copied, 'message')}, {more}",
                "the copy stays behind, and reports call it active",
                _describe_delivery_check(snapshot, link),
                [link.object],
            )


def link_failed(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield mirrors and sources with an error, and those that have not heard from their origin for long, or
    never."""
    for link in snapshot.links():
        if not has_leader(link.info):
            continue  # only a leader copies
        error, heard = link.state.get("error") or {}, read_last_active(dict(link.state))
        is_old_enough = is_settled(link.info.get("created"), link.info.get("ts") or snapshot.at)
        if error:
            observation = (
                f"the server says: {error.get('description')} ({error.get('err_code') or error.get('code')})"
            )
        elif heard == NEVER and is_old_enough:
            observation = "its origin was never heard from"
        elif heard >= SILENT:
            observation = (
                f"its origin was last heard from {format_exact_duration(truncate_to_seconds(heard))} ago"
            )
        else:
            continue
        yield Trouble.of_network(
            "LINK_FAILED",
            link.label,
            f"{link.kind} of {link.name}: {observation}"
            + (", although it answers now" if link.origin.info else ""),
            "what the origin stores does not arrive",
            f"wait a minute, in which the server tries again; then {_describe_restart(link)}"
            if link.origin.info
            else f"see the origin: {link.view.build_line('stream info', link.name, prefix=link.api)}",
            [link.object],
        )


def _describe_restart(link: Link) -> str:
    """Return what makes a server begin a copy again."""
    group = link.info.get("cluster") or {}
    if group.get("replicas"):
        return f"elect another leader: {link.view.build_line('stream cluster step-down', link.stream)}"
    return f"restart server {group['leader']}" if group.get("leader") else "restart its server"


def _describe_delivery_check(snapshot: Snapshot, link: Link) -> str:
    if int(link.info["config"].get("max_msg_size") or -1) > 0:
        edit = link.view.build_line("stream edit", link.stream, flags=["--max-msg-size", "-1"])
        return f"it stops at a message that is larger than its --max-msg-size: {edit}"
    if link.kind == "mirror" and link.info["config"].get("discard") == "new":
        copy = link.view.build_line(
            "stream copy", link.stream, f"{link.stream}_NEW", flags=["--discard", "old"]
        )
        return f"it has refused messages at its limit, and may stay so: {ANEW}: {copy}"
    if not link.deliver:
        return (
            f"see who has the messages: {link.view.build_line('stream report')}; across accounts the copy"
            " needs a delivery prefix that its account imports"
        )
    return (
        f"account {link.view.account_name} must import the stream {link.deliver}.> from the account of"
        f" the origin, which exports it; {snapshot.build_system_line('doctor')} checks that"
    )


def _format_names(links: Sequence[Link]) -> str:
    return join_some(link.label for link in links)


def _format_last_heard(links: Sequence[Link]) -> str:
    spans = [read_last_active(dict(link.state)) for link in links]
    known_spans = [span for span in spans if span != NEVER]
    if not known_spans:
        return "its leader has not heard from it"
    return f"last heard from {format_exact_duration(truncate_to_seconds(min(known_spans)))} ago"


CHECKS = (origin_missing, origin_silent, link_idle, link_failed)
