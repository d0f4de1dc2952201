"""`jsctl doctor`."""

import asyncio
from collections.abc import Sequence

import click

from jsctl.base.command_lines import build_flag, build_line
from jsctl.base.units import HOUR, seconds_to_ns
from jsctl.commands.backup.paths import resolve_backup_path
from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.places.targets import resolve_context_targets, resolve_targets
from jsctl.contexts.settings import Settings
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.jetstream.backup.newest import find_newest
from jsctl.monitor.doctor.diagnosis import CODES, diagnose
from jsctl.monitor.doctor.gather import take_snapshot
from jsctl.monitor.doctor.snapshot import ContextView
from jsctl.views import doctor as view
from jsctl.views import parts as parts_view
from jsctl.views.backup import ages as ages_view
from jsctl.views.result import Result

_MAX_BACKUP_AGE = 26 * HOUR
"""A day, and time for the backup itself."""


class _Code(click.Choice[str]):
    """The type of a finding's code, in upper or lower case."""

    def __init__(self) -> None:
        super().__init__(CODES, case_sensitive=False)

    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        """Return an error that points to the list of codes, which is too long for a line."""
        return f"there is no code {value!r}; {build_line('doctor', flags=['--rules'])} lists them"


@command(
    "doctor",
    examples=[
        "jsctl doctor",
        "jsctl doctor --context hub --context spoke-1 --context system",
        "jsctl doctor --all-contexts --json",
        "jsctl doctor --ignore SUBJECT_TWICE --ignore SYSTEM_NOT_LINKED",
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
async def doctor(
    env: Env,
    all_contexts: bool,
    ignore: Sequence[str],
    rules: bool,
    spark: bool,
    backups: str,
    max_backup_age: int | None,
) -> Result:
    """Check domains, API and delivery prefixes, exports and imports, mirrors and sources, servers and limits.
    Nothing is changed.

    --context may be repeated. With a context of the system account, imports and exports, leaf nodes and all
    servers are checked, too. Without --context, the selected context and all domains that can be reached from
    it are checked.

    The exit status is 1 when something is wrong. With --json, one document {"at", "findings": [{"code",
    "about", "seen", "why", "fix", "objects"}], "contexts", "domains", "servers", "left_out"}.

    With --backups, the backups of streams in DIR are read instead, those in account backups as well: for each
    stream the newest one, and older ones until one is good. The exit status is 1 if that is too old, if there
    is none, or if a newer one is damaged.
    """
    if rules:
        return view.rules()
    if spark:
        from jsctl.spark.session.installation import list_parts

        return parts_view.for_spark(list_parts())
    if max_backup_age is not None and not backups:
        raise BadInput("--max-backup-age requires --backups")
    if backups:
        folder = resolve_backup_path(backups)
        newest = await asyncio.to_thread(find_newest, folder)
        max_age = _MAX_BACKUP_AGE if max_backup_age is None else max_backup_age
        return ages_view.ages(folder, newest, seconds_to_ns(env.clock()), max_age)
    places, broken = _resolve_all_contexts(env) if all_contexts else (resolve_targets(env), [])
    snapshot = await take_snapshot(places, trace=env.trace)
    snapshot = snapshot._replace(contexts=[*snapshot.contexts, *broken])
    # A single context that cannot be reached is an error, as in every other verb.
    if len(snapshot.contexts) == 1 and (error := snapshot.contexts[0].error) is not None:
        raise error
    return view.show(snapshot, diagnose(snapshot, ignore))


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
