"""Checks of streams and consumers."""

from collections.abc import Callable, Iterator
from functools import partial

from jsctl.base.units import pluralize
from jsctl.errors import BadInput
from jsctl.monitor.audit.archive import Archive, Json
from jsctl.monitor.audit.model import (
    Checks,
    Limits,
    NothingToCheck,
    Outcome,
    Problems,
    Threshold,
    build_shares,
)
from jsctl.monitor.check import streams
from jsctl.monitor.check.outcome import Check as StreamCheck

CHECKS = Checks()


def _load_streams(archive: Archive) -> Iterator[tuple[str, str, Json]]:
    """Yield account and stream ("APP/ORDERS"), server, and that server's data about the stream.

    Raises NothingToCheck when there are none.
    """
    empty = True
    for tags, document in archive.load(artifact_type="stream_info"):
        empty = False
        yield f"{tags['account']}/{tags['stream']}", tags["server"], document
    if empty and not _are_there_no_streams(archive):
        raise NothingToCheck("the archive holds no streams")


def _are_there_no_streams(archive: Archive) -> bool:
    """Return whether all servers report that they have no streams."""
    counts = [
        int((document.get("data") or {}).get("streams", 0))
        for _, document in archive.load(artifact_type="jetstream_info")
    ]
    return bool(counts) and not any(counts)


@CHECKS.add(
    "JETSTREAM_001",
    "Lagging replicas",
    "All replicas of a stream have its last messages",
    Threshold("last_seq", "Percent by which a replica may be behind", 10, "%"),
)
def _check_lag(archive: Archive, limits: Limits) -> Problems:
    replicas: dict[str, dict[str, int]] = {}
    for stream, server, detail in _load_streams(archive):
        replicas.setdefault(stream, {})[server] = int((detail.get("state") or {}).get("last_seq", 0))
    for stream, servers in replicas.items():
        newest = max(servers.values())
        for server, last in servers.items():
            if last < newest - int(newest * limits["last_seq"] / 100):
                yield f"{stream}: {server} has sequence {last:,}, others have {newest:,}", Outcome.FAIL


@CHECKS.add(
    "JETSTREAM_002",
    "Many subjects",
    "No stream has too many different subjects",
    Threshold("subjects", "Different subjects of a stream", 1_000_000, "int"),
)
def _check_subjects(archive: Archive, limits: Limits) -> Problems:
    highest: dict[str, int] = {}
    for stream, _, detail in _load_streams(archive):
        subjects = int((detail.get("state") or {}).get("num_subjects", 0))
        highest[stream] = max(subjects, highest.get(stream, 0))
    for stream, subjects in highest.items():
        if subjects > limits["subjects"]:
            yield f"{stream}: {pluralize(subjects, 'subject')}", Outcome.WARN


@CHECKS.add(
    "JETSTREAM_003",
    "Stream limits",
    "Streams stay below their limits",
    *build_shares("messages", "bytes", "consumers"),
)
def _check_limits(archive: Archive, limits: Limits) -> Problems:
    for stream, server, detail in _load_streams(archive):
        state, config = detail.get("state") or {}, detail.get("config") or {}
        for key, used, allowed in (
            ("messages", state.get("messages", 0), config.get("max_msgs", -1)),
            ("bytes", state.get("bytes", 0), config.get("max_bytes", -1)),
            ("consumers", state.get("consumer_count", 0), config.get("max_consumers", -1)),
        ):
            if allowed > 0 and used > allowed * limits[key] / 100:
                yield f"{stream} on {server}: {used:,} of {allowed:,} {key}", Outcome.WARN


def _is_leader(detail: Json, server: str) -> bool:
    """Return whether a server leads the stream or consumer it describes, which a single server always
    does."""
    return not detail.get("cluster") or detail["cluster"].get("leader") == server


def _is_enabled(detail: Json) -> bool:
    metadata = (detail.get("config") or {}).get("metadata") or {}
    return bool(metadata.get(streams.ENABLED) == "true")


@CHECKS.add(
    "JETSTREAM_004",
    "Streams with thresholds",
    "Streams meet the thresholds in their metadata (server check stream)",
)
def _check_stream_metadata(archive: Archive, limits: Limits) -> Problems:
    for stream, server, detail in _load_streams(archive):
        if _is_leader(detail, server) and _is_enabled(detail):
            yield from _run_stream_check(
                f"stream {stream}", partial(streams.check_stream_info, detail, stream, {})
            )


@CHECKS.add(
    "JETSTREAM_005",
    "Consumers with thresholds",
    "Consumers meet the thresholds in their metadata (server check consumer)",
)
def _check_consumer_metadata(archive: Archive, limits: Limits) -> Problems:
    for stream, server, detail in _load_streams(archive):
        for consumer in detail.get("consumer_detail") or ():
            if _is_leader(consumer, server) and _is_enabled(consumer):
                name = f"{stream} > {consumer.get('name')}"
                pinned = consumer["config"]["metadata"].get(streams.PINNED) == "true"
                yield from _run_stream_check(
                    f"consumer {name}",
                    partial(streams.check_consumer_info, consumer, name, {}, pinned=pinned),
                )


def _run_stream_check(name: str, run_check: Callable[[], StreamCheck]) -> Problems:
    """Yield the problems that a check of a stream or consumer reports; metadata that is not valid is a
    warning."""
    try:
        check = run_check()
    except BadInput as error:
        yield f"{name}: {error}", Outcome.WARN
        return
    for sentence in check.criticals:
        yield f"{name}: {sentence}", Outcome.FAIL
    for sentence in check.warnings:
        yield f"{name}: {sentence}", Outcome.WARN
