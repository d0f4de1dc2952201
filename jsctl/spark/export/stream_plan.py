"""Plans and outcomes of exports of streams: the values that its parts pass to each other."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput
from jsctl.spark.export.verify import Comparison


@dataclass(frozen=True, slots=True)
class StreamSource:
    """A stream, how to connect to its server, and the table that it goes to."""

    settings: Settings
    stream: str
    table: str


@dataclass(frozen=True, slots=True)
class Selection:
    """The messages of a stream to export.

    subjects: subject filters, empty for all. start, end: sequences, the end exclusive. since, until: times,
    the end exclusive.
    """

    subjects: tuple[str, ...] = ()
    start: int | None = None
    end: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    fail_on_loss: bool = True
    fail_on_deleted: bool = False


class ReadPlan(NamedTuple):
    """The plan of what a run reads: the sequences [start, end) of the stream that was created at `created`.

    first: the first sequence of the table, which may have rows already. lost: number of sequences with which
    the table should continue and that the stream no longer has. messages, bytes: estimates. is_promised:
    whether the message at `start` was requested, instead of the first available one (see `plan.is_promised`).
    """

    created: str
    start: int
    end: int
    first: int
    lost: int
    messages: int
    bytes: int
    is_promised: bool = True


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run for one stream.

    bytes: of payload. deleted: number of sequences without a message; None (unknown) when only some subjects
    were read. lost: number of messages that the stream dropped before they were read. bad: number of payloads
    that could not be decoded. first, last: sequences. seconds: for reading and writing. comparison: with
    --verify.
    """

    stream: str
    table: str
    exported: int = 0
    bytes: int = 0
    deleted: int | None = 0
    lost: int = 0
    bad: int = 0
    first: int | None = None
    last: int | None = None
    seconds: float = 0.0
    comparison: Comparison | None = None

    def plus(self, later: "Outcome") -> "Outcome":
        """Return this run and a later one of the same stream as one."""
        deleted = None if self.deleted is None or later.deleted is None else self.deleted + later.deleted
        return Outcome(
            stream=self.stream,
            table=self.table,
            exported=self.exported + later.exported,
            bytes=self.bytes + later.bytes,
            deleted=deleted,
            lost=self.lost + later.lost,
            bad=self.bad + later.bad,
            first=later.first if self.first is None else self.first,
            last=self.last if later.last is None else later.last,
            seconds=self.seconds + later.seconds,
        )


def list_stream_sources(places: Sequence[Settings], names: Sequence[str]) -> list[StreamSource]:
    """Return every stream in every context and domain, with the name of its table.

    If there are several contexts or domains, these are part of the name. Raises BadInput when two streams
    would share a table.
    """
    sources: dict[str, StreamSource] = {}
    for settings in places:
        qualifiers = [
            getattr(settings, field)
            for field in ("context", "js_domain")
            if len({getattr(place, field) for place in places}) > 1 and getattr(settings, field)
        ]
        for name in dict.fromkeys(names):
            table = re.sub(r"[^\w-]", "_", "_".join([*qualifiers, name]))
            if not re.match(r"[A-Za-z0-9]", table):
                table = f"t{table}"  # Spark ignores folders that begin with _
            if table in sources:
                raise BadInput(f"two streams would go to {table}", "export one of them to another folder")
            sources[table] = StreamSource(settings, name, table)
    return list(sources.values())


def build_source_options(source: StreamSource, selection: Selection) -> dict[str, str]:
    """Return the options of the data source for a selection, except the connection's.

    Raises BadInput for settings that Spark's readers cannot use.
    """
    if source.settings.socks_proxy:
        raise BadInput("Spark's readers cannot use --socks-proxy", "use a context without it")
    options = {
        "stream": source.stream,
        "requestTimeout": format_request_timeout(source.settings),
        "failOnDataLoss": str(selection.fail_on_loss).lower(),
        "failOnDeleted": str(selection.fail_on_deleted).lower(),
    }
    if selection.subjects:
        options["subject"] = ",".join(selection.subjects)
    return options


def format_request_timeout(settings: Settings) -> str:
    """Return the value of the data source's option requestTimeout for the settings' timeout."""
    return f"{max(settings.timeout, 1_000_000) // 1_000_000}ms"
