"""The metrics of streams, consumers and accounts. No I/O.

Names and labels are those of prometheus-nats-exporter; metrics that it does not have begin with `jsctl_`. An
account's login is enough, so servers are identified by name alone. Only the leader's figures are used, as
sums would count replicas twice. Consumers that are not durable share one series, as there is no end of their
names.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from jsctl.base.units import NEVER, SECOND, compute_age, parse_time_ns, read_known_time
from jsctl.jetstream.api import Json
from jsctl.monitor.consumer.rows import ConsumerLine
from jsctl.monitor.exporter import problems as problem_samples
from jsctl.monitor.exporter.advisory_counts import AdvisoryCounts
from jsctl.monitor.exporter.problems import (
    EPHEMERAL,
    build_gap_samples,
    build_problem_samples,
    find_ephemeral,
)
from jsctl.monitor.exporter.sample import Labels, Sample
from jsctl.monitor.report.figures.figure import Figure
from jsctl.monitor.report.figures.lists import FIGURES, list_metrics
from jsctl.monitor.report.lines import LinkLine, ServerLine, StreamLine, TroubleLine
from jsctl.monitor.report.overview import Follower
from jsctl.monitor.report.places import Answers, Place

Names = Literal["all", "jetstream", "jsctl"]


class Account(NamedTuple):
    """An account of a place, and its only server. Empty when unknown."""

    key: str = ""
    name: str = ""
    server: str = ""
    cluster: str = ""


HELP: Mapping[str, str] = {
    "jetstream_server_jetstream_disabled": "Whether JetStream is off",
    "jetstream_server_total_streams": "Streams that the server leads, or holds where no account is asked",
    "jetstream_server_total_consumers": "Consumers that the server leads, or holds where no account is asked",
    "jetstream_server_total_messages": "Messages in those streams",
    "jetstream_server_total_message_bytes": "Bytes in those streams",
    "jetstream_stream_limit_bytes": "Bytes that the stream may hold, -1 for no limit",
    "jetstream_stream_limit_messages": "Messages that the stream may hold, -1 for no limit",
    "jetstream_stream_source_lag": "Messages that the stream is behind a source",
    "jetstream_stream_source_active_duration_ns": "Nanoseconds since a source was heard from, -1 for never",
    "jetstream_stream_mirror_lag": "Messages that the stream is behind its mirror's origin",
    "jetstream_stream_mirror_active_duration_ns": "Nanoseconds since the origin was heard from, -1 for never",
    "jetstream_consumer_delivered_consumer_seq": "Last consumer sequence that was delivered",
    "jetstream_consumer_delivered_stream_seq": "Last stream sequence that was delivered",
    "jetstream_consumer_ack_floor_consumer_seq": "Consumer sequence up to which all is acknowledged",
    "jetstream_consumer_ack_floor_stream_seq": "Stream sequence up to which all is acknowledged",
    "jetstream_consumer_num_ack_pending": "Messages that were delivered and are not acknowledged",
    "jetstream_consumer_num_pending": "Messages that are still to be delivered",
    "jetstream_consumer_num_redelivered": "Messages that were delivered more than once",
    "jetstream_consumer_num_waiting": "Pulls that wait for messages",
    "jetstream_consumer_last_delivery_seconds": "Seconds since the last delivery",
    "jetstream_consumer_last_ack_seconds": "Seconds since the last acknowledgement",
    "jsctl_up": "Whether the context and domain answered in the last round",
    "jsctl_last_answer_timestamp_seconds": "When the context and domain answered last",
    "jsctl_stream_replica_lag": "Operations that a replica of the stream is behind its leader",
    "jsctl_stream_replica_offline": "Whether a replica of the stream is offline",
    "jsctl_stream_replica_current": "Whether a replica of the stream is up to date",
    "jsctl_stream_subject_messages": "Messages of a subject; (other) is all that have no series of their own",
    "jsctl_advisories_total": "Advisories of a kind since the exporter started",
    "jsctl_consumer_max_deliveries_total": "Messages given up since the exporter started",
    "jsctl_consumer_terminated_total": "Messages terminated since the exporter started",
    "jsctl_consumers": "Consumers behind one series of the other metrics, 1 for a durable one",
    **{
        name: metric.help for own in FIGURES.values() for metric in list_metrics(own) for name in metric.names
    },
    **problem_samples.HELP,
}
"""The help of every metric, in the order of the output."""


def build_samples(
    place: Place,
    answers: Answers | None,
    problems: Sequence[TroubleLine],
    account: Account,
    names: Names,
    *,
    subjects: Mapping[str, Mapping[str, int]] = MappingProxyType({}),
    advisories: AdvisoryCounts | None = None,
    is_alone: bool = False,
) -> Iterator[Sample]:
    """Yield the samples of a context and domain.

    answers: of this round; None when it did not answer, which is then all that is reported. subjects: the
    messages by subject of streams. advisories: None for no counters. is_alone: whether no other place reports
    streams.
    """
    samples = _build_all_samples(place, answers, problems, account, subjects, advisories, is_alone)
    return (
        sample
        for sample in samples
        if names == "all" or (names == "jsctl") == sample.metric.startswith("jsctl_")
    )


def _build_all_samples(
    place: Place,
    answers: Answers | None,
    problems: Sequence[TroubleLine],
    account: Account,
    subjects: Mapping[str, Mapping[str, int]],
    advisories: AdvisoryCounts | None,
    is_alone: bool,
) -> Iterator[Sample]:
    where = {"context": place.context, "domain": place.where}
    answers = Answers() if answers is None or place.error else answers
    overview = answers.overview
    yield Sample("jsctl_up", where, float(answers != Answers()))
    if place.at is not None:
        yield Sample("jsctl_last_answer_timestamp_seconds", where, place.at)
    yield from build_gap_samples(place, answers, where)
    if advisories is not None and any(part is not None for part in (overview, answers.servers)):
        yield from advisories.build_samples(where)
    if answers.servers is not None:
        yield from _build_server_samples(place.tracker.servers or (), place.context, is_alone)
    if overview is None:
        kinds = ("context",) if answers.servers is None else ("context", "server")
        yield from build_problem_samples([each for each in problems if each.kind in kinds], where, set())
        return
    name = account.name or account.key
    account_labels = {"account": name, "account_name": name, "account_id": account.key}
    hosts = _ServerTotals(where, account_labels, account)
    tracker = place.tracker
    labels: dict[str, dict[str, str]] = {}
    for stream in tracker.streams or ():
        name = stream.row.stream
        labels[name] = hosts.stream_labels(stream)
        yield from _build_stream_samples(stream, labels[name])
        for subject, count in subjects.get(name, {}).items():
            yield Sample("jsctl_stream_subject_messages", {**labels[name], "subject": subject}, count)
        if stream.row.offline is None:
            limits = overview.limits.get(name)
            yield Sample("jetstream_stream_limit_bytes", labels[name], limits.bytes if limits else -1)
            yield Sample("jetstream_stream_limit_messages", labels[name], limits.messages if limits else -1)
    for name, followers in overview.followers.items():
        yield from _build_replica_samples(followers, labels.get(name, where), hosts)
    for link in tracker.links or ():
        yield from _build_link_samples(link, labels.get(link.row.stream, where))
    for sample in _build_consumer_samples(overview.consumers or (), tracker.consumers or (), labels, hosts):
        yield sample
        if advisories is not None and sample.metric == "jsctl_consumers":
            yield from advisories.build_consumer_samples(sample.labels)
    for line in tracker.accounts or ():
        yield from _build_figure_samples("accounts", line, {**where, **account_labels, "tier": line.tier})
    yield from hosts.totals()
    yield from build_problem_samples(problems, where, find_ephemeral(overview.consumers or ()))


class _ServerTotals:
    """The totals of what each server leads."""

    def __init__(self, where: Labels, account_labels: Labels, account: Account) -> None:
        self._where = where
        self._account_labels = account_labels
        self._account = account
        self._totals: dict[tuple[str, str], list[int]] = {}
        if account.server:
            self.add_server("", "")

    def add_server(self, server: str, cluster: str) -> dict[str, str]:
        """Add a server, which may lead nothing, and return its labels. An empty name is the account's."""
        server, cluster = server or self._account.server, cluster or self._account.cluster
        self._totals.setdefault((server, cluster), [0, 0, 0, 0])
        return self._build_labels(server, cluster)

    def _build_labels(self, server: str, cluster: str) -> dict[str, str]:
        """Return the labels of a server.

        Without a cluster the server is its own meta leader; in a cluster only the system account knows.
        """
        meta = {} if cluster or not server else {"is_meta_leader": "true"}
        return {**self._where, "server_id": server, "server_name": server, "cluster": cluster, **meta}

    def _add(self, labels: Labels, *amounts: int) -> None:
        totals = self._totals[labels["server_name"], labels["cluster"]]
        for index, amount in enumerate(amounts):
            totals[index] += amount

    def stream_labels(self, line: StreamLine) -> dict[str, str]:
        """Return the labels of a stream's metrics, and count it for its leader."""
        row = line.row
        place = self.add_server(row.leader or "", row.cluster or "")
        self._add(place, 1, 0, row.messages, row.bytes)
        stream = {
            "stream_name": row.stream,
            "stream_leader": row.leader or "",
            "is_stream_leader": "true",
            "stream_raft_group": row.raft_group,
        }
        return {**place, **self._account_labels, **stream}

    def consumer_labels(self, stream: Labels, name: str, leader: str, description: str) -> dict[str, str]:
        """Return the labels of a consumer's metrics."""
        place = self.add_server(leader or stream.get("stream_leader", ""), stream.get("cluster", ""))
        names = {"consumer_name": name, "consumer_leader": leader, "is_consumer_leader": "true"}
        return {**stream, **place, **names, "consumer_desc": description}

    def count_consumers(self, labels: Labels, count: int) -> None:
        """Count consumers for the server in their labels."""
        self._add(labels, 0, count, 0, 0)

    def totals(self) -> Iterator[Sample]:
        """Yield the totals of each server."""
        for (server, cluster), amounts in self._totals.items():
            labels = self._build_labels(server, cluster)
            yield Sample("jetstream_server_jetstream_disabled", labels, 0)
            for word, amount in zip(_TOTALS, amounts, strict=True):
                yield Sample(f"jetstream_server_total_{word}", labels, amount)


_TOTALS = ("streams", "consumers", "messages", "message_bytes")


def _build_figure_samples(kind: str, line: Any, labels: Labels) -> Iterator[Sample]:
    """Yield the known figures of a line that have a metric."""
    for figure in FIGURES[kind]:
        if figure.metric is not None:
            value = _to_number(figure, figure.build_reader()(line))
            value = figure.metric.unknown if value is None else value
            if value is not None:
                yield from (Sample(name, labels, value) for name in figure.metric.names)


def _to_number(figure: Figure, value: Any) -> float | None:
    match figure.kind:
        case "text":
            return float(bool(value))
        case "text?":
            return float(value is not None)
        case "ns?":
            return _to_seconds(value)
        case "time?":
            return None if value is None else _to_seconds(parse_time_ns(value))
    return None if value is None else float(value)


def _build_stream_samples(line: StreamLine, labels: Labels) -> Iterator[Sample]:
    samples = _build_figure_samples("streams", line, labels)
    if line.row.offline is None:
        return samples
    return (sample for sample in samples if sample.metric == "jsctl_stream_offline")


def _build_replica_samples(
    followers: Sequence[Follower], stream: Labels, hosts: _ServerTotals
) -> Iterator[Sample]:
    for follower in followers:
        hosts.add_server(follower.name, stream.get("cluster", ""))
        labels = {**stream, "replica": follower.name}
        yield Sample("jsctl_stream_replica_lag", labels, follower.lag)
        yield Sample("jsctl_stream_replica_offline", labels, float(follower.is_offline))
        yield Sample("jsctl_stream_replica_current", labels, float(follower.is_current))


def _build_link_samples(line: LinkLine, stream: Labels) -> Iterator[Sample]:
    row = line.row
    origin_labels = {
        f"{row.kind}_name": row.origin,
        f"{row.kind}_api": row.api_prefix,
        f"{row.kind}_deliver": row.deliver,
        f"{row.kind}_filter": row.filters,
    }
    labels = {**stream, **origin_labels}
    yield Sample(f"jetstream_stream_{row.kind}_lag", labels, row.lag)
    yield Sample(f"jetstream_stream_{row.kind}_active_duration_ns", labels, row.active)
    common_labels = {
        **stream,
        "kind": row.kind,
        "origin": row.origin,
        "origin_api": row.api_prefix,
        "origin_deliver": row.deliver,
        "origin_filter": row.filters,
    }
    yield from _build_figure_samples("replication", line, common_labels)


def _build_consumer_samples(
    infos: Sequence[Json],
    lines: Sequence[ConsumerLine],
    labels: Mapping[str, Labels],
    hosts: _ServerTotals,
) -> Iterator[Sample]:
    by_key = {(line.stream, line.consumer): line for line in lines}
    ephemeral: dict[str, list[Json]] = {}
    unnamed = find_ephemeral(infos)
    for info in infos:
        stream = str(info["stream_name"])
        config = info.get("config") or {}
        if (stream, str(info["name"])) in unnamed:
            ephemeral.setdefault(stream, []).append(info)
            continue
        leader = str((info.get("cluster") or {}).get("leader") or "")
        description = str(config.get("description") or "")
        consumer_labels = hosts.consumer_labels(
            labels.get(stream, {}), str(info["name"]), leader, description
        )
        hosts.count_consumers(consumer_labels, 1)
        yield Sample("jsctl_consumers", consumer_labels, 1)
        yield from _build_known_samples(_sum_up_consumers([info]), consumer_labels)
        line = by_key.get((stream, str(info["name"])))
        if line is not None:
            yield from _build_figure_samples("consumers", line, consumer_labels)
    for stream, stream_infos in ephemeral.items():
        consumer_labels = hosts.consumer_labels(labels.get(stream, {}), EPHEMERAL, "", "")
        hosts.count_consumers(consumer_labels, len(stream_infos))
        yield Sample("jsctl_consumers", consumer_labels, len(stream_infos))
        yield from _build_known_samples(_sum_up_consumers(stream_infos), consumer_labels)


def _sum_up_consumers(infos: Sequence[Json]) -> dict[str, float | None]:
    """Return totals of consumers: sums, the furthest delivery, the lowest ack floor, the latest times."""

    def total(key: str) -> int:
        return sum(int(info.get(key, 0)) for info in infos)

    def list_values(part: str, key: str) -> list[int]:
        return [int((info.get(part) or {}).get(key, 0)) for info in infos]

    def compute_seconds_since(part: str) -> float | None:
        spans = [
            compute_age(read_known_time((info.get(part) or {}).get("last_active")), info.get("ts"))
            for info in infos
        ]
        known = [span for span in spans if span != NEVER]
        return _to_seconds(min(known)) if known else None

    return {
        "jetstream_consumer_delivered_consumer_seq": sum(list_values("delivered", "consumer_seq")),
        "jetstream_consumer_delivered_stream_seq": max(list_values("delivered", "stream_seq")),
        "jetstream_consumer_ack_floor_consumer_seq": sum(list_values("ack_floor", "consumer_seq")),
        "jetstream_consumer_ack_floor_stream_seq": min(list_values("ack_floor", "stream_seq")),
        "jetstream_consumer_num_ack_pending": total("num_ack_pending"),
        "jetstream_consumer_num_pending": total("num_pending"),
        "jetstream_consumer_num_redelivered": total("num_redelivered"),
        "jetstream_consumer_num_waiting": total("num_waiting"),
        "jetstream_consumer_last_delivery_seconds": compute_seconds_since("delivered"),
        "jetstream_consumer_last_ack_seconds": compute_seconds_since("ack_floor"),
    }


def _build_server_samples(lines: Sequence[ServerLine], context: str, with_totals: bool) -> Iterator[Sample]:
    """Yield what servers report to the system account. With the metrics of accounts they feed the dashboards
    of prometheus-nats-exporter. The totals of streams and consumers come from accounts if there are any, as
    those count leaders only; the samples of servers are there nevertheless, as the dashboards list servers by
    them.

    with_totals: whether to report how many streams and consumers they hold, including replicas; 0 otherwise.
    """
    for line in lines:
        jetstream = line.statistics.get("jetstream") or {}
        leader = str((jetstream.get("meta") or {}).get("leader") or "")
        server_labels = {"context": context, "server_id": line.server, "server_name": line.server}
        labels = {
            **server_labels,
            "cluster": line.cluster,
            "domain": str((jetstream.get("config") or {}).get("domain") or ""),
            "meta_leader": leader,
            "is_meta_leader": "true" if leader in ("", line.server) else "false",
        }
        yield Sample("jetstream_server_jetstream_disabled", labels, float(not jetstream))
        for sample in _build_figure_samples("servers", line, server_labels):
            yield sample._replace(labels=labels) if sample.metric.startswith("jetstream_") else sample
        if jetstream:
            row = line.row if with_totals else None
            amounts = (0,) * 4 if row is None else (row.streams, row.consumers, row.messages, row.bytes)
            for word, amount in zip(_TOTALS, amounts, strict=True):
                yield Sample(f"jetstream_server_total_{word}", labels, amount)


def _build_known_samples(values: Mapping[str, float | None], labels: Labels) -> Iterator[Sample]:
    for metric, value in values.items():
        if value is not None:
            yield Sample(metric, labels, value)


def _to_seconds(span: int | None) -> float | None:
    return None if span is None or span < 0 else span / SECOND
