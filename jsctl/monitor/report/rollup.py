"""Recorded rounds rolled up by hour or day: the same rows as the tables of `jsctl export rollup`, without
Spark."""

from collections.abc import Iterator
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

from jsctl.monitor.report.replay import Replay
from jsctl.monitor.report.round_json import PlaceRound
from jsctl.monitor.server.rows import build_jetstream_row
from jsctl.units import NEVER, seconds_to_ns, to_datetime

Row = dict[str, Any]

_KEYS = {
    "streams": ("stream",),
    "consumers": ("stream", "consumer"),
    "replication": ("stream", "kind", "origin", "api_prefix", "filters"),
    "servers": ("server", "cluster"),
}
"""What distinguishes the rows of a report, besides context and domain."""

_COUNTERS = {
    "streams": ("last_seq",),
    "consumers": ("delivered",),
    "replication": (),
    "servers": ("api", "errors"),
}


class _Group:
    """The samples of one stream, consumer, link or server in one period."""

    def __init__(self) -> None:
        self.samples: list[Row] = []
        self.increase: dict[str, int] = {}
        self.seconds = 0.0
        self.peak = 0.0
        self.resets = 0
        self.growth = 0

    def add(self, sample: Row, previous: Row | None, counters: tuple[str, ...]) -> None:
        """Add a sample. before: the previous one, also of an earlier period."""
        self.samples.append(sample)
        if previous is None:
            return
        span = sample["at"] - previous["at"]
        self.seconds += span
        is_recreated = sample.get("created") != previous.get("created")
        went_back = any(sample[name] < previous[name] for name in counters)
        self.resets += is_recreated or went_back
        for name in counters:
            # A recreated counter starts from zero; how much one that only went back has added is unknown.
            rise = sample[name] if is_recreated else max(0, sample[name] - previous[name])
            self.increase[name] = self.increase.get(name, 0) + rise
            self.peak = max(self.peak, rise / span if span > 0 else 0.0)
        self.growth += sample.get("bytes", 0) - previous.get("bytes", 0)

    def rate(self, counter: str) -> float | None:
        """Return the increase per second, None for a single sample."""
        return self.increase.get(counter, 0) / self.seconds if self.seconds > 0 else None


def roll_up(
    replay: Replay,
    *,
    daily: bool,
    since: datetime | None = None,
    until: datetime | None = None,
    pattern: str = "",
) -> dict[str, list[Row]]:
    """Return rows by report (streams, consumers, replication, servers), oldest first, of streams that match
    the glob `pattern`, from `since` up to `until` (exclusive). Raises BadInput for a damaged round."""
    groups: dict[str, dict[tuple[Any, ...], _Group]] = {name: {} for name in _KEYS}
    previous_samples: dict[tuple[Any, ...], Row] = {}
    for number, at in enumerate(replay.times):
        time = to_datetime(seconds_to_ns(at))
        if (since and time < since) or (until and time >= until):
            continue
        hour = 0 if daily else time.hour
        period = time.replace(hour=hour, minute=0, second=0, microsecond=0)
        for place in replay.places(number):
            for report, sample in _list_samples(place):
                if pattern and "stream" in sample and not fnmatchcase(sample["stream"], pattern):
                    continue
                sample["at"] = at
                names = (place.context, place.domain, *(sample[key] for key in _KEYS[report]))
                group = groups[report].setdefault((period, *names), _Group())
                group.add(sample, previous_samples.get((report, *names)), _COUNTERS[report])
                previous_samples[(report, *names)] = sample
    return {
        report: [
            {
                **dict(zip(("period", "context", "domain", *_KEYS[report]), key, strict=True)),
                **_SUMMARIES[report](group),
            }
            for key, group in sorted(report_groups.items(), key=lambda pair: pair[0][0])
        ]
        for report, report_groups in groups.items()
    }


def _list_samples(place: PlaceRound) -> Iterator[tuple[str, Row]]:
    if place.answers is None:
        return
    if (overview := place.answers.overview) is not None:
        for row in overview.streams:
            limits = overview.limits.get(row.stream)
            yield (
                "streams",
                {
                    "stream": row.stream,
                    "messages": row.messages,
                    "bytes": row.bytes,
                    "last_seq": row.last_seq,
                    "created": row.created,
                    "max_bytes": limits.bytes if limits is not None else -1,
                },
            )
        for info in overview.consumers or ():
            yield (
                "consumers",
                {
                    "stream": info["stream_name"],
                    "consumer": info["name"],
                    "unprocessed": int(info.get("num_pending", 0)),
                    "delivered": int((info.get("delivered") or {}).get("consumer_seq", 0)),
                    "created": info.get("created"),
                },
            )
        for link in overview.links:
            values = {key: getattr(link, key) for key in _KEYS["replication"]}
            yield "replication", {**values, "lag": link.lag, "active": link.active, "error": link.error}
    if place.answers.servers is not None:
        for server in map(build_jetstream_row, place.answers.servers[1]):
            keys = ("server", "cluster", "bytes", "api", "errors")
            yield "servers", {key: getattr(server, key) for key in keys}


def _summarize_stream(group: _Group) -> Row:
    last = group.samples[-1]
    free_bytes, days = last["max_bytes"] - last["bytes"], None
    if last["max_bytes"] > 0 and group.growth > 0 and group.seconds > 0:
        days = max(0, free_bytes) / (group.growth / group.seconds * 86400)
    return {
        "messages": last["messages"],
        "bytes": last["bytes"],
        "stored": group.increase.get("last_seq", 0),
        "message_rate": group.rate("last_seq"),
        "peak_rate": group.peak,
        "growth": group.growth,
        "resets": group.resets,
        "days_to_limit": days,
    }


def _summarize_consumer(group: _Group) -> Row:
    lags = sorted(sample["unprocessed"] for sample in group.samples)
    return {
        "unprocessed": group.samples[-1]["unprocessed"],
        "lag_p50": lags[len(lags) // 2],
        "lag_p95": lags[len(lags) * 95 // 100],
        "lag_max": lags[-1],
        "delivery_rate": group.rate("delivered"),
    }


def _summarize_link(group: _Group) -> Row:
    lags = sorted(sample["lag"] for sample in group.samples)
    spans = [sample["active"] for sample in group.samples if sample["active"] != NEVER]
    return {
        "lag": group.samples[-1]["lag"],
        "lag_p95": lags[len(lags) * 95 // 100],
        "lag_max": lags[-1],
        "active_max": max(spans, default=None),
        "errors": sum(bool(sample["error"]) for sample in group.samples),
    }


def _summarize_server(group: _Group) -> Row:
    return {
        "bytes": group.samples[-1]["bytes"],
        "api_rate": group.rate("api"),
        "errors": group.increase.get("errors", 0),
        "restarts": group.resets,
    }


_SUMMARIES = {
    "streams": _summarize_stream,
    "consumers": _summarize_consumer,
    "replication": _summarize_link,
    "servers": _summarize_server,
}
