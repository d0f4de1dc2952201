"""Texts that people read while a backup, restore or copy runs: its events, questions and progress; and what
--dry-run shows of them.
"""

from pathlib import Path

from jsctl.base.units import format_bytes, format_count, pluralize
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.events import (
    AccountBackupStarted,
    AccountRestoreStarted,
    BackupStarted,
    ComparisonResumed,
    CopyInterrupted,
    CopyRestarted,
    CopyResumed,
    CopyStarted,
    DigestMissing,
    Event,
    Newer,
    Phase,
    Question,
    ReduceStream,
    RemoveOtherCopy,
    RemoveUnfinished,
    ReplaceBackup,
    RestoreStarted,
    ServerCheckStarted,
    TakeMessages,
)
from jsctl.views.intent import Intent


def sentence(event: Event) -> str:
    """Return the line that reports an event."""
    match event:
        case BackupStarted(stream, messages, size):
            return f'Starting backup of Stream "{stream}" with {_format_amount(messages, size)}'
        case ServerCheckStarted(stream):
            return f"The server reads all of Stream {stream} first; this may take a long time"
        case RestoreStarted(stream, backed_up_stream, path, size):
            origin = f' of Stream "{backed_up_stream}"' if backed_up_stream != stream else ""
            where = f"the backup{origin} in {path}"
            return f'Starting restore of Stream "{stream}" from {where}, {format_bytes(size)}'
        case DigestMissing(path):
            return f"{path} has no digest; its structure is complete, and the server checks the rest"
        case AccountBackupStarted(streams, size, path):
            return (
                f"Performing backup of all {pluralize(streams, 'stream')} to {path} with {format_bytes(size)}"
            )
        case AccountRestoreStarted(streams, size, path):
            return f"Restoring backup of all {pluralize(streams, 'stream')} in {path}, {format_bytes(size)}"
        case CopyStarted(stream, messages, size):
            return f"Starting copy of Stream {stream} with {_format_amount(messages, size)}"
        case CopyResumed(stream, first_sequence, size):
            return (
                f"An earlier copy to Stream {stream} was interrupted; continuing at message "
                f"{format_count(first_sequence)} with {format_bytes(size)}. The server puts the messages in "
                "place, and may take two minutes to begin"
            )
        case ComparisonResumed(stream):
            return f"Stream {stream} is already copied; continuing with the comparison"
        case CopyRestarted():
            return _format_restart(event)
        case CopyInterrupted(stream):
            return f"The copy to Stream {stream} is not complete; the same command continues with it"


def beginning(event: Event) -> Intent | None:
    """Return the intent of an event that announces what is about to be done; None for other events."""
    match event:
        case RestoreStarted(stream, _, path, size):
            action = f"restore Stream {stream} from {path}, {format_bytes(size)}"
            return Intent(action, {"stream": stream, "path": str(path), "bytes": size})
        case CopyResumed(stream, first_sequence, size):
            action = f"continue the copy to Stream {stream} at message {format_count(first_sequence)}"
            return Intent(action, {"stream": stream, "first_sequence": first_sequence, "bytes": size})
        case ComparisonResumed(stream):
            return Intent(f"continue the comparison of Stream {stream}", {"stream": stream})
        case CopyRestarted(stream):
            return Intent(f"begin the copy to Stream {stream} again", {"stream": stream})
        case _:
            return None


def copy_intent(source: str, target: str, state: Json) -> Intent:
    """Return the intent to copy a stream's messages. state: that of the source."""
    messages, size = int(state["messages"]), int(state["bytes"])
    facts = {"source": source, "stream": target, "messages": messages, "bytes": size}
    return Intent(f"copy Stream {source} to {target} with {_format_amount(messages, size)}", facts)


def backup_intent(description: str, path: Path, existing: str, facts: Json) -> Intent:
    """Return the intent to save a backup. description: `Stream ORDERS with 3 messages`. existing: what it
    replaces.
    """
    action = f"back up {description} to {path}" + (f", replacing {existing}" if existing else "")
    return Intent(action, {**facts, "path": str(path), "replaces": existing})


def intent(request: Question) -> Intent:
    """Return the intent that a question is about."""
    match request:
        case ReplaceBackup(path, existing):
            action = f"replace {path}, which holds {existing}"
            facts = {"path": str(path), "replaces": existing}
            return Intent(action, facts, question=f"{path} holds {existing}. Replace it")
        case RemoveUnfinished(stream, _, messages, _, other_than, newer):
            lost = f", some of them not of Stream {other_than}" if other_than else ""
            counts: Json = {}
            if newer:
                lost = f", {_format_newer(newer)} newer than the backup"
                counts = {
                    "newer_messages": newer.messages,
                    "newer_first_seq": newer.first,
                    "newer_last_seq": newer.last,
                }
            return _build_unfinished_intent("restore", stream, messages, lost, counts)
        case ReduceStream(stream, _, loss):
            action = f"give Stream {stream} the configuration of its backup"
            action += f", which deletes {loss}" if loss else ""
            return Intent(action, {"stream": stream, **loss.to_json()})
        case TakeMessages(stream, origin, _, loss, _):
            action = f"restore Stream {stream}, which takes {loss} out of work queue {origin}"
            return Intent(action, {"stream": stream, "origin": origin, **loss.to_json()})
        case RemoveOtherCopy(stream, messages):
            return _build_unfinished_intent("copy of another stream", stream, messages, "", {})


def _format_newer(newer: Newer) -> str:
    """Return for people how many messages are newer, and which."""
    sequences = format_count(newer.first)
    if newer.last > newer.first:
        sequences += f" to {format_count(newer.last)}"
    return f"{format_count(newer.messages)} of them ({sequences})"


def _build_unfinished_intent(origin: str, stream: str, messages: int, more: str, facts: Json) -> Intent:
    count = pluralize(messages, "message")
    description = f"is what an unfinished {origin} left, with {count}{more}"
    return Intent(
        f"remove Stream {stream}, which {description}, and begin again",
        {"stream": stream, "messages": messages, "unfinished": True, **facts},
        question=f"Stream {stream} {description}. Remove it",
    )


def progress_label(phase: Phase) -> str:
    """Return the label of a progress bar."""
    match phase.kind:
        case "verify":
            return f"Checking {phase.stream}".strip()
        case "compare":
            return f"Comparing {phase.stream}"
        case "transfer":
            return f"Stream {phase.stream}" if phase.stream else "Account"


def _format_restart(event: CopyRestarted) -> str:
    if event.reason:
        return f"{event.reason}; the copy begins again{', all at once' if event.all_at_once else ''}"
    nothing = ", and the server kept nothing" if event.nothing_left else ""
    return f"An earlier copy to Stream {event.stream} was interrupted{nothing}; starting again"


def _format_amount(messages: int, size: int) -> str:
    return f"{pluralize(messages, 'message')}, {format_bytes(size)}"
