"""What `export rollup` and `report history` make of the samples in an hour or a day (UTC): one definition,
which Spark runs as SQL (`rollup.py`) and plain Python on recordings (`recorded.py`).

A sample that lacks a counter or gauge that is compared, or of a stream that was offline, does not count. Each
other one is compared with the one before it, however long ago and also of an earlier period; the difference
belongs to the period of the later one:

- A counter increases. One that fell restarted from zero: its value is the increase. So is a stream's last
  sequence when the stream was created again. If that fell without, a restore set it back, and how much was
  stored is unknown: 0.
- A gauge changes, by less than zero after a purge or when a stream was created again.
- Percentiles are exact: of n sorted values, the one at `share * (n - 1)`, counted from 0, and between two
  values on the line between them. The median of 0 and 100 is 50.
"""

from collections.abc import Callable, Sequence
from math import ceil, floor
from typing import Any, NamedTuple

Sample = dict[str, Any]

PERIODS = {"hourly": "HOUR", "daily": "DAY"}


class Aggregate(NamedTuple):
    """How the samples of a period become one value. sql: an aggregate of Spark, with a measure's arguments as
    {0}, {1}, ... compute: the same from samples, oldest first, and the arguments."""

    sql: str
    compute: Callable[..., Any]


class Measure(NamedTuple):
    """A column of a rollup. arguments: those of its aggregate: columns of samples, or a number.

    Besides their own, samples have `seconds` (since the one before), `reset`, the increase of each counter
    (`last_seq_new`) and the change of each gauge (`bytes_change`).
    """

    name: str
    aggregate: Aggregate
    arguments: Sequence[Any] = ()


class RollupReport(NamedTuple):
    """The rollup of one table of samples.

    keys: columns that identify the subject of a row, besides context and domain. counters: columns that count
    up. gauges: further columns whose changes are needed. identity: the only column whose change means that
    counters restarted from zero; empty if any decrease does. absent: a column with a value only in samples
    that do not count.
    """

    name: str
    keys: Sequence[str]
    counters: Sequence[str]
    gauges: Sequence[str]
    measures: Sequence[Measure]
    identity: str = ""
    absent: str = ""


def _list_known(samples: Sequence[Sample], column: str) -> list[Any]:
    return [sample[column] for sample in samples if sample[column] is not None]


def _compute_rate(samples: Sequence[Sample], column: str, per: int) -> float | None:
    seconds = sum(_list_known(samples, "seconds"))
    return float(sum(_list_known(samples, column)) / seconds * per) if seconds else None


def _compute_percentile(samples: Sequence[Sample], column: str, share: float) -> float | None:
    values = sorted(_list_known(samples, column))
    if not values:
        return None
    place = share * (len(values) - 1)
    lower, upper = values[floor(place)], values[ceil(place)]
    return float(lower + (upper - lower) * (place - floor(place)))


def _compute_days(samples: Sequence[Sample], size: str, limit: str, change: str) -> float | None:
    growth, last = _compute_rate(samples, change, 86400), samples[-1]
    if not growth or growth < 0 or not last[limit] or last[limit] < 0:
        return None
    return float(max(last[limit] - last[size], 0) / growth)


LAST = Aggregate("max_by({0}, sampled_at)", lambda samples, column: samples[-1][column])
MOST = Aggregate("max({0})", lambda samples, column: max(_list_known(samples, column), default=None))
TOTAL = Aggregate("sum({0})", lambda samples, column: sum(_list_known(samples, column)))
RATE = Aggregate("sum({0}) / nullif(sum(seconds), 0) * {1}", _compute_rate)
PEAK = Aggregate(
    "max({0} / nullif(seconds, 0))",
    lambda samples, column: max((s[column] / s["seconds"] for s in samples if s["seconds"]), default=None),
)
PERCENTILE = Aggregate("percentile({0}, {1})", _compute_percentile)
RESETS = Aggregate("count_if(reset)", lambda samples: sum(sample["reset"] for sample in samples))
FILLED = Aggregate("count_if({0} <> '')", lambda samples, column: sum(bool(s[column]) for s in samples))
MISSING = Aggregate("count_if({0} IS NULL)", lambda samples, column: sum(s[column] is None for s in samples))
SAMPLES = Aggregate("count(*)", len)
DAYS = Aggregate(
    "CASE WHEN max_by({1}, sampled_at) > 0 AND sum({2}) > 0 THEN greatest(max_by({1}, sampled_at)"
    " - max_by({0}, sampled_at), 0) / (sum({2}) / nullif(sum(seconds), 0) * 86400) END",
    _compute_days,
)


def _list_last(*columns: str) -> list[Measure]:
    return [Measure(column, LAST, (column,)) for column in columns]


def _list_lags(column: str) -> list[Measure]:
    percentiles = [Measure(f"lag_p{share}", PERCENTILE, (column, share / 100)) for share in (50, 95, 99)]
    return [*percentiles, Measure("lag_max", MOST, (column,))]


REPORTS = (
    RollupReport(
        "streams",
        keys=("stream",),
        counters=("last_seq",),
        gauges=("bytes",),
        identity="created",
        absent="offline",
        measures=(
            Measure("samples", SAMPLES),
            *_list_last("messages", "bytes", "consumers", "max_bytes", "max_messages"),
            Measure("stored", TOTAL, ("last_seq_new",)),
            Measure("message_rate", RATE, ("last_seq_new", 1)),
            Measure("peak_rate", PEAK, ("last_seq_new",)),
            Measure("growth", TOTAL, ("bytes_change",)),
            Measure("growth_per_day", RATE, ("bytes_change", 86400)),
            Measure("resets", RESETS),
            Measure("lost", MOST, ("lost",)),
            Measure("deleted", MOST, ("deleted",)),
            Measure("days_to_limit", DAYS, ("bytes", "max_bytes", "bytes_change")),
        ),
    ),
    RollupReport(
        "consumers",
        keys=("stream", "consumer"),
        counters=("delivered",),
        gauges=(),
        measures=(
            Measure("samples", SAMPLES),
            *_list_last("unprocessed"),
            *_list_lags("unprocessed"),
            Measure("delivered", TOTAL, ("delivered_new",)),
            Measure("delivery_rate", RATE, ("delivered_new", 1)),
            Measure("ack_pending_max", MOST, ("ack_pending",)),
            Measure("redelivered_max", MOST, ("redelivered",)),
            Measure("resets", RESETS),
        ),
    ),
    RollupReport(
        "replication",
        keys=("stream", "kind", "origin", "api_prefix", "filters"),
        counters=(),
        gauges=(),
        measures=(
            Measure("samples", SAMPLES),
            *_list_last("lag"),
            *_list_lags("lag"),
            Measure("active_max", MOST, ("active",)),
            Measure("errors", FILLED, ("error",)),
            Measure("never_active", MISSING, ("active",)),
        ),
    ),
    RollupReport(
        "servers",
        keys=("server", "cluster"),
        counters=("api", "errors"),
        gauges=(),
        measures=(
            Measure("samples", SAMPLES),
            *_list_last("streams", "consumers", "messages", "bytes", "memory", "file"),
            Measure("api", TOTAL, ("api_new",)),
            Measure("api_rate", RATE, ("api_new", 1)),
            Measure("errors", TOTAL, ("errors_new",)),
            Measure("restarts", RESETS),
            Measure("pending_max", MOST, ("pending",)),
        ),
    ),
)
