"""`jsctl doctor`."""

import asyncio
import copy
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from jsctl.base.command_lines import build_flag, build_line, format_arguments
from jsctl.base.loops import run_in_thread
from jsctl.base.units import HOUR, format_duration, format_rfc3339, seconds_to_ns
from jsctl.calls import Call
from jsctl.commands.backup.encryption import get_keys, identity_flag
from jsctl.commands.backup.paths import resolve_backup_path
from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.places.targets import resolve_context_targets, resolve_targets
from jsctl.contexts.settings import Settings
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus, JsctlError, NotFound
from jsctl.jetstream.backup.newest import NewestBackup, find_newest
from jsctl.monitor.doctor.diagnosis import CODES, diagnose
from jsctl.monitor.doctor.gather import take_snapshot
from jsctl.monitor.doctor.repairing import plan_steps, run_steps
from jsctl.monitor.doctor.snapshot import ContextView, Snapshot
from jsctl.monitor.trouble import Trouble
from jsctl.views import doctor as view
from jsctl.views import parts as parts_view
from jsctl.views import repairs as repairs_view
from jsctl.views.result import Cell, Column, Result, Table

_COLUMNS = (
    Column("Stream", "stream"),
    Column("Newest Good Backup", "path"),
    Column("Age", "age", "ago"),
    Column("Result", "result"),
    Column("Reason", "reason", "prose"),
)


def _judge_backup(backup: NewestBackup, now: int, max_age: int) -> dict[str, Any]:
    """Return what is said about the newest good backup of a stream. now, max_age: in ns."""
    age = max(0, now - backup.started) if backup.path else None
    reasons = list(dict.fromkeys(backup.damaged))  # one part may be that of several chains
    if age is None:
        reasons.append("no good backup")
    elif age > max_age:
        reasons.append(f"older than {format_duration(max_age)}")
    return {
        "stream": backup.stream,
        "path": str(backup.path) if backup.path else None,
        "started": format_rfc3339(backup.started) if backup.path else None,
        "age_ns": age,
        "result": "bad" if reasons else "ok",
        "reasons": reasons,
    }


def ages(folder: Path, backups: Sequence[NewestBackup], now: int, max_age: int) -> Result:
    """Return how old the newest good backup of each stream is; the status is a failure if one is too old.

    now, max_age: in ns.
    """
    data = [_judge_backup(backup, now, max_age) for backup in backups]
    rows = [
        (
            *(one["stream"], one["path"] or "", one["age_ns"]),
            *(Cell(one["result"], one["result"], "bad" if one["reasons"] else ""), "; ".join(one["reasons"])),
        )
        for one in data
    ]
    has_failed = any(one["reasons"] for one in data)
    table = Table(f"Backups in {folder}", _COLUMNS, rows)
    return Result([table], data=data, status=ExitStatus.FAILURE if has_failed else ExitStatus.OK)


_MAX_BACKUP_AGE = 26 * HOUR
"""A day, and time for the backup itself."""


class _Code(click.Choice[str]):
    """The type of a finding's code, in upper or lower case."""

    def __init__(self) -> None:
        super().__init__(CODES, case_sensitive=False)

    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        """Return an error that points to the list of codes, which is too long for a line."""
        return f"there is no code {value!r}; {build_line('doctor', flags=['--rules'])} lists them"


@dataclass(frozen=True, slots=True)
class Options:
    """The flags. max_backup_age: ns; None for the default."""

    all_contexts: bool
    ignore: tuple[str, ...]
    fix: bool
    dry_run: bool
    yes: bool
    rules: bool
    spark: bool
    backups: str
    max_backup_age: int | None
    identity: str

    def __post_init__(self) -> None:
        if self.max_backup_age is not None and not self.backups:
            raise BadInput("--max-backup-age requires --backups")
        if self.identity and not self.backups:
            raise BadInput("--identity requires --backups")
        if (self.dry_run or self.yes) and not self.fix:
            raise BadInput(f"{'--dry-run' if self.dry_run else '--yes'} requires --fix")
        if self.fix and (self.rules or self.spark or self.backups):
            raise BadInput("--fix cannot be used with --rules, --spark and --backups")


@command(
    "doctor",
    examples=[
        "jsctl doctor",
        "jsctl doctor --context hub --context spoke-1 --context system",
        "jsctl doctor --all-contexts --json",
        "jsctl doctor --ignore SUBJECT_TWICE --ignore SYSTEM_NOT_LINKED",
        "jsctl doctor --fix --dry-run",
        "jsctl doctor --fix --dry-run --as yaml",
        "jsctl doctor --fix --yes --ignore CONSUMER_PAUSED",
        "jsctl doctor --rules",
        "jsctl doctor --spark",
        "jsctl doctor --backups /data/backup",
    ],
)
@option("--all-contexts", is_flag=True, help="Look through every context")
@option(
    "--ignore",
    metavar="CODE",
    multiple=True,
    type=_Code(),
    help="Leave out findings with this code; may be repeated",
)
@option("--fix", is_flag=True, help="Run the commands that fix findings, one at a time, and look after each")
@option("--dry-run", is_flag=True, help="With --fix, only show what would be run")
@option("--yes", "-y", is_flag=True, help="With --fix, run the commands without asking")
@option("--rules", is_flag=True, help="Show the codes and what they mean; ask no server")
@option("--spark", is_flag=True, help="Show the Java, Spark and Python that exports use; ask no server")
@option(
    "--backups",
    selects=True,
    metavar="DIR",
    default="",
    help="Show the newest good backup of streams; ask no server",
)
@option(
    "--max-backup-age",
    type=DURATION,
    default=None,
    metavar="DURATION",
    help="Age at which a backup is too old (26h)",
)
@identity_flag
async def doctor(env: Env, options: Options) -> Result:
    """Check domains, API and delivery prefixes, exports and imports, mirrors and sources, servers and limits.
    Without --fix, nothing is changed.

    --context may be repeated. With a context of the system account, imports and exports, leaf nodes and all
    servers are checked, too. Without --context, the selected context and all domains that can be reached from
    it are checked.

    The exit status is 1 when something is wrong. With --json, one document {"at", "findings": [{"code",
    "about", "seen", "why", "fix", "objects"}], "contexts", "domains", "servers", "left_out"}.

    With --fix, the findings that one safe command fixes are a plan, and the others are shown with what to do.
    Each command is run alone, and undone if, for 30 seconds, its finding is still there, or more findings
    have any one code than before, other streams aside. No command loses messages. The exit status is 1 if
    something is wrong at the end. --json also has {"dry_run", "steps": [{"code", "about", "seen", "command",
    "line", "undo", "outcome", "why"}]}.

    With --backups, the backups of streams in DIR are read instead, those in account backups as well: for each
    stream the newest one, and older ones until one is good. The exit status is 1 if that is too old, if there
    is none, or if a newer one is damaged.
    """
    if options.rules:
        return view.rules()
    if options.spark:
        from jsctl.spark.session.installation import list_parts

        return parts_view.for_spark(list_parts())
    if options.backups:
        return await _check_backups(env, options)
    places, broken = _resolve_all_contexts(env) if options.all_contexts else (resolve_targets(env), [])

    stored = env.contexts.names()

    async def examine() -> tuple[Snapshot, list[Trouble]]:
        snapshot = await take_snapshot(places, trace=env.trace)
        snapshot = snapshot._replace(contexts=[*snapshot.contexts, *broken], stored=stored)
        return snapshot, diagnose(snapshot, options.ignore)

    snapshot, findings = await examine()
    # A single context that cannot be reached is an error, as in every other verb.
    if len(snapshot.contexts) == 1 and (error := snapshot.contexts[0].error) is not None:
        raise error
    if not options.fix:
        return view.show(snapshot, findings)
    return await _fix(env, options, snapshot, findings, examine)


async def _check_backups(env: Env, options: Options) -> Result:
    """Return how old the newest good backup of each stream in a folder is."""
    folder = resolve_backup_path(options.backups)
    newest = await run_in_thread(
        find_newest, folder, get_keys(env, options.identity), advance=lambda size: None
    )
    max_age = _MAX_BACKUP_AGE if options.max_backup_age is None else options.max_backup_age
    return ages(folder, newest, seconds_to_ns(env.clock()), max_age)


async def _fix(
    env: Env,
    options: Options,
    snapshot: Snapshot,
    findings: Sequence[Trouble],
    examine: Callable[[], Awaitable[tuple[Snapshot, list[Trouble]]]],
) -> Result:
    """Carry out the commands that fix findings, or show them. examine: finds anew what is wrong."""
    steps = plan_steps(findings)
    if options.dry_run:
        return repairs_view.show_plan(snapshot, findings, steps)
    if not steps:
        return repairs_view.show_outcome(snapshot, findings, steps)
    if not options.yes:
        if env.can_ask:
            env.say("\n".join(repairs_view.format_plan(steps)))
        await env.require_yes(
            repairs_view.format_question(steps), flag="--yes, or see the plan with --dry-run"
        )
    parent = copy.copy(env)
    if options.all_contexts or env.repeated.get("context"):
        parent.flags = env.get_typed_flags()  # variables do not go before the contexts of a doctor

    async def run(words: Sequence[str]) -> None:
        env.show_status(format_arguments(words))
        await Call(env.run_line, words, parent=parent).run_async()

    try:
        snapshot, findings = await run_steps(steps, findings, examine, run)
    except asyncio.CancelledError:
        env.say("\n".join(repairs_view.format_outcomes(steps)))
        raise
    finally:
        env.show_status("")
    return repairs_view.show_outcome(snapshot, findings, steps)


def _resolve_all_contexts(env: Env) -> tuple[list[Settings], list[ContextView]]:
    """Return the settings of all contexts, and the contexts that cannot be read."""
    if env.repeated.get("context"):
        raise BadInput("--all-contexts and --context cannot be used together")
    names = env.contexts.names()
    if not names:
        raise NotFound("there is no context", f"create one with {build_line('context add')}")
    settings: list[Settings] = []
    broken = []
    for name in names:
        try:
            settings += resolve_context_targets(env, name)
        except JsctlError as error:
            broken.append(ContextView(name, error, login=build_flag("--context", name)))
    return settings, broken
