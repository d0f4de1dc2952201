"""One context and domain over time: the lines of the screen, from the answers of servers. No I/O."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter, is_
from typing import Any

from jsctl.base.units import SECOND, pluralize
from jsctl.jetstream.api import Json
from jsctl.monitor.consumer.diagnosis import find_troubles
from jsctl.monitor.consumer.facts import Facts
from jsctl.monitor.consumer.rows import ConsumerLine, build_consumer_line
from jsctl.monitor.counters import SMOOTH, Counters, Trends
from jsctl.monitor.report.figures.lists import LONG, find_filled
from jsctl.monitor.report.lines import (
    AccountLine,
    LinkLine,
    ServerLine,
    StreamLine,
    TroubleLine,
    build_account_lines,
    build_server_line,
)
from jsctl.monitor.report.listings import Listing
from jsctl.monitor.report.overview import Hosting, Limits, Overview
from jsctl.monitor.rules import objects
from jsctl.monitor.stream.rows import ReplicationRow, StreamRow, build_link_key
from jsctl.monitor.trouble import Gap, Trouble

LOOKED_AT = ("streams", "consumers", "account")
"""What an overview looks at."""

_SILENT, _LONG_SILENT = 5.0, 15.0
"""Seconds without an answer of a server that answered before, from which it is worth watching, and bad."""

_FORGOTTEN = 3600.0
"""Seconds after which a server that does not answer is taken for removed."""

_MAX_UNINTERRUPTED = 100  #: consumers diagnosed before the event loop runs, so that keys are read


class Tracker:
    """The tracked state of one context and domain. Each list is None until its data are added.

    login: what is wrong with the login. gaps: what was not looked at when it was last asked for. rounds: how
    many overviews were added. as_of: when each part was looked at by the last one, None for not.
    consumers_at: when the consumers that were asked longest ago were, in seconds since 1970; None when all
    are as old as the last answer. listings: by part. is_single: whether there is one round only, so that
    nothing is kept for the rates and trends of streams."""

    def __init__(self) -> None:
        self.streams: Sequence[StreamLine] | None = None
        self.links: Sequence[LinkLine] | None = None
        self.consumers: Sequence[ConsumerLine] | None = None
        self.accounts: Sequence[AccountLine] | None = None
        self.servers: Sequence[ServerLine] | None = None
        self.gaps: Sequence[Gap] = ()
        self.listings: dict[str, Listing] = {}
        self.consumers_at: float | None = None
        self.login: Sequence[Trouble] = ()
        self.rounds = 0
        self.is_single = False
        self.as_of: Mapping[str, datetime | None] = dict.fromkeys(LOOKED_AT)
        self._stored, self._sizes, self._rates = Counters(), Trends(SMOOTH), Trends()
        self._lags, self._pending = Trends(), Trends()
        self._delivered, self._acknowledged = Counters(), Counters()
        self._account_counters, self._account_sizes = Counters(), Trends(SMOOTH)
        self._heard: dict[str, float] = {}  #: by server, when it answered last
        self._asked_at = 0.0
        self._server_counters = Counters()
        self._rows: dict[str, StreamRow] = {}
        self._purges: dict[str, int] = {}
        self._queues: dict[str, Sequence[Trouble]] = {}
        self._troubled_streams: Sequence[StreamLine] = ()
        self._troubled_consumers: Sequence[ConsumerLine] = ()
        self._first_seen: dict[Any, float] = {}
        self._found: tuple[Sequence[object], Trouble | None, list[TroubleLine]] = (None,), None, []
        self._filled: dict[str, tuple[Sequence[Any], frozenset[str]]] = {}  #: of which lines, by list

    async def add(self, at: float, overview: Overview) -> None:
        """Add an overview. at: seconds of a monotonic clock."""
        self._replace_gaps(overview)
        self.login = overview.login
        self._keep_queues(overview)
        self.streams = self._add_streams(at, overview)
        self.links = self._add_links(at, overview)
        if self.servers is None or any(line.hosting is not None for line in self.servers):
            self.servers = [
                ServerLine(name, hosting=hosting, troubles=_find_hosting_troubles(hosting))
                for name, hosting in sorted(overview.hosting.items())
            ]
        if overview.consumers is not None:
            self.consumers = await self._add_consumers(at, overview)
        elif overview.listed is None:  # asked for, and not allowed
            self.consumers = None
        get_troubles = attrgetter("troubles")
        self._troubled_streams = [*filter(get_troubles, self.streams)]
        self._troubled_consumers = [*filter(get_troubles, self.consumers or ())]
        if not self.is_single:
            for kind in LONG:
                self.list_filled(kind)  # here, and not for each answer of another place
        if overview.account:
            self.add_account(at, overview.account)
        self.rounds += 1
        is_known = (True, overview.consumers is not None, bool(overview.account))
        self.as_of = {
            part: overview.at if known else None for part, known in zip(LOOKED_AT, is_known, strict=True)
        }

    def list_filled(self, kind: str) -> frozenset[str]:
        """Return the attributes with a value in any line of a list of LONG; see `find_filled`."""
        lines: Sequence[Any] = getattr(self, LONG[kind]) or ()
        known, filled = self._filled.get(kind, (None, frozenset()))
        if known is not lines:
            filled = find_filled(kind, lines)
            self._filled[kind] = lines, filled
        return filled

    @property
    def account_troubles(self) -> list[Trouble]:
        """What is wrong with the login, and with the account if the last overview looked at it."""
        lines = self.accounts if self.as_of["account"] else ()
        return [*self.login, *(lines[0].troubles if lines else ())]

    def _replace_gaps(self, overview: Overview) -> None:
        """Keep what is not known of parts that this overview is not about."""
        known = {"streams"} | {"account"} if overview.account else {"streams"}
        if overview.listed is None or overview.consumers is not None:
            known |= {"consumers"}
        known |= {gap.part for gap in overview.gaps}
        self.gaps = [*(gap for gap in self.gaps if gap.part not in known), *overview.gaps]

    def _keep_queues(self, overview: Overview) -> None:
        """Keep what only consumers show of streams whose turn it was not in this round."""
        waiting = overview.waiting
        self._queues = {name: own for name, own in self._queues.items() if name in waiting}
        self._queues |= overview.queues

    def add_gap(self, gap: Gap) -> None:
        """Store what is not known of a part."""
        self.gaps = [*(other for other in self.gaps if other.part != gap.part), gap]

    # -- streams and what they copy --------------------------------------------------------------------

    def _add_streams(self, at: float, overview: Overview) -> list[StreamLine]:
        rows = [*map(self._keep_figures, overview.streams)]
        lines = [self._build_stream_line(at, row, overview) for row in rows]
        self._rows = {row.stream: row for row in rows}
        self._purges = {name: count for name, count in self._purges.items() if name in self._rows}
        for counters in (self._stored, self._sizes, self._rates):
            counters.end_round()
        return sorted(lines, key=lambda line: line.row.stream)

    def _keep_figures(self, row: StreamRow) -> StreamRow:
        """Return the row of a stream with its last figures if it gave no answer: none of them is zero."""
        old = self._rows.get(row.stream)
        if row.offline is None or row.created is not None or old is None:
            return row
        return old._replace(offline=row.offline, leader=None, peers=())

    def _build_stream_line(self, at: float, row: StreamRow, overview: Overview) -> StreamLine:
        name = row.stream
        troubles = [*overview.troubles.get(name, ()), *self._queues.get(name, ())]
        if row.offline is not None:
            troubles.insert(0, Trouble(f"offline: {row.offline}", True, "STREAM_NO_LEADER"))
            return StreamLine(row, at=overview.at, troubles=troubles)
        limits = overview.limits.get(name)
        share = None if limits is None else _compute_share(row, limits)
        if self.is_single:
            return StreamLine(row, share=share, at=overview.at, troubles=troubles)
        event = self._find_event(row, self._rows.get(name), limits)
        if event == "purged":
            self._purges[name] = self._purges.get(name, 0) + 1
        epoch = (row.created, row.leader)
        rate = self._stored.rate(name, epoch, at, row.last_seq)
        rates = self._rates.add(name, row.created, at, round(rate)).values if rate is not None else ()
        size_epoch = (*epoch, self._purges.get(name, 0))
        sizes = self._sizes.add(name, size_epoch, at, row.bytes)
        soonest = None
        if limits is not None:
            spans = [sizes.seconds_to(limits.bytes)] if limits.bytes > 0 else []
            if limits.messages > 0:
                counts = self._sizes.add((name, "messages"), size_epoch, at, row.messages)
                spans.append(counts.seconds_to(limits.messages))
            known_spans = [span for span in spans if span is not None]
            soonest = _to_span(min(known_spans)) if known_spans else None
        return StreamLine(row, rate, rates, sizes.slope, soonest, share, overview.at, troubles, event)

    def _find_event(self, row: StreamRow, old: StreamRow | None, limits: Limits | None) -> Any:
        if old is None or old.offline or row.offline:
            return ""
        if old.created != row.created:
            return "recreated"
        if old.leader != row.leader:
            return "new leader"
        stored = row.last_seq - old.last_seq
        if stored < 0:
            return "went back"
        removed = old.messages + stored - row.messages
        # Work queues lose acknowledged messages, streams at their limits one for each new message.
        is_ordinary = limits is not None and limits.retention != "limits"
        if not is_ordinary and removed * 2 >= old.messages > 0 and removed > 2 * stored:
            return "purged"
        return ""

    def _add_links(self, at: float, overview: Overview) -> list[LinkLine]:
        created = {row.stream: row.created for row in overview.streams}
        rates = {line.row.stream: line.rate for line in self.streams or ()}
        lines = []
        for row in overview.links:
            epoch = (created.get(row.stream), self._purges.get(row.origin, 0))
            trend = self._lags.add(build_link_key(row), epoch, at, row.lag)
            troubles = objects.check_link(
                row,
                trend.values[-SMOOTH:],
                created.get(row.stream),
                overview.at,
                overview.link_troubles.get(build_link_key(row), ()),
                overview.troubles.get(row.stream, ()),
                rates.get(row.stream),
            )
            lines.append(LinkLine(row, trend, _to_span(trend.seconds_to_zero), troubles))
        self._lags.end_round()
        return sorted(lines, key=lambda line: (line.row.stream, line.row.kind, line.row.origin))

    # -- consumers -------------------------------------------------------------------------------------

    async def _add_consumers(self, at: float, overview: Overview) -> list[ConsumerLine]:
        lines = self._keep_consumer_lines(overview)
        for number, info in enumerate(overview.consumers or ()):
            if number % _MAX_UNINTERRUPTED == 0:
                await asyncio.sleep(0)
            lines.append(self._build_consumer_line(at, info, overview))
        for counters in (self._pending, self._delivered, self._acknowledged):
            counters.end_round()
        lines.sort(key=lambda line: (line.stream, line.consumer))
        return lines

    def _keep_consumer_lines(self, overview: Overview) -> list[ConsumerLine]:
        """Return the lines of consumers that were not asked for in this round, because it was not the turn of
        their streams."""
        waiting = overview.waiting
        kept_lines = [line for line in self.consumers or () if line.stream in waiting]
        keys = [(line.stream, line.consumer) for line in kept_lines]
        for counters in (self._pending, self._delivered, self._acknowledged):
            counters.keep(keys)
        return kept_lines

    def _build_consumer_line(self, at: float, info: Json, overview: Overview) -> ConsumerLine:
        line = build_consumer_line(info, overview.at)
        key, epoch = (line.stream, line.consumer), (info.get("created"), line.leader)
        delivered, floor = info.get("delivered") or {}, info.get("ack_floor") or {}
        purges = self._purges.get(line.stream, 0)
        trend = self._pending.add(key, (info.get("created"), purges), at, line.unprocessed)
        facts = Facts(line.stream, line.consumer, info, overview.consumed.get(line.stream, {}))
        troubles = find_troubles(facts)
        if objects.is_growing(trend.values[-SMOOTH:]):
            troubles.append(Trouble("falling behind", False, "FALLING_BEHIND"))
        return line._replace(
            trend=trend,
            drain=_to_span(trend.seconds_to_zero),
            delivered=self._delivered.rate(key, epoch, at, delivered.get("consumer_seq", 0)),
            acknowledged=self._acknowledged.rate(key, epoch, at, floor.get("consumer_seq", 0)),
            troubles=troubles,
        )

    # -- accounts and servers --------------------------------------------------------------------------

    def add_account(self, at: float, info: Json) -> None:
        """Store the account's INFO."""
        self.gaps = [gap for gap in self.gaps if gap.part != "account"]
        api = info.get("api") or {}
        requests = self._account_counters.rate("total", None, at, int(api.get("total", 0)))
        errors = self._account_counters.rate("errors", None, at, int(api.get("errors", 0)))
        troubles = objects.check_account(info)
        if errors:
            troubles.append(Trouble(f"{errors:,.1f} API errors per second", False, "API_ERRORS"))
        lines = []
        for line in build_account_lines(info):
            sizes = self._account_sizes.add(line.tier, None, at, line.file)
            until = _to_span(sizes.seconds_to(line.max_file)) if line.max_file > 0 else None
            lines.append(
                line._replace(
                    growth=sizes.slope, limit=until, requests=requests, errors=errors, troubles=troubles
                )
            )
        self._account_counters.end_round()
        self._account_sizes.end_round()
        self.accounts = lines

    def add_servers(self, at: float, replies: Sequence[Json], jetstream: Sequence[Json]) -> None:
        """Add the servers' statistics (PING.STATSZ) and use of JetStream (PING.JSZ), both from the system
        account."""
        self.gaps = [gap for gap in self.gaps if gap.part != "servers"]
        names = [str((reply.get("server") or {}).get("name", "")) for reply in replies]
        self._heard = {name: last for name, last in self._heard.items() if at - last < _FORGOTTEN}
        self._heard |= dict.fromkeys(names, at)
        self._asked_at = at
        uses = {(reply.get("server") or {}).get("id"): reply for reply in jetstream}
        self.servers = sorted(
            (
                self._build_server_line(at, reply, uses.get((reply.get("server") or {}).get("id"), {}))
                for reply in replies
            ),
            key=lambda line: (line.cluster, line.server),
        )
        self._server_counters.end_round()

    def _build_server_line(self, at: float, reply: Json, use: Json) -> ServerLine:
        line = build_server_line(reply, use)
        key, stats, row = (reply.get("server") or {}).get("id"), line.statistics, line.row

        def rate(name: str, value: int) -> float | None:
            return self._server_counters.rate((key, name), stats.get("start"), at, value)

        errors = None if row is None else rate("errors", row.errors)
        troubles = objects.check_server(use.get("data") or {})
        if errors:
            troubles.append(Trouble(f"{errors:,.1f} API errors per second", False, "API_ERRORS"))
        if rate("slow", int(stats.get("slow_consumers", 0))):
            troubles.append(Trouble("closed connections that read too slowly", False, "SLOW_CONSUMERS"))
        return line._replace(
            received=rate("received", int((stats.get("received") or {}).get("msgs", 0))),
            sent=rate("sent", int((stats.get("sent") or {}).get("msgs", 0))),
            requests=None if row is None else rate("requests", row.api),
            errors=errors,
            troubles=troubles,
        )

    # -- problems --------------------------------------------------------------------------------------

    def problems(self, now: float, failure: Trouble | None = None) -> list[TroubleLine]:
        """Return the problems, the worst first, each with the time when it was first seen. now: seconds since
        1970. failure: why the place does not answer; None if it does. Found once for each answer of it."""
        lists = self.login, self.accounts, self.streams, self.links, self.consumers, self.servers
        sources = (*lists, self._asked_at)
        known, known_failure, found = self._found
        if failure == known_failure and all(map(is_, sources, known)):
            return found
        failures = [] if failure is None else [TroubleLine("context", (), [failure], now)]
        lines = [*failures, *self._find_problems(now)]
        found = [line._replace(since=self._first_seen.get(line.key, now)) for line in lines]
        self._first_seen = {line.key: line.since for line in found}
        found.sort(key=lambda line: (-line.level, line.kind, line.name))
        self._found = sources, failure, found
        return found

    def _find_problems(self, now: float) -> Iterator[TroubleLine]:
        for trouble in self.login:
            yield TroubleLine("context", (), [trouble], now)
        for account in self.accounts or ():
            for trouble in account.troubles:
                yield TroubleLine("account", (account.tier,), [trouble], now)
        for stream in self._troubled_streams:
            for trouble in stream.troubles:
                yield TroubleLine("stream", (stream.row.stream,), [trouble], now)
        for link in self.links or ():
            row: ReplicationRow = link.row
            for trouble in link.troubles:
                described = trouble._replace(says=trouble.says or row.error)
                yield TroubleLine(row.kind, (row.stream, row.origin), [described], now, link.drain)
        for consumer in self._troubled_consumers:
            name = (consumer.stream, consumer.consumer)
            yield TroubleLine("consumer", name, consumer.troubles, now, consumer.drain)
        for server in self.servers or ():
            for trouble in server.troubles:
                yield TroubleLine("server", (server.server,), [trouble], now)
        for known, last in self._heard.items():
            if (silence := self._asked_at - last) >= _SILENT:
                says = f"it answered {int(silence)}s earlier: it has stopped, or cannot be reached"
                trouble = Trouble("no longer answers", silence >= _LONG_SILENT, "SERVER_SILENT", says)
                yield TroubleLine("server", (known,), [trouble], now)


def _find_hosting_troubles(hosting: Hosting) -> list[Trouble]:
    troubles = []
    if hosting.offline:
        troubles.append(
            Trouble(f"offline for {pluralize(hosting.offline, 'stream')}", True, "REPLICA_OFFLINE")
        )
    if hosting.behind:
        troubles.append(Trouble(f"behind for {pluralize(hosting.behind, 'stream')}", False, "REPLICA_BEHIND"))
    return troubles


def _compute_share(row: StreamRow, limits: Limits) -> float | None:
    """Return how full a stream is by its nearest limit, 0 to 1; None without a limit."""
    shares = [
        used / limit
        for used, limit in ((row.bytes, limits.bytes), (row.messages, limits.messages))
        if limit > 0
    ]
    return max(shares, default=None)


def _to_span(seconds: float | None) -> int | None:
    """Return whole seconds in ns; None when unknown, or above 1000 days, which would mean nothing."""
    return None if seconds is None or seconds > 1000 * 86400 else round(seconds) * SECOND
