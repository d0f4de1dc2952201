"""The rules of single objects, on all streams, copies, consumers and accounts of a snapshot."""

import itertools
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence

from jsctl.base.command_lines import Suggestion
from jsctl.jetstream.config.origins import api_to_domain, list_origins
from jsctl.monitor.consumer import diagnosis
from jsctl.monitor.consumer.diagnosis import find_troubles
from jsctl.monitor.consumer.facts import Facts, select_stream_facts
from jsctl.monitor.doctor.snapshot import DomainView, Json, Link, Snapshot, list_links
from jsctl.monitor.rights import describe_ack_denials
from jsctl.monitor.rules import contexts, objects, streams
from jsctl.monitor.rules import links as link_rules
from jsctl.monitor.rules.links import Edge, Node, check_links, check_progress, read_ends
from jsctl.monitor.trouble import Repair, Trouble

RULES = (*contexts.RULES, *link_rules.RULES, *objects.RULES, *diagnosis.RULES)
_BY_CODE = {rule.code: rule for rule in RULES}

_REPORTED_ELSEWHERE = frozenset({"STREAM_NO_LEADER", "REPLICA_OFFLINE", "ORIGIN_MISSING"})
"""Codes whose findings name what several objects have in common: a server, a domain."""


def seen_objects(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield what is wrong with each stream, mirror, source, consumer and account, as a report does,
    except what several of them have in common."""
    for finding in itertools.chain(_find_in_views(snapshot), _find_of_links(snapshot)):
        if finding.code not in _REPORTED_ELSEWHERE:
            yield finding


def _find_in_views(snapshot: Snapshot) -> Iterator[Trouble]:
    for view in snapshot.domains:
        for trouble in describe_ack_denials(view.denied):
            yield build_finding(trouble, snapshot, view, f"context {view.context}")
        for trouble in objects.check_account(dict(view.limits)):
            yield build_finding(trouble, snapshot, view, f"account {view.account_name}")
        for name, info in view.streams.items():
            for trouble in [
                *streams.check_stream(info, snapshot.at),
                *view.evidence.streams.get(name, ()),
            ]:
                yield build_finding(trouble, snapshot, view, f"stream {view.format_stream(name)}")
        for info in view.consumers or ():
            yield from _find_of_consumer(snapshot, view, info)


def _find_of_consumer(snapshot: Snapshot, view: DomainView, info: Json) -> Iterator[Trouble]:
    stream, name = info["stream_name"], info["name"]
    if stream not in view.streams:
        return
    stream_facts = select_stream_facts(view.streams[stream], view.evidence.consumers.get(stream))
    facts = Facts(stream, name, info, stream_facts)
    for trouble in find_troubles(facts):
        yield build_finding(trouble, snapshot, view, f"consumer {view.format_stream(stream)} > {name}")


def _find_of_links(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield what is wrong with mirrors and sources whose both ends are known."""
    links: dict[Hashable, Link] = {}
    edges: list[Edge] = []
    configs: dict[Node, Json] = {}
    names: dict[Node, str] = {}
    for view in snapshot.domains:
        for name, info in view.streams.items():
            node = (_place(view), name)
            configs[node], names[node] = info["config"], view.format_stream(name)
    for view in snapshot.domains:
        for number, link in enumerate(list_links(view)):
            key: Hashable = (_place(view), number)
            origin = _find_origin(link)
            links[key] = link
            if link.origin.info.get("config"):
                configs.setdefault(origin, link.origin.info["config"])
            config, sources = dict(link.config), list_origins(link.info["config"])
            edges.append(Edge((_place(view), link.stream), origin, link.kind, config, sources, key))
    ends = read_ends(configs.items())._replace(names=names)
    troubles = check_links(edges, ends)
    for edge in edges:
        link = links[edge.key]
        more = () if link.view.is_page else check_progress(edge, ends, link.progress, refuses=link.is_full)
        for trouble in [*troubles.get(edge.key, ()), *more]:
            yield build_finding(trouble, snapshot, link.view, link.label, [link.object])


def _place(view: DomainView) -> Hashable:
    return view.network, view.account, view.domain or view.prefix


def _find_origin(link: Link) -> Node:
    """Return the stream that a link copies; one of another account is known by its API prefix."""
    view = link.view
    domain = api_to_domain(link.api)
    if not link.api or link.api == view.prefix:
        return _place(view), link.name
    return (view.network, view.account, domain or f"{view.account} {link.api}"), link.name


def build_finding(
    trouble: Trouble,
    snapshot: Snapshot,
    view: DomainView,
    about: str,
    objects: Sequence[str] = (),
) -> Trouble:
    """Return the finding for a trouble of an object. objects: see `Trouble.locate`.

    Its command lines work in the object's account, those that ask servers with the system account.
    """
    rule = _BY_CODE[trouble.code]

    def build(command: Suggestion) -> str:
        builder = snapshot.build_system_line if command.asks_servers else view.build_line
        return builder(command.verb, *command.names, flags=command.flags)

    advice = trouble.advice or re.sub(r"\{(.+?)\}", lambda found: build(_parse_command(found[1])), rule.fix)
    built = [(command.purpose, build(command)) for command in trouble.help]
    lines = [(purpose, line) for purpose, line in built if line not in advice]
    if any(purpose for purpose, _ in lines):
        fix = "; ".join([advice, *(f"{purpose}: {line}" for purpose, line in lines)])
    else:
        fix = f"{advice}: {' && '.join(line for _, line in lines)}" if lines else advice
    why = _LIMIT_REASONS[about.split()[0]] if rule.code == "LIMIT_NEAR" else rule.why
    repair = None if view.is_page else _build_repair(trouble.help, view)
    return trouble.locate(about, why, fix, objects)._replace(repair=repair)


def _build_repair(help: Sequence[Suggestion], view: DomainView) -> Repair | None:
    """Return the safe one of the command lines that a fix has; None if there is none."""

    def build(command: Suggestion) -> list[str]:
        flags = command.flags if "--force" in command.flags else [*command.flags, "--force"]
        return view.build_words(command.verb, *command.names, flags=flags)

    safe = next((command for command in help if command.is_safe), None)
    return safe and Repair(build(safe), build(safe.undo) if safe.undo else ())


def _parse_command(text: str) -> Suggestion:
    verb, *flags = re.split(r" (?=--)", text)
    return Suggestion(verb, flags=flags)


_LIMIT_REASONS: Mapping[str, str] = {
    "account": "at the limit the server refuses new streams, consumers or messages",
    "stream": "at the limit it refuses messages, or consumers",
}

CHECKS = (seen_objects,)
