"""Options of the `jetstream` data source for reading, validated before anything is read.

They have the same names as the equivalent options of Kafka's data source.
"""

import itertools
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from jsctl.base.similar_names import find_nearest
from jsctl.base.units import SECOND
from jsctl.contexts.layers import check_subject, resolve
from jsctl.contexts.settings import SETTINGS, Settings
from jsctl.contexts.store import ContextStore
from jsctl.errors import BadInput
from jsctl.jetstream.api import build_api_prefix
from jsctl.nats.subjects import covers, overlaps
from jsctl.schema.remote.registry import NO_LOGIN, read_login
from jsctl.spark.source import kafka_names
from jsctl.spark.source.bucket_options import Rows, parse_bucket
from jsctl.spark.source.option_values import OptionValues
from jsctl.spark.source.payload_options import BESIDE_PAYLOADS, DECODE_OPTIONS, parse_columns
from jsctl.spark.source.range_options import ReadRange, parse_ranges

if TYPE_CHECKING:
    from jsctl.spark.decoding.columns import PayloadColumns
    from jsctl.spark.decoding.model import Decoding

_NOT_IN_NAMES = " .*>/\\\t\r\n"
_TRIGGER_OPTIONS = (
    "maxOffsetsPerTrigger",
    "maxBytesPerTrigger",
    "minOffsetsPerTrigger",
    "maxTriggerDelay",
)

_PLACE_OPTIONS = ("servers", "context")
_SETTINGS = {setting.option: name for name, setting in SETTINGS.items() if setting.option}
"""Option of a login -> the setting."""
_DOMAIN_OPTIONS = ("domain", "apiPrefix")

CONNECTION_OPTIONS = (*_PLACE_OPTIONS, *_SETTINGS)
"""Options of the server and the login."""

OPTION_NAMES = (
    *_PLACE_OPTIONS,
    "stream",
    "streams",
    *_SETTINGS,
    "subject",
    "startingOffsets",
    "endingOffsets",
    "startingTimestamp",
    "endingTimestamp",
    *_TRIGGER_OPTIONS,
    "minPartitions",
    "failOnDataLoss",
    "failOnDeleted",
    "fetchMode",
    "batchSize",
    "maxBytes",
    "requestTimeout",
    "retries",
    "retryTimeout",
    "includeHeaders",
    "includeData",
    "columns",
    *DECODE_OPTIONS,
    "committedConsumer",
    "bucket",
    "objects",
    "keys",
    "history",
)

_OF_COLUMNS = frozenset(name.lower() for name in (*DECODE_OPTIONS, "columns", "includeData"))

RETRY_TIMEOUT = 120 * SECOND
"""How long a server may be away after it has answered, in ns."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The parsed options: what to read, and how.

    stream: one name; empty if `streams` are several names and patterns of names. subjects: filters, empty
    for all. range: of all streams but those in `ranges`. max_offsets, max_trigger_bytes: for each trigger, 0
    for all. min_offsets: for each trigger, unless it waited for max_delay, in ns. fetch_mode:
    auto, direct or consumer. batch, max_bytes: messages and bytes of each request. timeout: ns without an
    answer. retries: attempts without progress. retry_timeout: how long a server may be away, in ns.
    is_patient: whether that applies to the first contact, too. columns: to read, in their order. consumer:
    the one whose ack floor shows the committed progress; empty for none. latest: only the last revision of
    each key of a bucket. payload: makes columns of payloads; None for payloads as they are. rows: what a row
    is: a message, a revision of a key, or the metadata of an object.
    """

    settings: Settings
    stream: str
    streams: tuple[str, ...]
    subjects: tuple[str, ...]
    range: ReadRange
    max_offsets: int
    max_trigger_bytes: int
    min_offsets: int
    max_delay: int
    min_partitions: int
    fail_on_loss: bool
    fail_on_deleted: bool
    fetch_mode: str
    batch: int
    max_bytes: int
    timeout: int
    retries: int
    retry_timeout: int
    is_patient: bool
    columns: tuple[str, ...]
    consumer: str
    latest: bool = False
    payload: "PayloadColumns | None" = None
    rows: Rows = "messages"
    ranges: Mapping[str, ReadRange] = field(default_factory=dict)

    def select_stream(self, name: str) -> "ReadOptions":
        """Return the options for one of the streams."""
        return replace(self, stream=name, streams=(), range=self.ranges.get(name, self.range), ranges={})

    @property
    def prefix(self) -> str:
        """The API prefix."""
        return build_api_prefix(self.settings.js_domain, self.settings.js_api_prefix)

    @property
    def headers(self) -> bool:
        """Whether headers are read."""
        return "headers" in self.columns

    @property
    def payloads(self) -> bool:
        """Whether payloads are read, for `data`, the columns of a bucket, or decoded columns."""
        return not set(BESIDE_PAYLOADS).issuperset(self.columns)


SchemaFinder = Callable[[ReadOptions, "Decoding"], "Decoding"]
"""Finds the schema of payloads in the registry that a decoding names, in what the options read."""


def parse_read_options(
    raw_options: Mapping[str, str],
    environ: Mapping[str, str] = os.environ,
    *,
    streaming: bool | None = False,
    settings: Settings | None = None,
    login: Settings | None = None,
    find_schema: "SchemaFinder | None" = None,
) -> ReadOptions:
    """Parse and validate options.

    streaming: whether they are for a streaming query; None when that is unknown. settings: those of
    `connect`; None without it. login: of a schema registry; None for that in `environ`. find_schema: for
    payloads of a registry without a schema in the options. Raises BadInput for options that are unknown,
    invalid or contradictory, NotFound for an unknown context.
    """
    options = {name.lower(): value for name, value in raw_options.items()}
    if "provider" in options or not options:
        raise BadInput(
            "a table USING jetstream cannot be read: Spark does not pass its options to Python sources",
            "use CREATE OR REPLACE TEMPORARY VIEW orders USING jetstream OPTIONS (...)",
        )
    refuse_unknown_options(options, OPTION_NAMES)
    values = OptionValues(options)
    if login is None:
        login = read_login(environ) if "registry" in options else NO_LOGIN

    find = None
    if find_schema:
        rest = {name: text for name, text in options.items() if name not in _OF_COLUMNS}
        find = partial(_find_schema, find_schema, rest, environ, settings)
    bucket = parse_bucket(values, streaming, login, find)
    columns, payload = (bucket.columns, bucket.payload) if bucket else parse_columns(values, login, find)
    stream, streams = (bucket.stream, ()) if bucket else _parse_streams(values)
    default_range, ranges = parse_ranges(values, streams or (stream,), streaming)
    parsed = ReadOptions(
        settings=resolve_connection_settings(options, environ, settings),
        stream=stream,
        streams=streams,
        subjects=parse_subjects(",".join(bucket.subjects) if bucket else values.get_text("subject")),
        range=default_range,
        ranges=ranges,
        max_offsets=values.parse_count("maxOffsetsPerTrigger", 0, least=1),
        max_trigger_bytes=values.parse_size("maxBytesPerTrigger", 0),
        min_offsets=values.parse_count("minOffsetsPerTrigger", 0, least=1),
        max_delay=values.parse_duration("maxTriggerDelay", 15 * 60 * SECOND),
        min_partitions=values.parse_count("minPartitions", 0, least=1),
        # A bucket drops superseded revisions: its head moves although no key is lost.
        fail_on_loss=values.parse_flag("failOnDataLoss", bucket is None),
        fail_on_deleted=values.parse_flag("failOnDeleted", False),
        fetch_mode=values.get_text("fetchMode", "auto"),
        batch=values.parse_count("batchSize", 1000, least=1, most=50_000),
        max_bytes=values.parse_size("maxBytes", 4 << 20),
        timeout=values.parse_duration("requestTimeout", 10 * SECOND),
        retries=values.parse_count("retries", 5, least=0),
        retry_timeout=values.parse_duration("retryTimeout", RETRY_TIMEOUT),
        is_patient="retrytimeout" in options,
        columns=columns,
        payload=payload,
        consumer=values.get_text("committedConsumer"),
        latest=bucket.latest if bucket else False,
        rows=bucket.rows if bucket else "messages",
    )
    _refuse_contradictions(parsed, options, streaming)
    return parsed


def _refuse_contradictions(read: ReadOptions, given: Collection[str], streaming: bool | None) -> None:
    """Raise BadInput for options that cannot be used together, or not in this query. given: their names."""
    for name in (*_TRIGGER_OPTIONS, "committedConsumer") if streaming is False else ():
        if name.lower() in given:
            raise BadInput(f"{name} is only for spark.readStream")
    if read.fetch_mode not in ("auto", "direct", "consumer"):
        raise BadInput(f"fetchMode {read.fetch_mode!r} is not auto, direct or consumer")
    if read.subjects and read.fail_on_deleted:
        raise BadInput(
            "options failOnDeleted and subject cannot be used together",
            "remove one: deletions cannot be detected when only some subjects are read",
        )
    if read.max_offsets and read.min_offsets > read.max_offsets:
        raise BadInput(
            f"minOffsetsPerTrigger {read.min_offsets} is more than maxOffsetsPerTrigger {read.max_offsets}"
        )
    if "maxtriggerdelay" in given and not read.min_offsets:
        raise BadInput("maxTriggerDelay needs minOffsetsPerTrigger", "set both, or remove it")
    if read.consumer and (read.streams or any(c in read.consumer for c in _NOT_IN_NAMES)):
        raise BadInput(
            f"committedConsumer {read.consumer!r} is not the name of a consumer of one stream",
            "use the name of a durable consumer, and the option stream",
        )


def _find_schema(
    find: "SchemaFinder",
    options: Mapping[str, str],
    environ: Mapping[str, str],
    settings: Settings | None,
    decoding: "Decoding",
) -> "Decoding":
    return find(parse_read_options(options, environ, streaming=None, settings=settings), decoding)


def _parse_streams(values: OptionValues) -> tuple[str, tuple[str, ...]]:
    """Return one stream, or several names and patterns. Raises BadInput."""
    stream = values.get_text("stream")
    streams = tuple(
        dict.fromkeys(part.strip() for part in values.get_text("streams").split(",") if part.strip())
    )
    if not stream and not streams:
        raise BadInput("option stream is missing", 'use .option("stream", "ORDERS")')
    if stream and streams:
        raise BadInput("options stream and streams cannot be used together", "use only one")
    if any(c in stream for c in _NOT_IN_NAMES):
        hint = 'use .option("streams", ...) for several streams, or a pattern of names'
        raise BadInput(f"{stream!r} is not a valid stream name", hint if set(stream) & set("*,") else "")
    for name in streams:
        if any(c in name for c in _NOT_IN_NAMES if c != "*"):
            raise BadInput(
                f"{name!r} is neither a stream name nor a pattern", "use names such as ORDERS,LOGS or LOGS_*"
            )
    return stream, streams


def refuse_unknown_options(options: Mapping[str, str], names: Sequence[str]) -> None:
    """Raise BadInput for options that are not among `names`. options: by name in lower case."""
    names_by_key = {name.lower() for name in names}
    for name in options:
        if name == "path":
            raise BadInput("a stream has no path", 'use .option("stream", "ORDERS") and .load()')
        if name not in names_by_key:
            if meaning := kafka_names.find_option(name):
                raise BadInput(f"unknown option '{name}': {meaning}")
            nearest = find_nearest(name, names)
            hint = f"did you mean {nearest}?" if nearest else f"the options are {', '.join(names)}"
            raise BadInput(f"unknown option '{name}'", hint)


def resolve_connection_settings(
    options: Mapping[str, str], environ: Mapping[str, str], preset: Settings | None = None
) -> Settings:
    """Return the connection settings. preset: those of `connect`, which `context` and `servers` replace, and
    of which `domain` and `apiPrefix` name another JetStream.

    Raises BadInput, NotFound.
    """
    if options.get("domain") and options.get("apiprefix"):
        raise BadInput("options domain and apiPrefix cannot be used together", "use only one")
    if "servers" in options and "context" in options:
        raise BadInput("options servers and context cannot be used together", "use only one")
    if "servers" not in options and "context" not in options:
        if preset is None:
            raise BadInput(
                "option servers or context is missing", 'use .option("servers", "nats://host:4222")'
            )
        return _with_domain(preset, options)
    by_option = {"servers": "server", **_SETTINGS}
    flags: dict[str, Any] = {
        setting: options[name.lower()] for name, setting in by_option.items() if name.lower() in options
    }
    if "tlsfirst" in options:
        flags["tlsfirst"] = OptionValues(options).parse_flag("tlsFirst", False)
    context = (
        ContextStore.from_environment(environ).find(options["context"]) if "context" in options else None
    )
    return resolve(flags, context)


def _with_domain(preset: Settings, options: Mapping[str, str]) -> Settings:
    """Return the settings of `connect` with the domain or API prefix of the options, if there is one."""
    for name in _SETTINGS:
        if name.lower() in options and name not in _DOMAIN_OPTIONS:
            raise BadInput(
                f"option {name} is already set by connect",
                "remove it, or name another connection with context or servers",
            )
    chosen = {name: options[name.lower()] for name in _DOMAIN_OPTIONS if name.lower() in options}
    for name, value in chosen.items():
        check_subject(f"option {name}", value)
    if not chosen:
        return preset
    return preset._replace(js_domain=chosen.get("domain", ""), js_api_prefix=chosen.get("apiPrefix", ""))


def parse_subjects(text: str) -> tuple[str, ...]:
    """Parse subject filters, separated by commas, and leave out those that others cover. Raises BadInput."""
    subjects = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    for subject in subjects:
        tokens = subject.split(".")
        has_partial_wildcard = any(c in token and token != c for token in tokens for c in "*>")
        if not all(tokens) or " " in subject or has_partial_wildcard or ">" in tokens[:-1]:
            raise BadInput(f"subject {subject!r} is not a valid subject filter")
    subjects = tuple(
        subject
        for subject in subjects
        if not any(covers(other, subject) for other in subjects if other != subject)
    )
    for subject, other in itertools.combinations(subjects, 2):
        if overlaps(subject, other):
            raise BadInput(
                f"subjects {subject!r} and {other!r} overlap, which consumers do not allow",
                "use one filter that covers both, or filters without a common subject",
            )
    return () if subjects == (">",) else subjects
