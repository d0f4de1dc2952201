"""`jsctl backup drill`."""

from collections.abc import Mapping

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
    expected = {
        "As Here": drill.verification + drill.restore,
        **{
            f"Over {network}": drill.verification + max(drill.restore, drill.sent * SECOND // rate)
            for network, rate in _LINKS.items()
        },
    }
    title = f"Drill of the backup of Stream {backup.stream} in {backup.path}"
    parts: list[Part] = [InfoPage(title, _build_sections(drill, version, expected))]
    if comparison.expiring:
        count = pluralize(comparison.expiring, "message")
        parts.append(
            Text(f"{count} of it older than the stream's maximum age: a real restore drops them", "warn")
        )
    if comparison.is_exact:
        parts.append(Text("The backup restores exactly"))
    else:
        parts.append(Text("What was restored differs from the backup", "bad"))
    here, *elsewhere = expected.values()
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
        **dict(zip(("expected_100_mbit_ns", "expected_1_gbit_ns"), elsewhere, strict=True)),
    }
    return Result(parts, data=data, status=ExitStatus.OK if comparison.is_exact else ExitStatus.FAILURE)


def _build_sections(drill: Drill, version: str, expected: Mapping[str, int]) -> list[Section]:
    """Return the sections of its page. expected: ns of a real restore at least, by what they depend on."""
    comparison = drill.comparison
    consumers = [f"{name}: {remark}" for name, remark in comparison.consumers.items()]
    compared = [
        Field("Messages", comparison.messages, "count"),
        Field("Missing", comparison.missing, "count"),
        Field("Different", comparison.different, "count"),
        Field("Added", comparison.added, "count"),
        *([Field("Sequences", comparison.sequences)] if comparison.sequences else []),
        Field("Consumers", comparison.saved_consumers, "count"),
        *([Field("Consumers That Differ", consumers)] if consumers else []),
    ]
    rate = transfer_rate(drill.sent, drill.restore)
    measured = [
        Field("Server", version),
        Field("Verification", format_duration(drill.verification)),
        Field("Restore", f"{format_duration(drill.restore)}, {rate}"),
        Field("Sent", format_bytes(drill.sent)),
    ]
    needed = [Field(label, format_duration(span)) for label, span in expected.items()]
    return [
        Section("Comparison", compared),
        Section("Duration", measured),
        Section("A Real Restore Takes At Least", needed),
    ]


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
