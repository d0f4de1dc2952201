"""What became of a change that was rehearsed on a copy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jsctl.base.units import join_some
from jsctl.errors import ExitStatus
from jsctl.jetstream.api import Json
from jsctl.jetstream.config.differences import find_differences
from jsctl.jetstream.stream.config import STREAM
from jsctl.nats.subjects import matches
from jsctl.views.result import Cell, Column, Field, InfoPage, Part, Result, Section, Table, Text

_COLUMNS = (
    Column("Stream", "name"),
    Column("Before", "before", "count"),
    Column("After", "after", "count"),
    Column("Lost", "lost", "count"),
    Column("Consumers Gone", "consumers_gone", "prose", optional=True),
)
_FINDINGS = (Column("Code", "code"), Column("About", "about", "prose"), Column("Seen", "seen", "prose"))


@dataclass(slots=True)
class CopyState:
    """What the copy has. streams: number of messages. subjects: of the messages, by stream. consumers: names,
    by stream. findings: of doctor. version: of the server that answers."""

    streams: dict[str, int]
    configs: dict[str, Json]
    consumers: dict[str, set[str]]
    findings: list[Json]
    version: str = ""
    subjects: dict[str, set[str]] = field(default_factory=dict)


def list_not_stored(before: CopyState, after: CopyState) -> list[Json]:
    """Return the subjects of messages, by stream, on which no stream stores messages any more."""
    lost = []
    for name in sorted(before.subjects.keys() & after.configs.keys()):
        place, _, _ = name.rpartition(" > ")
        others = [config for other, config in after.configs.items() if other.rpartition(" > ")[0] == place]
        taken = [subject for config in others for subject in config.get("subjects") or ()]
        own = before.configs[name].get("subjects") or ()
        subjects = sorted(
            subject
            for subject in before.subjects[name]
            if any(matches(one, subject) for one in own) and not any(matches(one, subject) for one in taken)
        )
        if subjects:
            lost.append({"stream": name, "subjects": subjects})
    return lost


def list_unkept(before: CopyState, after: CopyState) -> list[str]:
    """Return what another nats-server has not kept: streams, and keys of their configurations."""
    unkept = []
    for name, config in sorted(before.configs.items()):
        if (kept := after.configs.get(name)) is None:
            unkept.append(name)
            continue
        old, new = (STREAM.without_server_keys(each) for each in (config, kept))
        unkept += [f"{each.key} of {name}" for each in find_differences(old, new, STREAM)]
    return unkept


def show_rehearsal(
    copied: CopyState,
    after: CopyState,
    refused: str,
    times: Mapping[str, float | None],
    servers: Json,
    scale: float | None,
    left_out: Sequence[str],
) -> Result:
    """Show what broke.

    refused: why the change cannot be made; empty if it was. times: seconds, by what took them; None for what
    did not end. servers: `count`, `version`, `new_version`, None if they have kept it, and what that has
    `not_kept`. scale: of limits and messages; None if they were copied as they are.
    """
    rows: list[Json] = [
        {
            "name": name,
            "before": count,
            "after": after.streams.get(name),
            "lost": max(0, count - after.streams.get(name, 0)),
            "consumers_gone": sorted(copied.consumers.get(name, set()) - after.consumers.get(name, set())),
        }
        for name, count in sorted(copied.streams.items())
    ]
    hit = [row for row in rows if row["lost"] or row["after"] is None or row["consumers_gone"]]
    new, gone = _find_new(copied, after), _find_new(after, copied)
    not_stored = list_not_stored(copied, after)
    is_broken = bool(refused or new or hit or not_stored or servers["not_kept"] or None in times.values())
    data: Json = {
        "broke": is_broken,
        "refused": refused or None,
        "servers": servers,
        "scale": scale,
        "seconds": {key.lower().replace(" ", "_"): spent for key, spent in times.items()},
        "streams": rows,
        "new_streams": sorted(after.streams.keys() - copied.streams.keys()),
        "not_stored": not_stored,
        "findings": {"new": new, "gone": gone},
        "left_out": list(left_out),
    }
    findings = [
        Table(title, _FINDINGS, [(each["code"], each["about"], each["seen"]) for each in found])
        for title, found in (("New Findings of doctor", new), ("Findings That Are Gone", gone))
    ]
    tables = [Table("What Was Lost", _COLUMNS, [_build_cells(row) for row in hit]), *findings]
    verdict = Text("something broke", "bad") if is_broken else Text("nothing broke", "good")
    parts: list[Part] = [_build_page(data, times), *(table for table in tables if table.rows), verdict]
    return Result(parts, data=data, status=ExitStatus.FAILURE if is_broken else ExitStatus.OK)


def _build_page(data: Json, times: Mapping[str, float | None]) -> InfoPage:
    """Return the page of a rehearsal's document. times: see `show_rehearsal`."""
    servers, refused, scale = data["servers"], data["refused"], data["scale"]
    versions = " to ".join(str(version) for key in ("version", "new_version") if (version := servers[key]))
    fields = [
        ("Servers", f"{servers['count']}, {versions}"),
        *((label, "not in time" if spent is None else f"{spent:.1f}s") for label, spent in times.items()),
        ("Limits", f"of streams, accounts and files times {scale:g}" if scale else ""),
        ("Refused", Cell(refused, refused, "bad") if refused else ""),
        ("Not Kept", ", ".join(servers["not_kept"])),
        *(
            ("No Longer Stored", f"{join_some(each['subjects'])}, which {each['stream']} has")
            for each in data["not_stored"]
        ),
        ("New Streams", ", ".join(data["new_streams"])),
        ("Not Rehearsed", "; ".join(data["left_out"])),
    ]
    return InfoPage(
        "Rehearsal", [Section("", [Field(label, value, "prose") for label, value in fields if value])]
    )


def _find_new(before: CopyState, after: CopyState) -> list[Json]:
    """Return the findings of doctor that were not there before."""
    known = {(each["code"], each["about"]) for each in before.findings}
    return [each for each in after.findings if (each["code"], each["about"]) not in known]


def _build_cells(row: Json) -> tuple[object, ...]:
    return (*(row[key] for key in ("name", "before", "after", "lost")), ", ".join(row["consumers_gone"]))
