"""Restoring the streams of an account."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jsctl.base.loops import run_in_thread
from jsctl.base.units import pluralize
from jsctl.errors import Cancelled, Declined, JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.backup.account_files import (
    AccountBackup,
    AccountResult,
    SharedConnection,
    StreamOutcome,
    build_outcome,
)
from jsctl.jetstream.backup.events import AccountRestoreStarted, Advance, Observer, Phase, ReduceStream
from jsctl.jetstream.backup.files import Backup
from jsctl.jetstream.backup.marks import remove_mark
from jsctl.jetstream.backup.stream_restore import (
    OTHER_SUBJECTS,
    describe_unfinished,
    holds_all,
    list_takings,
    list_warnings,
    load_stream,
    remove_unfinished,
)
from jsctl.jetstream.backup.verification import verify_backup
from jsctl.jetstream.config.kind import is_copying
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import CONSUMER
from jsctl.jetstream.message.change_estimate import estimate_stream_loss
from jsctl.jetstream.message.data_loss import NOTHING
from jsctl.jetstream.state import get_mark
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.config import STREAM
from jsctl.jetstream.stream.protection import endangers, is_protected
from jsctl.nats.subject_tree import SubjectTree

MISSING = "(missing)"
"""The name in the outcome of the streams that are no longer in the folder."""


@dataclass(frozen=True, slots=True)
class AccountRestoreOptions:
    """Options of an account's restore.

    update: apply the backup's configuration to an existing stream, and add the consumers that it lacks.
    cluster, tags: where to place the streams; empty for the placement in the backup.
    dry_run: change nothing; return what would happen to each stream.
    """

    update: bool = False
    cluster: str = ""
    tags: tuple[str, ...] = ()
    dry_run: bool = False


async def restore_account(
    connect: Callable[[], Awaitable[Api]],
    account_backup: AccountBackup,
    folder: Path,
    options: AccountRestoreOptions,
    observer: Observer,
) -> AccountResult:
    """Verify all streams of an account's backup, then restore those that are intact, one after the other.

    A stream that fails does not stop the others; one that an earlier restore has finished is left as it is.
    connect: opens the API, after the verification. folder: that of the backup. Raises Unreachable.
    """
    outcomes = list(account_backup.broken)
    verified: list[Backup] = []
    with observer.progress(Phase("verify"), account_backup.size) as advance:
        for backup in account_backup.backups:
            try:
                await run_in_thread(verify_backup, backup, advance=advance)
            except (JsctlError, OSError) as error:
                outcomes.append(build_outcome(backup.stream, "failed", remark=str(error)))
            else:
                verified.append(backup)
    if account_backup.missing:
        remark = f"{folder} lacks {pluralize(account_backup.missing, 'stream')} of the backup"
        outcomes.append(build_outcome(MISSING, "failed", remark=remark))
    api = await connect()
    cleared: list[tuple[Backup, str]] = []
    claims = _Claims()
    for backup in verified:
        try:
            cleared.append((backup, await _clear(api, backup, options, observer, claims)))
        except Declined:
            remark = "what is there was left as it is"
            outcomes.append(build_outcome(backup.stream, "failed", backup.state, remark))
        except Cancelled:
            raise
        except JsctlError as error:
            outcomes.append(build_outcome(backup.stream, "failed", backup.state, str(error)))
    size = sum(backup.size for backup, _ in cleared)
    if not options.dry_run:
        observer.notify(AccountRestoreStarted(len(cleared), size, folder))
    started = time.monotonic_ns()
    connection = SharedConnection(api.connection)
    with observer.progress(Phase("transfer"), size) as advance:
        for backup, removed in cleared:
            try:
                await connection.check()
                if options.dry_run and removed:
                    outcomes.append(build_outcome(backup.stream, "restored", backup.state, removed))
                else:
                    outcomes.append(await _restore(api, backup, options, advance))
            except (JsctlError, OSError) as error:
                outcomes.append(build_outcome(backup.stream, "failed", backup.state, str(error)))
    return AccountResult(outcomes, time.monotonic_ns() - started)


class _Claims:
    """The subjects of the streams of a backup that will be there before the next one."""

    def __init__(self) -> None:
        self._tree = SubjectTree[str]()
        self._subjects: dict[str, Sequence[str]] = {}

    async def check(self, api: Api, config: Json) -> None:
        """Raise JsctlError if a stream has subjects of one of these, or of one that is there."""
        if config.get("mirror"):
            return
        for subject in config.get("subjects") or ():
            for owner in self._tree.find(subject):
                overlap = streams.format_overlap(subject, owner, self._subjects[owner])
                raise JsctlError(
                    f"subjects overlap with the backup of another stream: {overlap}", OTHER_SUBJECTS
                )
        await streams.check_overlap(api, config, OTHER_SUBJECTS, but=self._subjects.keys())

    def add(self, config: Json) -> None:
        """Add the subjects of a stream that will be restored."""
        name = str(config["name"])
        self._subjects[name] = config.get("subjects") or ()
        for subject in self._subjects[name]:
            self._tree.add(subject, name)


async def _clear(
    api: Api, backup: Backup, options: AccountRestoreOptions, observer: Observer, claims: _Claims
) -> str:
    """Remove what an unfinished restore of a stream left, once the observer has agreed, who also has to if a
    stream's configuration deletes messages, or takes them out of work queues; then claim its subjects.

    In a dry run, only return a remark about these; empty for nothing. Raises JsctlError.
    """
    existing = await streams.fetch_info_or_none(api, backup.stream)
    after = _build_config(backup, options)
    stays = existing is not None and not get_mark(existing) and not options.update
    if not stays:
        await claims.check(api, after)
    remark = await _make_room(api, backup, existing, after, options, observer)
    if not stays:
        claims.add(after)
    return remark


async def _make_room(
    api: Api,
    backup: Backup,
    existing: Json | None,
    after: Json,
    options: AccountRestoreOptions,
    observer: Observer,
) -> str:
    if existing is not None and not get_mark(existing):
        if options.update and not options.dry_run:
            before = existing["config"]
            loss = await estimate_stream_loss(api, existing, after)
            if loss or (is_protected(before) and endangers(before, after)):
                await observer.confirm(ReduceStream(backup.stream, before, loss))
        return ""
    takings = await list_takings(api, after)
    for taking in takings if not options.dry_run else ():
        await observer.confirm(taking)
    if existing is None:
        return ", ".join(f"it takes {taking.loss} out of work queue {taking.origin}" for taking in takings)
    question = await describe_unfinished(api, existing, backup)
    if not options.dry_run:
        await remove_unfinished(api, question, observer)
    newer = (
        f", with {pluralize(question.newer.messages, 'message')} newer than the backup"
        if question.newer
        else ""
    )
    return f"it replaces what an unfinished restore left{newer}"


def _build_config(backup: Backup, options: AccountRestoreOptions) -> Json:
    """Return the configuration of a restored stream."""
    config = remove_mark(STREAM.without_server_keys(backup.config))
    placement = {"cluster": options.cluster, "tag": options.tags}
    return STREAM.apply_flags(config, {flag: value for flag, value in placement.items() if value})


async def _restore(
    api: Api, backup: Backup, options: AccountRestoreOptions, advance: Advance
) -> StreamOutcome:
    name, config = backup.stream, _build_config(backup, options)
    existing = await streams.fetch_info_or_none(api, name)
    if existing is not None:
        if not options.update:
            as_it_is = await _update(api, existing, config, backup, dry_run=True)
            if as_it_is.status == "unchanged" and await holds_all(api, existing, backup):
                return as_it_is._replace(remark="it is there, with all its messages")
            raise JsctlError("it already exists", "--update-streams changes its configuration")
        return await _update(api, existing, config, backup, dry_run=options.dry_run)
    if options.dry_run:
        return build_outcome(name, "restored", backup.state)
    info, differences = await load_stream(api, backup, config, advance)
    remarks = list_warnings(api, backup, config, info, differences)
    return build_outcome(name, "restored", info["state"], "; ".join(remarks))


async def _update(api: Api, existing: Json, config: Json, backup: Backup, *, dry_run: bool) -> StreamOutcome:
    """Update a stream to this configuration, and create the backup's durable consumers that it lacks."""
    name = backup.stream
    changed = STREAM.without_server_keys(existing["config"]) != config
    loss = await estimate_stream_loss(api, existing, config) if dry_run else NOTHING
    remarks = [f"its configuration deletes {loss}"] if loss else []
    info = await streams.update(api, config) if changed and not dry_run else existing
    present = set(await consumers.list_names(api, name))
    added = []
    for consumer_config in backup.consumers:
        consumer = str(consumer_config.get("name") or consumer_config.get("durable_name") or "")
        is_wanted = consumer_config.get("durable_name") and not is_copying(consumer_config)
        if is_wanted and consumer not in present:
            if not dry_run:
                await consumers.create(api, name, CONSUMER.without_server_keys(consumer_config))
            added.append(consumer)
    remarks += [f"consumers added: {', '.join(added)}"] if added else []
    if not backup.manifest and int(backup.state.get("consumer_count", 0)):
        remarks.append("its consumers are only in the snapshot, and stay as they are")
    return build_outcome(
        name, "updated" if changed or added else "unchanged", info["state"], "; ".join(remarks)
    )
