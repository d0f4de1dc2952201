"""What people read while a backup, restore or copy runs: its events, questions and progress."""

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
    Phase,
    Question,
    RemoveOtherCopy,
    RemoveUnfinished,
    ReplaceBackup,
    RestoreStarted,
    ServerCheckStarted,
)
from jsctl.units import format_bytes, format_count, plural


def sentence(event: Event) -> str:
    """Return the line that tells of an event."""
    match event:
        case BackupStarted(stream, messages, size):
            return f"Starting backup of Stream {stream} with {_amount(messages, size)}"
        case ServerCheckStarted(stream):
            return f"The server reads all of Stream {stream} first; that may take long"
        case RestoreStarted(stream, backed_up_stream, path, size):
            origin = f" of Stream {backed_up_stream}" if backed_up_stream != stream else ""
            where = f"the backup{origin} in {path}"
            return f"Starting restore of Stream {stream} from {where}, {format_bytes(size)}"
        case DigestMissing(path):
            return f"{path} has no digest; its form is whole, and the server checks the rest"
        case AccountBackupStarted(streams, size, path):
            return f"Performing backup of {format_count(streams)} streams with {format_bytes(size)} to {path}"
        case AccountRestoreStarted(streams, size, path):
            return f"Restoring {format_count(streams)} streams from {path}, {format_bytes(size)}"
        case CopyStarted(stream, messages, size):
            return f"Starting copy of Stream {stream} with {_amount(messages, size)}"
        case CopyResumed(stream, first_sequence, size):
            return (
                f"A copy to Stream {stream} was interrupted before; continuing at message "
                f"{format_count(first_sequence)} with {format_bytes(size)}. The server puts the messages in "
                "place, and may take two minutes to begin"
            )
        case ComparisonResumed(stream):
            return f"Stream {stream} is copied already; continuing with the comparison"
        case CopyRestarted():
            return _restarted(event)
        case CopyInterrupted(stream):
            return f"The copy to Stream {stream} is not complete; the same command continues with it"


def question(request: Question) -> str:
    """Return a question, without its question mark."""
    match request:
        case ReplaceBackup(path, existing):
            return f"{path} holds {existing}. Replace it"
        case RemoveUnfinished(stream, messages, other_than):
            count = plural(messages, "message")
            foreign = f", some of them not of Stream {other_than}" if other_than else ""
            return f"Stream {stream} is what an unfinished restore left, with {count}{foreign}. Remove it"
        case RemoveOtherCopy(stream, messages):
            count = plural(messages, "message")
            return (
                f"Stream {stream} is what an unfinished copy of another stream left, with {count}. Remove it"
            )


def progress_label(phase: Phase) -> str:
    """Return what stands before a progress bar."""
    match phase.kind:
        case "verify":
            return f"Checking {phase.stream}".strip()
        case "compare":
            return f"Comparing {phase.stream}"
        case "transfer":
            return f"Stream {phase.stream}" if phase.stream else "Account"


def _restarted(event: CopyRestarted) -> str:
    if event.reason:
        return f"{event.reason}; the copy begins again{', all at once' if event.all_at_once else ''}"
    nothing = ", and the server kept nothing" if event.nothing_left else ""
    return f"A copy to Stream {event.stream} was interrupted before{nothing}; starting again"


def _amount(messages: int, size: int) -> str:
    return f"{plural(messages, 'message')}, {format_bytes(size)}"
