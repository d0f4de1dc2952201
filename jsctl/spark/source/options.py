"""Options of the `jetstream` data source for reading, validated before anything is read.

They have the names of Kafka's data source where they mean the same.
"""

import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, cast

from jsctl.contexts.settings import Settings, resolve
from jsctl.contexts.store import ContextStore
from jsctl.errors import BadInput
from jsctl.jetstream.api import api_prefix
from jsctl.units import MS, SECOND, parse_bytes, parse_duration, parse_time, to_datetime

Offset = Literal["earliest", "latest"] | int

_CONNECTION = {
    "servers": "server",
    "user": "user",
    "password": "password",
    "token": "token",
    "creds": "creds",
    "nkey": "nkey",
    "jwt": "jwt",
    "seed": "seed",
    "tlscert": "tlscert",
    "tlskey": "tlskey",
    "tlsca": "tlsca",
    "inboxprefix": "inbox_prefix",
    "domain": "js_domain",
    "apiprefix": "js_api_prefix",
}
"""Option of a connection, in lower case -> the setting."""

_PLACE_OPTIONS = ("servers", "context")
_LOGIN_OPTIONS = (
    "domain",
    "apiPrefix",
    "user",
    "password",
    "token",
    "creds",
    "nkey",
    "jwt",
    "seed",
    "tlsCert",
    "tlsKey",
    "tlsCa",
    "tlsFirst",
    "inboxPrefix",
)
CONNECTION_OPTIONS = (*_PLACE_OPTIONS, *_LOGIN_OPTIONS)
"""Options that say where to connect, and as whom."""

OPTION_NAMES = (
    *_PLACE_OPTIONS,
    "stream",
    *_LOGIN_OPTIONS,
    "subject",
    "startingOffsets",
    "endingOffsets",
    "startingTimestamp",
    "endingTimestamp",
    "maxOffsetsPerTrigger",
    "minPartitions",
    "failOnDataLoss",
    "failOnDeleted",
    "fetchMode",
    "batchSize",
    "maxBytes",
    "requestTimeout",
    "retries",
    "includeHeaders",
)


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What to read, and how.

    subjects: filters, empty for all. start, end: sequences, the end exclusive. start_time, end_time: the
    first message at or after. max_offsets: for each trigger, 0 for all. fetch_mode: auto, direct or consumer.
    batch, max_bytes: messages and bytes for each request. timeout: ns without an answer. retries: attempts
    without progress.
    """

    settings: Settings
    stream: str
    subjects: tuple[str, ...]
    start: Offset
    end: Offset
    start_time: datetime | None
    end_time: datetime | None
    max_offsets: int
    min_partitions: int
    fail_on_loss: bool
    fail_on_deleted: bool
    fetch_mode: str
    batch: int
    max_bytes: int
    timeout: int
    retries: int
    headers: bool

    @property
    def prefix(self) -> str:
        """The API prefix."""
        return api_prefix(self.settings.js_domain, self.settings.js_api_prefix)


def parse_read_options(
    raw_options: Mapping[str, str],
    environ: Mapping[str, str] = os.environ,
    *,
    streaming: bool | None = False,
    settings: Settings | None = None,
) -> ReadOptions:
    """Parse and validate options.

    Args:
        streaming: whether they are for a streaming query; None when that is unknown.
        settings: of the connection; the options must not name it then.

    Raises BadInput for options that are unknown, wrong or contradictory, NotFound for an unknown context.
    """
    options = {name.lower(): value for name, value in raw_options.items()}
    refuse_unknown_options(options, OPTION_NAMES)
    values = OptionValues(options)
    stream = values.text("stream")
    if not stream:
        raise BadInput("option stream is missing", 'use .option("stream", "ORDERS")')
    if any(c in stream for c in " .*>/\\\t\r\n"):
        raise BadInput(f"{stream!r} is not a stream name")
    start, end = values.offset("startingOffsets", ""), values.offset("endingOffsets", "")
    start_time, end_time = values.time("startingTimestamp"), values.time("endingTimestamp")
    for name, one, other in (("starting", start, start_time), ("ending", end, end_time)):
        if one != "" and other:
            raise BadInput(f"options {name}Offsets and {name}Timestamp exclude each other", "give one")
    if start_time and end_time and start_time >= end_time:
        raise BadInput("startingTimestamp is not before endingTimestamp")
    if streaming and (end != "" or end_time):
        raise BadInput("endingOffsets and endingTimestamp are for spark.read", "a stream has no end")
    if streaming is False and "maxoffsetspertrigger" in options:
        raise BadInput("maxOffsetsPerTrigger is for spark.readStream")
    mode = values.text("fetchMode", "auto")
    if mode not in ("auto", "direct", "consumer"):
        raise BadInput(f"fetchMode {mode!r} is not auto, direct or consumer")
    subjects = _subjects(values.text("subject"))
    fail_on_deleted = values.flag("failOnDeleted", False)
    if subjects and fail_on_deleted:
        raise BadInput(
            "options failOnDeleted and subject exclude each other",
            "where only some subjects are read, nobody sees what was deleted",
        )
    return ReadOptions(
        settings=connection_settings(options, environ, settings),
        stream=stream,
        subjects=subjects,
        start=cast(Offset, start or ("latest" if streaming else "earliest")),
        end=cast(Offset, end or "latest"),
        start_time=start_time,
        end_time=end_time,
        max_offsets=values.count("maxOffsetsPerTrigger", 0, least=1),
        min_partitions=values.count("minPartitions", 0, least=1),
        fail_on_loss=values.flag("failOnDataLoss", True),
        fail_on_deleted=fail_on_deleted,
        fetch_mode=mode,
        batch=values.count("batchSize", 1000, least=1, most=50_000),
        max_bytes=values.size("maxBytes", 4 << 20),
        timeout=values.duration("requestTimeout", 10 * SECOND),
        retries=values.count("retries", 5, least=0),
        headers=values.flag("includeHeaders", False),
    )


def refuse_unknown_options(options: Mapping[str, str], names: Sequence[str]) -> None:
    """Raise BadInput for options that are not among `names`. options: by name in lower case."""
    known = {name.lower(): name for name in names}
    for name in options:
        if name == "path":
            raise BadInput("a stream has no path", 'use .option("stream", "ORDERS") and .load()')
        if name not in known:
            similar = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
            hint = f"did you mean {known[similar[0]]}?" if similar else f"the options are {', '.join(names)}"
            raise BadInput(f"unknown option {name}", hint)


def connection_settings(
    options: Mapping[str, str], environ: Mapping[str, str], preset: Settings | None = None
) -> Settings:
    """Return how to connect. preset: settings that are known, so that options must not name any.

    Raises BadInput, NotFound.
    """
    if preset is not None:
        for name in CONNECTION_OPTIONS:
            if name.lower() in options:
                raise BadInput(f"option {name} is already set by connect", "leave it out")
        return preset
    if "servers" not in options and "context" not in options:
        raise BadInput("option servers or context is missing", 'use .option("servers", "nats://host:4222")')
    if "servers" in options and "context" in options:
        raise BadInput("options servers and context exclude each other", "give one")
    if options.get("domain") and options.get("apiprefix"):
        raise BadInput("options domain and apiPrefix exclude each other", "give one")
    flags: dict[str, Any] = {setting: options[n] for n, setting in _CONNECTION.items() if n in options}
    if "tlsfirst" in options:
        flags["tlsfirst"] = OptionValues(options).flag("tlsFirst", False)
    context = (
        ContextStore.from_environment(environ).find(options["context"]) if "context" in options else None
    )
    return resolve(flags, context)


def _subjects(text: str) -> tuple[str, ...]:
    subjects = tuple(part.strip() for part in text.split(",") if part.strip())
    for subject in subjects:
        tokens = subject.split(".")
        has_partial_wildcard = any(c in token and token != c for token in tokens for c in "*>")
        if not all(tokens) or " " in subject or has_partial_wildcard or ">" in tokens[:-1]:
            raise BadInput(f"subject {subject!r} is not a valid subject filter")
    return () if subjects == (">",) else subjects


class OptionValues:
    """Parses values by option name. Every method raises BadInput for a value that does not fit."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = options

    def text(self, name: str, default: str = "") -> str:
        return self._options.get(name.lower(), default).strip()

    def offset(self, name: str, default: str) -> str | int:
        text = self.text(name, default)
        if text in ("", "earliest", "latest"):
            return text
        if text.isdigit() and int(text) > 0:
            return int(text)
        raise BadInput(f"{name} {text!r} is not earliest, latest or a sequence")

    def time(self, name: str) -> datetime | None:
        text = self.text(name)
        try:
            if text.isdecimal() and len(text) > 8:  # as Kafka's: ms since 1970
                return to_datetime(int(text) * MS)
            return parse_time(text) if text else None
        except (ValueError, OverflowError, OSError):
            hint = "write 2026-11-21T06:57:05Z, or milliseconds since 1970"
            raise BadInput(f"{name} {text!r} is not a time", hint) from None

    def count(self, name: str, default: int, *, least: int, most: int = 1 << 62) -> int:
        text = self.text(name)
        if not text:
            return default
        if not text.isdigit() or not least <= int(text) <= most:
            limits = f"{least} or more" if most == 1 << 62 else f"from {least} to {most}"
            raise BadInput(f"{name} {text!r} is not a whole number", f"use a number, {limits}")
        return int(text)

    def flag(self, name: str, default: bool) -> bool:
        text = self.text(name).lower()
        if text not in ("", "true", "false"):
            raise BadInput(f"{name} {text!r} is neither true nor false")
        return text == "true" if text else default

    def size(self, name: str, default: int) -> int:
        """Bytes."""
        return self._unit(name, default, parse_bytes)

    def duration(self, name: str, default: int) -> int:
        """ns."""
        return self._unit(name, default, parse_duration)

    def _unit(self, name: str, default: int, parse: Callable[[str], int]) -> int:
        text = self.text(name)
        try:
            value = parse(text) if text else default
        except ValueError as error:
            raise BadInput(f"{name}: {error}") from None
        if value <= 0:
            raise BadInput(f"{name} must be more than 0")
        return value
