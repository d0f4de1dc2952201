"""The lists that a report fetches only where they are shown or recorded, such as buckets and connections, and
what recorded rounds have of them: of each row what its columns read, as JSON."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from jsctl.base.loops import gather
from jsctl.base.units import SECOND
from jsctl.errors import Denied, JsctlError, RequestTimeout
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.kv.names import is_bucket, stream_to_bucket
from jsctl.jetstream.object.buckets import get_bucket
from jsctl.jetstream.shape_check import NUMBER, TIME, Shape, check
from jsctl.jetstream.shapes import fields
from jsctl.jetstream.stream import requests as streams

if TYPE_CHECKING:
    from jsctl.services.statistics import Count, Key


RECORDED_EVERY = 8
"""A recording has these lists in each eighth round: they are large, and few replays are opened for them."""

_SERVICES_TIMEOUT = 2.0  #: seconds; a subscriber to all subjects never answers


class Listing(NamedTuple):
    """A list of one place. rows: None if the login may not see them, or they could not be fetched; why: the
    reason."""

    part: str
    rows: Sequence[Any] | None
    why: str = ""


class _Schedules(NamedTuple):
    """The schedules of a stream. changes: what differs once it has stored or removed anything."""

    changes: Sequence[Any]
    schedules: Sequence[Any]


class Lister:
    """Fetches the lists of one place. pattern: glob of the streams that hold them; empty for all."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._schedules: Mapping[str, _Schedules] = {}
        self._counts: Mapping[Key, Count] = {}
        self._counted_at = 0

    async def fetch(self, api: Api, parts: Iterable[str]) -> list[Listing]:
        """Fetch lists, some of LISTED."""
        return await gather(self._fetch(api, part) for part in parts)

    async def _fetch(self, api: Api, part: str) -> Listing:
        try:
            return Listing(part, await LISTED[part].fetch(self, api))
        except JsctlError as error:
            return Listing(part, None, error.message)

    async def _fetch_streams(self, api: Api, takes: Callable[[Json], object]) -> list[Json]:
        """Fetch the infos of streams, by name."""

        def extract(info: Json) -> Json | None:
            return info if takes(info) and fnmatchcase(_get_name(info), self._pattern or "*") else None

        collected = await streams.collect(api, extract)
        return [info for _, info in sorted(collected.items.items())]

    async def fetch_buckets(self, api: Api) -> list[Json]:
        """Fetch the infos of the streams of key-value buckets."""
        return await self._fetch_streams(api, lambda info: is_bucket(_get_name(info)))

    async def fetch_object_buckets(self, api: Api) -> list[Json]:
        """Fetch the infos of the streams of object buckets."""
        return await self._fetch_streams(api, get_bucket)

    async def fetch_services(self, api: Api) -> Sequence[Any]:
        """Fetch the `services.statistics.Row` of each endpoint; without rates the first time."""
        from jsctl.services import discovery, statistics

        try:
            async with asyncio.timeout(_SERVICES_TIMEOUT):
                documents = await discovery.gather(api.connection, "STATS", warn=lambda _: None)
        except TimeoutError:
            raise RequestTimeout(f"no service answered within {_SERVICES_TIMEOUT:g}s") from None
        now, counts = time.monotonic_ns(), statistics.read_counts(documents)
        seconds = (now - self._counted_at) / SECOND if self._counted_at else 0.0
        rows = statistics.compute_rows(counts, self._counts, seconds)
        self._counts, self._counted_at = counts, now
        return rows if seconds else [row._replace(rate=None, error_rate=None) for row in rows]

    async def fetch_connections(self, api: Api) -> list[Json]:
        """Fetch the connections of all servers. Raises Denied without a login of the system account."""
        from jsctl.monitor.server.reports import build_connection_request, build_connection_rows
        from jsctl.monitor.server.requests import ping

        request = {**build_connection_request(), "subscriptions": False}  # their subjects may be many
        try:
            return build_connection_rows(await ping(api.connection, "CONNZ", request))
        except Denied:
            raise Denied("only a login of the system account sees connections") from None

    async def fetch_schedules(self, api: Api) -> list[Any]:
        """Fetch the schedules of all streams. A stream that has not changed is not read again."""
        from jsctl.jetstream.message.schedules import list_schedules

        async def list_unless_known(info: Json) -> _Schedules:
            changes = [info.get("created"), *map(info["state"].get, ("first_seq", "last_seq", "messages"))]
            known = self._schedules.get(info["config"]["name"])
            if known is not None and known.changes == changes:
                return known
            return _Schedules(changes, await list_schedules(api, info["config"], ""))

        infos = await self._fetch_streams(api, lambda info: info["config"].get("allow_msg_schedules"))
        lists = await gather(map(list_unless_known, infos))
        self._schedules = dict(zip(map(_get_name, infos), lists, strict=True))
        return [schedule for own in lists for schedule in own.schedules]


_INFO = Shape(
    {
        "config": Shape(fields(str, "name description"), ["name"]),
        "state": Shape({**fields(int, "messages bytes"), "last_ts": TIME}, ["messages", "bytes"]),
        "created": TIME,
    },
    ("config", "state"),
)
_SERVICE = Shape(
    {
        **fields(str, "service endpoint"),
        **fields(int, "instances requests errors average"),
        **fields(NUMBER, "rate error_rate skew"),
    },
    ("service", "endpoint", "instances", "requests", "errors", "average", "skew"),
)
_CONNECTION = Shape(
    {
        "server": Shape(fields(str, "id name cluster"), ["id", "name"]),
        **fields(int, "cid port in_msgs out_msgs in_bytes out_bytes subscriptions"),
        **fields(str, "kind name ip account name_tag uptime"),
    },
    ("server", "cid"),
)
_TEXTS = "subject pattern zone target source ttl rollup stream"
_SCHEDULE = Shape(
    {
        **fields(str, _TEXTS),
        "stored": TIME,
        "sequence": int,
        "written": Shape({"sequence": int, "time": TIME, "next": int}, ["sequence", "time", "next"]),
    },
    [*_TEXTS.split(), "stored", "sequence"],
)


def _pick(row: Any, shape: Shape) -> Json:
    """Return the fields of a row, JSON or a named tuple, that have a shape."""
    read = row.get if isinstance(row, dict) else partial(getattr, row)
    return {
        key: _pick(value, kind) if isinstance(kind, Shape) else value
        for key, kind in shape.fields.items()
        if (value := read(key)) is not None
    }


def _parse_service(row: Json) -> Any:
    from jsctl.services.statistics import Row

    return Row(**{"rate": None, "error_rate": None, **_pick(row, _SERVICE)})


def _parse_schedule(row: Json) -> Any:
    from jsctl.jetstream.message.schedules import StoredSchedule, Written

    written = Written(**own) if (own := row.get("written")) else None
    return StoredSchedule(**{**_pick(row, _SCHEDULE), "written": written})


_BUCKET_KEYS = "bucket:text description:text created:time bytes:natural"


def _get_name(info: Json) -> str:
    return str(info["config"]["name"])


class Listed(NamedTuple):
    """A part that is fetched only where it is shown or recorded.

    title: for people. columns: those of the verb that lists the same, as module:name, which is imported
    only where they are shown; perhaps a function of the time, seconds since 1970. keys: those of a row's
    JSON, as key:kind of the schema. shape: what is recorded of a row, which is what its columns read. key:
    what identifies a row. line: its verb, names and flags, to show a row. stream: the stream that holds a
    row, None if none does. parse: makes a row of its JSON.
    """

    title: str
    fetch: Callable[[Lister, Api], Awaitable[Sequence[Any]]]
    columns: str
    keys: str
    shape: Shape
    key: Callable[[Any], Hashable]
    line: Callable[[Any], tuple[str, Sequence[str], Sequence[str]]]
    stream: Callable[[Any], str] | None = None
    parse: Callable[[Json], Any] = lambda row: row

    @property
    def kinds(self) -> Mapping[str, str]:
        """The keys of a row's JSON, with the kind of each."""
        return dict(word.split(":") for word in self.keys.split())

    @property
    def sorts(self) -> Sequence[str]:
        """The keys of the numbers by which rows may be sorted."""
        return [key for key, kind in self.kinds.items() if kind.rstrip("?") in ("natural", "real", "ns")]


LISTED: Mapping[str, Listed] = {
    "buckets": Listed(
        "Buckets",
        Lister.fetch_buckets,
        "jsctl.views.kv.info:build_bucket_columns",
        keys=f"{_BUCKET_KEYS} values:natural last_update_ns:ns?",
        shape=_INFO,
        key=_get_name,
        line=lambda info: ("kv info", [stream_to_bucket(_get_name(info))], []),
        stream=_get_name,
    ),
    "objects": Listed(
        "Object Buckets",
        Lister.fetch_object_buckets,
        "jsctl.views.object.lists:build_bucket_columns",
        keys=f"{_BUCKET_KEYS} last_update_ns:ns?",
        shape=_INFO,
        key=_get_name,
        line=lambda info: ("object ls", [get_bucket(info)], []),
        stream=_get_name,
    ),
    "services": Listed(
        "Services",
        Lister.fetch_services,
        "jsctl.views.service.documents:RATES",
        keys="service:text endpoint:text instances:natural requests:natural rate:real? errors:natural"
        " error_rate:real? average_ns:ns? skew:real?",
        shape=_SERVICE,
        key=attrgetter("service", "endpoint"),
        line=lambda row: ("service info", [row.service], []),
        parse=_parse_service,
    ),
    "connections": Listed(
        "Connections",
        Lister.fetch_connections,
        "jsctl.views.server.reports:CONNECTIONS",
        keys="cid:text name:text server:text cluster:text address:text account:text uptime_ns:ns?"
        " in_msgs:natural out_msgs:natural in_bytes:natural out_bytes:natural subs:natural",
        shape=_CONNECTION,
        key=lambda row: (row["server"]["id"], row["cid"]),
        line=lambda row: ("server report connections", [], ["--filter", f"cid == {row['cid']}"]),
    ),
    "schedules": Listed(
        "Schedules",
        Lister.fetch_schedules,
        "jsctl.views.schedule.schedules:build_columns_of_streams",
        keys="stream:text subject:text schedule:text zone:text target:text source:text next:time?"
        " written:time? sequence:natural",
        shape=_SCHEDULE,
        key=attrgetter("stream", "subject"),
        line=lambda row: ("schedule info", [row.stream, row.subject], []),
        stream=attrgetter("stream"),
        parse=_parse_schedule,
    ),
}
"""The parts that are fetched only where they are shown or recorded."""


def encode_listings(listings: Iterable[Listing]) -> Json:
    """Return lists as JSON, by part."""
    return {
        one.part: {
            "why": one.why,
            "rows": None if one.rows is None else [_pick(row, LISTED[one.part].shape) for row in one.rows],
        }
        for one in listings
    }


def parse_listings(document: Any) -> list[Listing]:
    """Return the lists of a place. Raises Malformed for those of another shape; parts of later versions are
    left out."""
    shapes = {part: Shape({"why": str, "rows": [one.shape]}, ["why"]) for part, one in LISTED.items()}
    check(document, Shape(shapes))
    return [
        Listing(part, None if own.get("rows") is None else [*map(one.parse, own["rows"])], own["why"])
        for part, one in LISTED.items()
        if (own := document.get(part)) is not None
    ]
