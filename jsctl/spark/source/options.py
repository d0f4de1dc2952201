"""Options of the `jetstream` data source, checked as a whole before anything is read. Pure.

Kafka's names are used where the meaning is Kafka's.
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
"""Options that are settings of a connection -> the setting."""

OPTION_NAMES = (
    "servers", "context", "stream", "domain", "apiPrefix", "user", "password", "token", "creds", "nkey",
    "jwt", "seed", "tlsCert", "tlsKey", "tlsCa", "tlsFirst", "inboxPrefix", "subject", "startingOffsets",
    "endingOffsets", "startingTimestamp", "endingTimestamp", "maxOffsetsPerTrigger", "minPartitions",
    "failOnDataLoss", "failOnDeleted", "fetchMode", "batchSize", "maxBytes", "requestTimeout", "retries",
    "includeHeaders",
)  # fmt: skip


CONNECTION_OPTIONS = (
    *OPTION_NAMES[: OPTION_NAMES.index("stream")],
    *OPTION_NAMES[OPTION_NAMES.index("domain") : OPTION_NAMES.index("subject")],
)
"""Those that say where and as whom."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What to read, and how.

    subjects: filters, empty for all. start, end: sequences, the end exclusive. start_time, end_time: the
    first message at or after. max_offsets: a trigger; 0 for all. fetch_mode: auto, direct or consumer.
    max_bytes: a request. timeout: ns without an answer.
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


def parse(
    options: Mapping[str, str],
    environ: Mapping[str, str] = os.environ,
    *,
    streaming: bool | None = False,
    settings: Settings | None = None,
) -> ReadOptions:
    """Raises BadInput for what is unknown, wrong or contradictory, NotFound for an unknown context.

    streaming: None when it is not known whether the options are for a stream. settings: the connection's,
    which the options then leave out.
    """
    given = {name.lower(): value for name, value in options.items()}
    refuse_unknown_options(given, OPTION_NAMES)
    take = OptionValues(given)
    stream = take.text("stream")
    if not stream:
        raise BadInput("option stream is missing", 'say .option("stream", "ORDERS")')
    if any(c in stream for c in " .*>/\\\t\r\n"):
        raise BadInput(f"{stream!r} is no stream name")
    start, end = take.offset("startingOffsets", ""), take.offset("endingOffsets", "")
    start_time, end_time = take.time("startingTimestamp"), take.time("endingTimestamp")
    for name, one, other in (("starting", start, start_time), ("ending", end, end_time)):
        if one != "" and other:
            raise BadInput(f"options {name}Offsets and {name}Timestamp exclude each other", "give one")
    if start_time and end_time and start_time >= end_time:
        raise BadInput("startingTimestamp is not before endingTimestamp")
    if streaming and (end != "" or end_time):
        raise BadInput("endingOffsets and endingTimestamp are for spark.read", "a stream has no end")
    if streaming is False and "maxoffsetspertrigger" in given:
        raise BadInput("maxOffsetsPerTrigger is for spark.readStream")
    mode = take.text("fetchMode", "auto")
    if mode not in ("auto", "direct", "consumer"):
        raise BadInput(f"fetchMode {mode!r} is none of auto, direct, consumer")
    subjects = _subjects(take.text("subject"))
    fail_on_deleted = take.flag("failOnDeleted", False)
    if subjects and fail_on_deleted:
        raise BadInput(
            "failOnDeleted cannot be with subject", "among other subjects nobody sees what was deleted"
        )
    return ReadOptions(
        settings=connection_settings(given, environ, settings),
        stream=stream,
        subjects=subjects,
        start=cast(Offset, start or ("latest" if streaming else "earliest")),
        end=cast(Offset, end or "latest"),
        start_time=start_time,
        end_time=end_time,
        max_offsets=take.count("maxOffsetsPerTrigger", 0, least=1),
        min_partitions=take.count("minPartitions", 0, least=1),
        fail_on_loss=take.flag("failOnDataLoss", True),
        fail_on_deleted=fail_on_deleted,
        fetch_mode=mode,
        batch=take.count("batchSize", 1000, least=1, most=50_000),
        max_bytes=take.size("maxBytes", 4 << 20),
        timeout=take.duration("requestTimeout", 10 * SECOND),
        retries=take.count("retries", 5, least=0),
        headers=take.flag("includeHeaders", False),
    )


def refuse_unknown_options(given: Mapping[str, str], names: Sequence[str]) -> None:
    """`given` is by lower-case name. Raises BadInput."""
    known = {name.lower(): name for name in names}
    for name in given:
        if name == "path":
            raise BadInput("a stream has no path", 'say .option("stream", "ORDERS") and .load()')
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
            hint = f"did you mean {known[near[0]]}?" if near else f"the options are {', '.join(names)}"
            raise BadInput(f"unknown option {name}", hint)


def connection_settings(
    given: Mapping[str, str], environ: Mapping[str, str], preset: Settings | None = None
) -> Settings:
    """How to connect; preset: known already, and not to be given again. Raises BadInput, NotFound."""
    if preset is not None:
        for name in CONNECTION_OPTIONS:
            if name.lower() in given:
                raise BadInput(f"option {name} was preset by connect", "leave it out")
        return preset
    if "servers" not in given and "context" not in given:
        raise BadInput("option servers or context is missing", 'say .option("servers", "nats://host:4222")')
    if "servers" in given and "context" in given:
        raise BadInput("options servers and context exclude each other", "give one")
    if given.get("domain") and given.get("apiprefix"):
        raise BadInput("options domain and apiPrefix exclude each other", "give one")
    flags: dict[str, Any] = {setting: given[n] for n, setting in _CONNECTION.items() if n in given}
    if "tlsfirst" in given:
        flags["tlsfirst"] = OptionValues(given).flag("tlsFirst", False)
    context = ContextStore.from_environment(environ).find(given["context"]) if "context" in given else None
    return resolve(flags, context)


def _subjects(text: str) -> tuple[str, ...]:
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    for subject in found:
        tokens = subject.split(".")
        wild = any(c in token and token != c for token in tokens for c in "*>")
        if not all(tokens) or " " in subject or wild or ">" in tokens[:-1]:
            raise BadInput(f"subject {subject!r} is no subject filter")
    return () if found == (">",) else found


class OptionValues:
    """Values by option name."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = given

    def text(self, name: str, default: str = "") -> str:
        return self._given.get(name.lower(), default).strip()

    def offset(self, name: str, default: str) -> str | int:
        text = self.text(name, default)
        if text in ("", "earliest", "latest"):
            return text
        if text.isdigit() and int(text) > 0:
            return int(text)
        raise BadInput(f"{name} {text!r} is none of earliest, latest or a sequence")

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
            limits = f"from {least}" if most == 1 << 62 else f"from {least} to {most}"
            raise BadInput(f"{name} {text!r} is no whole number {limits}")
        return int(text)

    def flag(self, name: str, default: bool) -> bool:
        text = self.text(name).lower()
        if text not in ("", "true", "false"):
            raise BadInput(f"{name} {text!r} is neither true nor false")
        return text == "true" if text else default

    def size(self, name: str, default: int) -> int:
        return self._unit(name, default, parse_bytes)

    def duration(self, name: str, default: int) -> int:
        return self._unit(name, default, parse_duration)

    def _unit(self, name: str, default: int, read: Callable[[str], int]) -> int:
        text = self.text(name)
        try:
            value = read(text) if text else default
        except ValueError as error:
            raise BadInput(f"{name}: {error}") from None
        if value <= 0:
            raise BadInput(f"{name} must be more than 0")
        return value
