"""Subjects that streams of several domains store."""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from jsctl.base.command_lines import build_flag
from jsctl.base.units import format_count
from jsctl.monitor.doctor.snapshot import DomainView, Snapshot
from jsctl.monitor.rules.catalog import Rule
from jsctl.monitor.trouble import Trouble
from jsctl.nats.subjects import overlaps


class _Stored(NamedTuple):
    view: DomainView
    stream: str
    subject: str

    @property
    def object(self) -> str:
        return f"stream {self.view.format_stream(self.stream)}"


def subject_twice(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield subjects that streams of one account store in several connected domains."""
    accounts: dict[tuple[str, str], list[_Stored]] = defaultdict(list)
    for view in snapshot.domains:
        for name, info in view.streams.items():
            if not name.startswith("$"):  # the servers' own, MQTT's
                stored = [_Stored(view, name, subject) for subject in info["config"].get("subjects") or ()]
                accounts[view.network, view.account] += stored
    for (_, _), stored in accounts.items():
        for group in _group_overlapping(snapshot, stored):
            objects = sorted({entry.object for entry in group})
            subjects = sorted({entry.subject for entry in group})
            yield Trouble.of_network(
                "SUBJECT_TWICE",
                f"subject {subjects[0]}",
                f"{format_count(len(objects))} streams of account {group[0].view.account_name} store it"
                f" in different domains: {', '.join(name.removeprefix('stream ') for name in objects)}"
                + (f" (subjects {', '.join(subjects)})" if len(subjects) > 1 else ""),
                "while the domains are connected, every message is stored in each of them, and sources"
                " that join these streams hold it several times",
                "use different subjects for the streams, or different accounts for the domains; to copy a"
                " stream, use a mirror: "
                + group[1].view.build_line(
                    "stream add",
                    f"{group[0].stream}-COPY",
                    flags=build_flag("--mirror", f"{group[0].stream}@{group[0].view.domain}"),
                ),
                objects,
            )


def _group_overlapping(snapshot: Snapshot, stored: list[_Stored]) -> Iterator[list[_Stored]]:
    """Yield the streams of different domains whose subjects overlap, each group once."""
    by_token: dict[str, list[int]] = defaultdict(list)
    for index, entry in enumerate(stored):
        by_token[entry.subject.split(".")[0]].append(index)
    wildcard_indices = [*by_token.pop("*", []), *by_token.pop(">", [])]
    parent = list(range(len(stored)))

    def root(index: int) -> int:
        while parent[index] != index:
            index = parent[index]
        return index

    for members in [*by_token.values(), wildcard_indices]:
        others = members if members is wildcard_indices else [*members, *wildcard_indices]
        for index in members:
            for other in others:
                entry, two = stored[index], stored[other]
                if (
                    entry.view.domain != two.view.domain
                    and overlaps(entry.subject, two.subject)
                    and snapshot.are_connected(entry.view, two.view)
                ):
                    parent[root(index)] = root(other)
    groups: dict[int, list[_Stored]] = defaultdict(list)
    for index, entry in enumerate(stored):
        groups[root(index)].append(entry)
    yield from (group for group in groups.values() if len(group) > 1)


RULES = (Rule("SUBJECT_TWICE", "streams of several domains store one subject", "streams"),)

CHECKS = (subject_twice,)
