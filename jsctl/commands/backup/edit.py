"""`jsctl backup edit`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from jsctl.base.units import parse_past_time, seconds_to_ns
from jsctl.commands.backup.encryption import encrypt_flag, identity_flag
from jsctl.commands.backup.paths import resolve_backup_path
from jsctl.commands.backup.source import opening_source, progress_flag, showing_progress, source_argument
from jsctl.commands.cli import argument, command, dry_run_flag, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.backup.archive_editor import Edit, count_passes
from jsctl.jetstream.backup.edit import edit_backup
from jsctl.jetstream.backup.edit_options import Drop, EditOptions
from jsctl.jetstream.backup.encryption import parse_recipients
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


def _show_edit(edit: Edit, target: Path, *, is_dry_run: bool) -> Result:
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


selecting = partial(option, selects=True)


@dataclass(frozen=True, slots=True)
class Options:
    """The flags. after, before: a time, or how long ago it was; empty for none."""

    source: str
    target: str
    subject: tuple[str, ...]
    exclude_subject: tuple[str, ...]
    after: str
    before: str
    first_seq: int | None
    last_seq: int | None
    header: tuple[str, ...]
    exclude_header: tuple[str, ...]
    payload_match: tuple[str, ...]
    exclude_payload_match: tuple[str, ...]
    last_per_subject: int | None
    kv_compact: bool
    renumber: bool
    obfuscate: bool
    obfuscation_key: str
    recipients: tuple[str, ...]
    decrypt: bool
    identity: str
    progress: bool


@command(
    "edit",
    sections={
        "Messages to keep": (
            *(
                "--subject",
                "--exclude-subject",
                "--after",
                "--before",
                "--first-seq",
                "--last-seq",
                "--header",
            ),
            *("--exclude-header", "--payload-match", "--exclude-payload-match", "--last-per-subject"),
            "--kv-compact",
        ),
    },
    examples=[
        "jsctl backup edit ORDERS ORDERS.eu --subject 'orders.eu.>' --after 7d",
        "jsctl backup edit KV_CONFIG KV_CONFIG.small --kv-compact",
        "jsctl backup edit ORDERS ORDERS.shared --obfuscate",
        "jsctl backup edit ORDERS ORDERS.plain --identity key.txt --decrypt",
        "jsctl backup edit ORDERS ORDERS.new --exclude-header X-Test --renumber --dry-run",
    ],
)
@source_argument
@argument("target", label="Folder or .tgz file to write")
@selecting("--subject", metavar="PATTERN", multiple=True, help="Keep messages on these subjects")
@selecting("--exclude-subject", metavar="PATTERN", multiple=True, help="Drop messages on these subjects")
@selecting(
    "--after", metavar="TIME", default="", help="Keep messages stored then or later; 2h is two hours ago"
)
@selecting("--before", metavar="TIME", default="", help="Keep messages stored earlier")
@selecting("--first-seq", type=int, metavar="N", help="Keep messages from this sequence on")
@selecting("--last-seq", type=int, metavar="N", help="Keep messages up to this sequence")
@selecting("--header", metavar="NAME:VALUE", multiple=True, help="Keep messages with one of these; or NAME")
@selecting("--exclude-header", metavar="NAME", multiple=True, help="Drop messages with this header")
@selecting(
    "--payload-match", metavar="REGEX", multiple=True, help="Keep messages whose payload matches one of these"
)
@selecting(
    "--exclude-payload-match", metavar="REGEX", multiple=True, help="Drop messages whose payload matches"
)
@selecting("--last-per-subject", type=int, metavar="N", help="Keep the newest N messages of each subject")
@option("--kv-compact", is_flag=True, help="Keep the newest value of each key; deleted keys go")
@option("--renumber", is_flag=True, help="Number the messages from 1, and drop the consumers")
@option("--obfuscate", is_flag=True, help="Replace names and subjects with hashes, and payloads with zeros")
@option(
    "--obfuscation-key",
    metavar="FILE",
    default="",
    help="Hash as an earlier edit did that wrote this key file",
)
@encrypt_flag
@option("--decrypt", is_flag=True, help="Write the copy of an encrypted backup in clear")
@identity_flag
@dry_run_flag("Only show what the edit would do")
@progress_flag
def edit(env: Env, options: Options) -> Result:
    """Read SOURCE, the backup of a stream, and write TARGET, which can be restored like any other. No server
    is asked, and SOURCE is not changed. A message must pass all flags to be kept; its sequence stays, and
    consumers stay where they were. Expressions have Go's syntax, as with the nats tool.

    The copy of an encrypted SOURCE is encrypted with --encrypt-to, or written in clear with --decrypt.

    With --obfuscate, TARGET.keys.json turns the names back: keep it private.
    """
    chosen = _build_options(env, options)
    target = resolve_backup_path(options.target)
    passes = count_passes(chosen)
    with (
        opening_source(env, options.source, options.identity) as backup,
        showing_progress(env, "Editing", backup, progress=options.progress, passes=passes) as advance,
    ):
        outcome = edit_backup(backup, target, chosen, advance)
    return _show_edit(outcome, target, is_dry_run=env.dry_run)


def _build_options(env: Env, options: Options) -> EditOptions:
    return EditOptions(
        subject=options.subject,
        exclude_subject=options.exclude_subject,
        after=_parse_time(env, options.after),
        before=_parse_time(env, options.before),
        first_seq=options.first_seq,
        last_seq=options.last_seq,
        header=options.header,
        exclude_header=options.exclude_header,
        payload_match=options.payload_match,
        exclude_payload_match=options.exclude_payload_match,
        last_per_subject=options.last_per_subject,
        kv_compact=options.kv_compact,
        renumber=options.renumber,
        dry_run=env.dry_run,
        obfuscate=options.obfuscate,
        key_file=resolve_backup_path(options.obfuscation_key) if options.obfuscation_key else None,
        recipients=parse_recipients(options.recipients),
        decrypt=options.decrypt,
    )


def _parse_time(env: Env, text: str) -> int | None:
    if not text:
        return None
    try:
        return parse_past_time(text, seconds_to_ns(env.clock()))
    except ValueError:
        raise BadInput(f"invalid time {text!r}", "use an RFC 3339 time, or a duration such as 2h") from None
