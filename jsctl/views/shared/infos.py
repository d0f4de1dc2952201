"""Columns of lists of streams and buckets. A row is an info, with the time in ns as `now`."""

from collections.abc import Sequence

from jsctl.base.units import compute_age, seconds_to_ns
from jsctl.jetstream.api import Json
from jsctl.views.result import Column

DESCRIPTION = Column(
    *("Description", "description", "prose"),
    read=lambda info: info["config"].get("description", ""),
    hideable=1,
)
CREATED = Column("Created", "created", "time", read=lambda info: info.get("created"), hideable=3)
SIZE = Column("Size", "bytes", "bytes", read=lambda info: info["state"]["bytes"])


def build_count_column(title: str, key: str) -> Column:
    """Return a column of the number of messages."""
    return Column(title, key, "count", read=lambda info: info["state"]["messages"])


def build_age_column(title: str, key: str) -> Column:
    """Return a column of the time since the last message."""
    return Column(
        *(title, key, "ago"),
        read=lambda info: compute_age(info["state"].get("last_ts"), info["now"]),
        hideable=2,
    )


def date_columns(columns: Sequence[Column], now: float) -> list[Column]:
    """Return columns that read infos without the time. now: seconds since 1970."""

    def date(age: Column) -> Column:
        return age._replace(read=lambda info: age.get(date_info(info, now)))

    return [date(column) if column.kind == "ago" else column for column in columns]


def date_info(info: Json, now: float) -> Json:
    """Return an info with the time, in seconds since 1970, as `now`, in ns."""
    return {**info, "now": seconds_to_ns(now)}
