"""`backup edit`: what the edit did."""

from collections.abc import Mapping
from pathlib import Path

from jsctl.jetstream.backup.archive_editor import Edit
from jsctl.jetstream.backup.edit_options import Drop
from jsctl.views.intent import NOTHING
from jsctl.views.result import Field, InfoPage, Result, Section, Text

_DROPS: Mapping[Drop, str] = {
    "sequence": "Dropped by Sequence Filter",
    "time": "Dropped by Time Filter",
    "subject": "Dropped by Subject Filter",
    "header": "Dropped by Header Filter",
    "payload": "Dropped by Payload Filter",
    "last_per_subject": "Dropped by Last Per Subject",
    "kv_compact": "Dropped by KV Compaction",
}


def edited(edit: Edit, target: Path, *, is_dry_run: bool) -> Result:
    """Return the report of an edit."""
    state = edit.state
    sections = [
        Section("", [Field("Stream", edit.config["name"]), Field("Target", str(target))]),
        Section("Messages", _build_message_fields(edit)),
        Section(
            "Result",
            [
                Field("Restored Messages", state["messages"], "count"),
                Field("Restored Bytes", state["bytes"], "bytes"),
                Field("Restored First Sequence", state["first_seq"], "count"),
                Field("Restored Last Sequence", state["last_seq"], "count"),
                Field("Restored Consumers", state["consumer_count"], "count"),
            ],
        ),
    ]
    notes = []
    if edit.obfuscated:
        tokens, padded = edit.obfuscated
        fields = [
            Field("Obfuscated Tokens", tokens, "count"),
            Field("Message Bodies Padded", padded, "count"),
        ]
        if edit.key_file:
            fields.append(Field("Key File", str(edit.key_file)))
            notes.append(
                Text("The key file turns the names back: share the backup, keep the key file private.")
            )
        sections.append(Section("Obfuscation", fields))
    info_page = InfoPage("Dry Run, Nothing Was Written" if is_dry_run else "Backup Edit Report", sections)
    if is_dry_run:
        notes.append(Text(NOTHING))
    return Result([info_page, *notes], data=_build_data(edit, target, is_dry_run=is_dry_run))


def _build_message_fields(edit: Edit) -> list[Field]:
    fields = [
        Field("Source Messages", edit.source_messages, "count"),
        Field("Source Subjects", edit.source_subjects, "count"),
        Field("Messages Kept", edit.state["messages"], "count"),
        Field("Subjects Kept", edit.kept_subjects, "count"),
        *(
            Field(label, edit.dropped[drop], "count")
            for drop, label in _DROPS.items()
            if edit.dropped.get(drop)
        ),
        Field("Consumers Kept", edit.consumers_kept, "count"),
        Field("Consumers Dropped", edit.consumers_dropped, "count"),
    ]
    if edit.tombstones:
        fields.append(Field("KV Tombstones Removed by Content Filters", edit.tombstones, "count"))
    if edit.subject_state:
        keys, size = edit.subject_state
        fields += [Field("Subject State Keys", keys, "count"), Field("Subject State Bytes", size, "bytes")]
    return [*fields, *(Field("Warning", warning, "prose") for warning in edit.warnings)]


def _build_data(edit: Edit, target: Path, *, is_dry_run: bool) -> dict[str, object]:
    return {
        "dry_run": is_dry_run,
        "stream": edit.config["name"],
        "target": str(target),
        "source_messages": edit.source_messages,
        "source_subjects": edit.source_subjects,
        "messages": edit.state["messages"],
        "subjects": edit.kept_subjects,
        "dropped": {drop: count for drop, count in edit.dropped.items() if count},
        "consumers_kept": edit.consumers_kept,
        "consumers_dropped": edit.consumers_dropped,
        "warnings": edit.warnings,
        "state": edit.state,
        "key_file": str(edit.key_file) if edit.key_file else None,
    }
