"""The lists of `listings.py` in recorded rounds: of each row what its columns read, as JSON, and back."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from jsctl.jetstream.api import Json
from jsctl.jetstream.shape_check import NUMBER, TIME, Shape, check
from jsctl.jetstream.shapes import fields
from jsctl.monitor.report.listings import LISTED, Listing

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
_ROWS: Mapping[str, Shape] = {
    "buckets": _INFO,
    "objects": _INFO,
    "services": _SERVICE,
    "connections": _CONNECTION,
    "schedules": _SCHEDULE,
}
"""Fields that are recorded, which are those that columns read."""


def encode_listings(listings: Iterable[Listing]) -> Json:
    """Return lists as JSON, by part."""
    return {
        one.part: {
            "why": one.why,
            "rows": None if one.rows is None else [_pick(row, _ROWS[one.part]) for row in one.rows],
        }
        for one in listings
    }


def parse_listings(document: Any) -> list[Listing]:
    """Return the lists of a place. Raises Malformed for those of another shape; parts of later versions are
    left out."""
    check(document, Shape({part: Shape({"why": str, "rows": [row]}, ["why"]) for part, row in _ROWS.items()}))
    return [
        Listing(
            part, None if own.get("rows") is None else [*map(_find_parser(part), own["rows"])], own["why"]
        )
        for part in LISTED
        if (own := document.get(part)) is not None
    ]


def _pick(row: Any, shape: Shape) -> Json:
    """Return the fields of a row, JSON or a named tuple, that have a shape."""
    read = row.get if isinstance(row, dict) else partial(getattr, row)
    return {
        key: _pick(value, kind) if isinstance(kind, Shape) else value
        for key, kind in shape.fields.items()
        if (value := read(key)) is not None
    }


def _find_parser(part: str) -> Callable[[Json], Any]:
    """Return what makes a row of its JSON. What lists it is imported only here."""
    if part == "services":
        from jsctl.services.statistics import Row

        return lambda row: Row(**{"rate": None, "error_rate": None, **_pick(row, _SERVICE)})
    if part == "schedules":
        from jsctl.jetstream.message.schedules import StoredSchedule, Written

        return lambda row: StoredSchedule(
            **{**_pick(row, _SCHEDULE), "written": Written(**own) if (own := row.get("written")) else None}
        )
    return lambda row: row
