"""Removing older backups of a folder, and none that another one needs."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from jsctl.base.units import SECOND, parse_time_ns
from jsctl.errors import BadInput, JsctlError, MissingDependency, NotFound
from jsctl.jetstream.backup import files
from jsctl.jetstream.backup.encryption import KeyMissing, Keys
from jsctl.jetstream.backup.events import Advance
from jsctl.jetstream.backup.files import open_backup
from jsctl.jetstream.backup.finding import list_stream_backups
from jsctl.jetstream.backup.target import lock_target, remove_path
from jsctl.jetstream.backup.verification import verify_backup


class Retention(NamedTuple):
    """How many days and weeks with a backup keep their newest one, for each stream."""

    days: int
    weeks: int


def parse_retention(text: str) -> Retention:
    """Parse `7d,4w`. Raises BadInput."""
    counts = {"d": 0, "w": 0}
    for item in text.split(","):
        matched = re.fullmatch(r"([0-9]{1,6})([dw])", item.strip())
        if not matched or not int(matched[1]) or counts[matched[2]]:
            raise BadInput(
                f"{text!r} is not a valid number of days and weeks", "use for example 7d, 4w or 7d,4w"
            )
        counts[matched[2]] = int(matched[1])
    return Retention(counts["d"], counts["w"])


@dataclass(slots=True)
class Candidate:
    """A backup of a folder. started: in ns, 0 if unknown. reasons: why it is kept; none if it goes.
    fault: what is wrong with its data, empty if it is intact; None if nobody has looked."""

    path: Path
    stream: str
    started: int
    digest: str
    since: str | None  #: digest of its parent, empty without one; None if that cannot be known
    reasons: list[str]
    fault: str | None = None


def plan_prune(
    folder: Path, retention: Retention, keys: Keys, advance: Advance = lambda size: None
) -> list[Candidate]:
    """Return the backups of streams in a folder, the newest first, and why they are kept.

    Reads all of those that count for a day or week, and of damaged ones that are newer, which are kept. What
    cannot be read, does not say when it was made, or holds other files, is kept as well. advance: called with
    the number of bytes read. Blocks: call it in a thread. Raises NotFound, and KeyMissing, as nobody knows
    what a link needs that cannot be decrypted.
    """
    if not folder.is_dir():
        raise NotFound(f"there is no folder {folder}")
    candidates = sorted(
        (_read(path, keys) for path in list_stream_backups(folder)),
        key=lambda each: (-each.started, each.path),
    )
    if not candidates:
        raise NotFound(f"there is no backup of a stream in {folder}")
    by_stream: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        if candidate.started:
            by_stream.setdefault(candidate.stream, []).append(candidate)
    for backups in by_stream.values():
        _keep_newest(backups, "day", "%Y-%m-%d", retention.days, keys, advance)
        _keep_newest(backups, "week", "%G-W%V", retention.weeks, keys, advance)
    _keep_parents(candidates)
    return candidates


def remove(candidates: Sequence[Candidate], keys: Keys) -> Iterator[Candidate]:
    """Remove backups that go, links before their parents; yield each that is gone. Raises JsctlError,
    OSError."""
    for candidate in candidates:  # the newest first
        with lock_target(candidate.path) as locked:
            now = _read(candidate.path, keys)
            if now.digest != candidate.digest or now.reasons:
                raise JsctlError(f"{candidate.path} was changed meanwhile", "run it again")
            if locked.in_place:
                files.remove_backup_files(candidate.path)
            else:
                doomed = locked.make_path()  # a run that is killed leaves a whole backup, or none
                candidate.path.rename(doomed)
                remove_path(doomed)
        yield candidate


def find_links(backup: files.Backup, keys: Keys) -> list[Path]:
    """Return the links beside a backup that need it. Raises KeyMissing."""
    if not backup.digest:
        return []
    links = []
    for other in list_stream_backups(backup.path.parent):
        try:
            if other != backup.path and _read(other, keys).since == backup.digest:
                links.append(other)
        except KeyMissing:  # it cannot be a link of a backup in clear
            if backup.is_encrypted:
                raise
    return links


def _read(path: Path, keys: Keys) -> Candidate:
    try:
        part = files.open_part(path, keys=keys)
        started = part.manifest.get("started")
        time = parse_time_ns(started) if isinstance(started, str) else 0
    except (KeyMissing, MissingDependency):
        raise
    except (JsctlError, OSError, ValueError) as error:
        return Candidate(path, "", 0, "", files.find_parent(path, keys), [f"it cannot be read: {error}"])
    since = (part.manifest.get("since") or {}).get("sha256", "")
    reasons = [] if time else ["it does not say when it was made"]
    try:
        files.describe_existing(path)
    except BadInput:
        reasons.append("it holds other files")
    return Candidate(path, part.stream, time, part.digest, since, reasons)


def _keep_newest(
    backups: Sequence[Candidate], label: str, form: str, count: int, keys: Keys, advance: Advance
) -> None:
    """Keep the newest intact backup of each of the newest days or weeks (UTC) that have one, and damaged ones
    that are newer."""
    periods: set[str] = set()
    for backup in backups:
        period = datetime.fromtimestamp(backup.started // SECOND, UTC).strftime(form)
        if period in periods:
            continue
        if len(periods) == count:
            break
        if backup.fault is None and (fault := _find_fault(backup.path, keys, advance)):
            backup.reasons.append(f"it is damaged: {fault}")
            backup.fault = fault
        elif not backup.fault:
            backup.fault = ""
            backup.reasons.append(f"newest of {label} {period}")
            periods.add(period)


def _find_fault(path: Path, keys: Keys, advance: Advance) -> str:
    """Return what is wrong with the data of a backup and of its parents; empty for nothing."""
    try:
        verify_backup(open_backup(path, keys=keys), advance)
    except (JsctlError, OSError) as error:
        return str(error)
    return ""


def _keep_parents(candidates: Sequence[Candidate]) -> None:
    waiting = [candidate for candidate in candidates if candidate.reasons]
    while waiting:
        link = waiting.pop()
        for candidate in candidates:
            if link.since and candidate.digest == link.since:
                reason = f"parent of {link.path.name}"
            elif link.since is None and candidate is not link:
                reason = f"{link.path.name}, which cannot be read, may need it"
            else:
                continue
            if not candidate.reasons:
                waiting.append(candidate)
            candidate.reasons.append(reason)
