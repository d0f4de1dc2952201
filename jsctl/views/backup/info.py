"""`backup info` and `backup validate`: what a backup's archive holds."""

from collections.abc import Mapping
from typing import Any

from jsctl.base.units import format_count, format_rfc3339, format_time, pluralize, read_known_time
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.files import Backup
from jsctl.jetstream.backup.receipt import Validation
from jsctl.jetstream.backup.verification import Scan
from jsctl.views.result import Column, Field, InfoPage, Lines, Result, Section, Table, Text

_LIMITS = (
    "A snapshot is not taken at one instant: messages that were deleted while the server sent it may be "
    "missing, its declared counts are those of its beginning, and consumers are saved one after the other "
    "after that. A cluster does not save acknowledgements above a consumer's floor: those messages are "
    "delivered again."
)

COLUMNS = (Column("Subject", "subject"), Column("Count", "messages", "count"))


def valid(backup: Backup, scan: Scan) -> Result:
    """Return that a backup is intact."""
    totals = scan.totals
    sequences = "no messages"
    if totals.messages:
        sequences = f"sequences {format_count(totals.first_sequence)} to {format_count(totals.last_sequence)}"
    counts = (
        f"OK: {pluralize(scan.entries, 'entry')}, {pluralize(len(scan.consumers), 'consumer')}, "
        f"{pluralize(totals.messages, 'message')}, {pluralize(totals.subjects, 'subject')}, {sequences}"
    )
    data = {
        "stream": backup.stream,
        "entries": scan.entries,
        "consumers": len(scan.consumers),
        "messages": totals.messages,
        "num_subjects": totals.subjects,
        "first_seq": totals.first_sequence,
        "last_seq": totals.last_sequence,
    }
    return Result([Lines((counts,))], data=data)


def noted(backup: Backup, validation: Validation) -> Result:
    """Return that a backup is intact, and which of its parts were read for that."""
    messages = int(backup.state.get("messages", 0))
    line = (
        f"OK: {pluralize(len(validation.read), 'part')} read, {pluralize(len(validation.known), 'part')} "
        f"known by the receipt, {pluralize(messages, 'message')}"
    )
    data = {
        "stream": backup.stream,
        "messages": messages,
        "read": list(map(str, validation.read)),
        "known": list(map(str, validation.known)),
    }
    return Result([Lines((line,))], data=data)


def information(backup: Backup, scan: Scan, *, with_subjects: bool) -> Result:
    """Return what a backup holds: its configuration, what was counted, and what its state says."""
    config, declared = backup.config, scan.state
    totals = scan.totals
    is_advisory = totals.messages > 0 and not (declared.get("messages") and declared.get("bytes"))
    sections = [
        Section("Configuration", _build_config_fields(config)),
        *([Section("Encryption", [Field("Encrypted", True, "bool")])] if backup.is_encrypted else []),
        Section(
            "Consumers",
            [
                Field("Count", len(scan.consumers), "count"),
                *([Field("Names", scan.consumers)] if scan.consumers else []),
            ],
        ),
        Section("Messages", _build_message_fields(scan)),
        Section(
            "Declared State" + (" (message and byte counts are advisory)" if is_advisory else ""),
            [
                Field("Messages", declared.get("messages", 0), "count"),
                Field("Bytes", declared.get("bytes", 0), "bytes"),
                Field("First Sequence", declared.get("first_seq", 0), "count"),
                Field("Last Sequence", declared.get("last_seq", 0), "count"),
                Field("Consumers", declared.get("consumer_count", 0), "count"),
            ],
        ),
        *([Section("Edit", _build_edit_fields(backup.edit))] if backup.edit is not None else []),
        *([Section("Chain", _build_chain_fields(backup))] if backup.parents else []),
    ]
    info_page = InfoPage(f"Information for backup of Stream {backup.stream} in {backup.path}", sections)
    known_times = {key: read_known_time(declared.get(key)) for key in ("first_ts", "last_ts")}
    data: dict[str, Any] = {
        "config": config,
        "declared": {**declared, **known_times},
        "declared_counts_advisory": is_advisory,
        **({"edit": backup.edit} if backup.edit is not None else {}),
        **({"chain": _describe_chain(backup)} if backup.parents else {}),
        **({"encrypted": True} if backup.is_encrypted else {}),
        "consumers": scan.consumers,
        "messages": totals.messages,
        "num_subjects": totals.subjects,
        **({"subjects": dict(sorted(scan.subjects.items()))} if with_subjects else {}),
        "bytes": totals.bytes,
        "first_seq": totals.first_sequence,
        "last_seq": totals.last_sequence,
        "first_time": format_rfc3339(totals.first_time) if totals.messages else None,
        "last_time": format_rfc3339(totals.last_time) if totals.messages else None,
    }
    tables = [_build_subjects(backup.stream, scan.subjects)] if with_subjects else []
    return Result([info_page, *tables, Text(_LIMITS)], data=data)


def _build_config_fields(config: Json) -> list[Field]:
    return [
        Field("Name", config["name"]),
        *([Field("Subjects", config["subjects"])] if config.get("subjects") else []),
        Field("Storage", str(config.get("storage", "file")).title()),
        Field("Retention", str(config.get("retention", "limits")).title()),
        Field("Replicas", config.get("num_replicas", 1), "count"),
        Field("Maximum Messages", config.get("max_msgs", -1), "limit"),
        Field("Maximum Per Subject", config.get("max_msgs_per_subject", -1), "limit"),
        Field("Maximum Bytes", config.get("max_bytes", -1), "bytes_limit"),
        Field("Maximum Age", config.get("max_age", 0), "span_limit"),
        Field("Maximum Message Size", config.get("max_msg_size", -1), "bytes_limit"),
        Field("Maximum Consumers", config.get("max_consumers", -1), "limit"),
    ]


def _build_message_fields(scan: Scan) -> list[Field]:
    totals = scan.totals
    fields = [Field("Messages", totals.messages, "count"), Field("Bytes", totals.bytes, "bytes")]
    if totals.messages:
        for label, sequence, time in (
            ("First Sequence", totals.first_sequence, totals.first_time),
            ("Last Sequence", totals.last_sequence, totals.last_time),
        ):
            fields.append(Field(label, f"{format_count(sequence)} @ {format_time(time)}"))
    return [*fields, Field("Subjects", totals.subjects, "count")]


def _describe_chain(backup: Backup) -> Json:
    """Return the paths of a chain's parts, the oldest first, and what its last link changed."""
    counts = backup.manifest["chain"]
    paths = [str(part.path) for part in backup.parts]
    return {"parts": paths, "new": counts["new"], "gone": counts["gone"]}


def _build_chain_fields(backup: Backup) -> list[Field]:
    chain = _describe_chain(backup)
    return [
        Field("Parts", chain["parts"]),
        Field("New Since Parent", chain["new"], "count"),
        Field("Gone Since Parent", chain["gone"], "count"),
    ]


def _build_edit_fields(edit: Json) -> list[Field]:
    return [
        *([Field("Tool Version", edit["version"])] if edit.get("version") else []),
        Field("Options", edit.get("options") or "none"),
        Field("Source Digest", edit.get("source_digest", "")),
        Field("Obfuscated", bool(edit.get("obfuscated")), "bool"),
    ]


def _build_subjects(stream: str, subjects: Mapping[str, int]) -> Table:
    title = f"{format_count(len(subjects))} Subjects in backup of stream {stream}"
    return Table(title, COLUMNS, sorted(subjects.items()))
