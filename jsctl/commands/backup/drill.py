"""`jsctl backup drill`."""

from jsctl.base.units import SECOND, format_bytes, format_duration, pluralize
from jsctl.commands.backup.encryption import identity_flag
from jsctl.commands.backup.source import opening_source, progress_flag, source_argument
from jsctl.commands.cli import command
from jsctl.commands.observers.transfers import TerminalObserver
from jsctl.env import Env
from jsctl.errors import ExitStatus
from jsctl.jetstream.api import Api
from jsctl.jetstream.backup.drill import Drill, run_drill
from jsctl.localserver import binary
from jsctl.localserver.scratch import open_scratch_server
from jsctl.nats.connection import Connection
from jsctl.views.result import Field, InfoPage, Part, Result, Section, Text
from jsctl.views.shared.text import transfer_rate

_LINKS = {"100 Mbit/s": 100_000_000 // 8, "1 Gbit/s": 1_000_000_000 // 8}
"""Bytes per second of networks for which the duration of a real restore is computed."""


def _show_drill(drill: Drill, version: str) -> Result:
    """Return the outcome of a drill; the status is a failure if anything differs. version: the server's."""
    comparison, backup = drill.comparison, drill.backup
    here = drill.verification + drill.restore
    by_network = {
        name: drill.verification + max(drill.restore, drill.sent * SECOND // rate)
        for name, rate in _LINKS.items()
    }
    consumers = [f"{name}: {remark}" for name, remark in comparison.consumers.items()]
    sections = [
        Section(
            "Comparison",
            [
                Field("Messages", comparison.messages, "count"),
                Field("Missing", comparison.missing, "count"),
                Field("Different", comparison.different, "count"),
                Field("Added", comparison.added, "count"),
                *([Field("Sequences", comparison.sequences)] if comparison.sequences else []),
                Field("Consumers", comparison.saved_consumers, "count"),
                *([Field("Consumers That Differ", consumers)] if consumers else []),
            ],
        ),
        Section(
            "Duration",
            [
                Field("Server", version),
                Field("Verification", format_duration(drill.verification)),
                Field(
                    "Restore", f"{format_duration(drill.restore)}, {transfer_rate(drill.sent, drill.restore)}"
                ),
                Field("Sent", format_bytes(drill.sent)),
            ],
        ),
        Section(
            "A Real Restore Takes At Least",
            [
                Field("As Here", format_duration(here)),
                *(Field(f"Over {name}", format_duration(duration)) for name, duration in by_network.items()),
            ],
        ),
    ]
    data = {
        "stream": backup.stream,
        "path": str(backup.path),
        "exact": comparison.is_exact,
        "messages": comparison.messages,
        "missing": comparison.missing,
        "different": comparison.different,
        "added": comparison.added,
        "sequences": comparison.sequences,
        "consumers": comparison.saved_consumers,
        "consumers_different": comparison.consumers,
        "expiring": comparison.expiring,
        "server": version,
        "verification_ns": drill.verification,
        "restore_ns": drill.restore,
        "sent_bytes": drill.sent,
        "expected_ns": here,
        "expected_100_mbit_ns": by_network["100 Mbit/s"],
        "expected_1_gbit_ns": by_network["1 Gbit/s"],
    }
    notes = []
    if comparison.expiring:
        notes.append(
            f"{pluralize(comparison.expiring, 'message')} of it older than the stream's maximum age: a real "
            "restore drops them"
        )
    if comparison.is_exact:
        verdict = Text("The backup restores exactly")
    else:
        verdict = Text("What was restored differs from the backup", "bad")
    title = f"Drill of the backup of Stream {backup.stream} in {backup.path}"
    parts: list[Part] = [InfoPage(title, sections), *(Text(note, "warn") for note in notes), verdict]
    return Result(parts, data=data, status=ExitStatus.OK if comparison.is_exact else ExitStatus.FAILURE)


@command("drill", examples=["jsctl backup drill /data/backup/ORDERS", "jsctl backup drill ORDERS.tgz --json"])
@source_argument
@identity_flag
@progress_flag
async def drill(env: Env, source: str, identity: str, progress: bool) -> Result:
    """Start a server of its own with an empty store in the folder for temporary files, restore SOURCE there,
    and compare every message and consumer with the backup. No other server is asked, and nothing is left. The
    store needs as much room as the stream has.

    The exit status is 1 if anything differs. The server starts without the stream's maximum age, message
    TTLs and schedules, replicas, mirror and sources.
    """
    observer = TerminalObserver(env, progress=progress and not env.asks_for_data)
    with opening_source(env, source, identity) as backup:
        server = binary.find(env.environ)
        async with open_scratch_server(server, {"drill": {}}, env.environ) as logins:
            connection = await Connection.open(logins["drill"], on_event=lambda _: None)
            try:
                outcome = await run_drill(Api(connection), backup, observer)
            finally:
                await connection.close()
    return _show_drill(outcome, server.version)
