"""Limits that are nearly reached, and messages that are lost."""

from collections.abc import Iterator

from jsctl.jetstream.state import count_lost
from jsctl.monitor.doctor.finding import Finding
from jsctl.monitor.doctor.snapshot import Snapshot
from jsctl.monitor.report import health
from jsctl.units import format_bytes, pluralize


def limit_near(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield limits of accounts, streams and servers of which at least 90% is used."""
    for view in snapshot.domains:
        for trouble in health.check_account(dict(view.limits)):
            yield Finding(
                "LIMIT_NEAR",
                f"account {view.account_name}",
                f"{view.where}: it uses {trouble.words}",
                "at the limit the server refuses new streams, consumers or messages",
                "raise the limit in the account's jetstream settings, or remove what is no longer needed:"
                " jsctl stream report --sort bytes",
                [f"account {view.account_name}"],
            )
        for name, info in view.streams.items():
            for trouble in health.check_stream_limits(info):
                yield Finding(
                    "LIMIT_NEAR",
                    f"stream {view.format_stream(name)}",
                    f"it uses {trouble.words}",
                    "at the limit it refuses messages, or consumers",
                    f"raise it: jsctl stream edit {name}; or make room: jsctl stream purge {name}",
                    [f"stream {view.format_stream(name)}"],
                )
    for server in snapshot.servers:
        config = server.jsz.get("config") or {}
        for used, limit, kind in (
            (int(server.jsz.get("storage") or 0), config.get("max_storage") or 0, "file storage"),
            (int(server.jsz.get("memory") or 0), config.get("max_memory") or 0, "memory storage"),
        ):
            if limit > 0 and used >= health.NEARLY * limit:
                yield Finding(
                    "LIMIT_NEAR",
                    f"server {server.name}",
                    f"its JetStream uses {format_bytes(used)} of {format_bytes(limit)} of {kind}",
                    "at the limit no stream on it takes messages",
                    "raise max_file_store or max_memory_store in its jetstream block, add servers, or remove"
                    " streams",
                    [f"server {server.name}"],
                )


def messages_lost(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield streams whose files lost messages."""
    for view in snapshot.domains:
        for name, info in view.streams.items():
            lost, size = count_lost(info["state"])
            if lost:
                yield Finding(
                    "MESSAGES_LOST",
                    f"stream {view.format_stream(name)}",
                    f"{pluralize(lost, 'message')} ({format_bytes(size)}) could not be read from its files",
                    "they are lost on this server",
                    "restore them from a replica or a backup: jsctl stream restore",
                    [f"stream {view.format_stream(name)}"],
                )
