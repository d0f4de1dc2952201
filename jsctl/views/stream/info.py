"""A stream's info page, in the words of the `nats` tool."""

from jsctl.base.units import (
    NEVER,
    compute_age,
    format_bytes,
    format_count,
    format_duration,
    format_server_time,
    pluralize,
    read_known_time,
)
from jsctl.jetstream.config.kind import Json
from jsctl.jetstream.state import count_deleted, count_lost, format_origin_filters, read_last_active
from jsctl.jetstream.stream.config import STREAM
from jsctl.monitor.trouble import is_settled
from jsctl.views.result import Field, InfoPage, Result, Section
from jsctl.views.shared.config import config_lines, list_other_labels

_BASICS = (
    "description",
    "subjects",
    "num_replicas",
    "sealed",
    "storage",
    "compression",
    "persist_mode",
    "first_seq",
    "placement.cluster",
    "placement.tags",
    "placement.preferred",
)
_LIMITS = (
    "max_msgs",
    "max_msgs_per_subject",
    "max_bytes",
    "max_age",
    "max_msg_size",
    "max_consumers",
    "consumer_limits.inactive_threshold",
    "consumer_limits.max_ack_pending",
)
_OPTIONS = list_other_labels(STREAM, *_BASICS, "retention", "no_ack", "discard", *_LIMITS)
_RESERVED = "_nats."


def info_page(info: Json, *, state_only: bool = False) -> Result:
    """Show a stream, for `stream info`; the document is the server's info."""
    config = info["config"]
    title = "State" if state_only else "Information"
    heading = f"{title} for Stream {config['name']} created {format_server_time(info.get('created'))}"
    sections = [] if state_only else _build_configuration_sections(config)
    sections += cluster_sections(info)
    if not state_only:
        if mirror := info.get("mirror"):
            sections.append(Section("Mirror Information", origin_lines(mirror)))
        sources = sorted(
            info.get("sources") or [],
            key=lambda source: (
                str(source.get("name")),
                str((source.get("external") or {}).get("api", "")),
                format_origin_filters(source),
            ),
        )
        sections += [
            Section("" if number else "Source Information", origin_lines(source))
            for number, source in enumerate(sources)
        ]
    sections.append(Section("State", _build_state_fields(info)))
    return Result([InfoPage(heading, sections)], data=info)


def _build_configuration_sections(config: Json) -> list[Section]:
    return [
        Section("", config_lines(STREAM, config, *_BASICS)),
        Section("Options", _build_option_fields(config)),
        Section("Limits", config_lines(STREAM, config, *_LIMITS)),
        metadata_section(config),
        Section("Replication", _build_replication_fields(config)),
    ]


def _build_option_fields(config: Json) -> list[Field]:
    headers_only = (config.get("republish") or {}).get("headers_only")
    discard = config_lines(STREAM, config, "discard")
    if config.get("discard_new_per_subject"):
        discard = [line._replace(value="New Per Subject") for line in discard]
    return [
        *present(
            Field("Subject Transform", _format_transform(config.get("subject_transform"))),
            Field(
                "Republishing Headers" if headers_only else "Republishing",
                _format_transform(config.get("republish")),
            ),
        ),
        *config_lines(STREAM, config, "retention", "no_ack"),
        *discard,
        *config_lines(STREAM, config, *_OPTIONS),
    ]


def _build_replication_fields(config: Json) -> list[Field]:
    fields = []
    if mirror := config.get("mirror"):
        fields.append(Field("Mirror", _format_origin(mirror)))
    if sources := config.get("sources"):
        fields.append(Field("Sources", sorted(_format_origin(source) for source in sources)))
    return fields


def _format_origin(origin: Json) -> str:
    """Format the configuration of a mirror or source on one line."""
    external, consumer = origin.get("external") or {}, origin.get("consumer") or {}
    parts = [str(origin.get("name", ""))]
    if origin.get("opt_start_seq"):
        parts.append(f"Start Seq: {format_count(origin['opt_start_seq'])}")
    if origin.get("opt_start_time"):
        parts.append(f"Start Time: {origin['opt_start_time']}")
    if external.get("api"):
        parts.append(f"API Prefix: {external['api']}")
    if external.get("deliver"):
        parts.append(f"Delivery Prefix: {external['deliver']}")
    if consumer:
        deliver = f" ({consumer['deliver_subject']})" if consumer.get("deliver_subject") else ""
        parts.append(f"Consumer Name: {consumer.get('name', '')}{deliver}")
    return ", ".join(parts)


def origin_lines(source: Json) -> list[Field]:
    """Return the lines of the state of a mirror or source."""
    transforms = source.get("subject_transforms") or []
    label = "Subject Filters and Transforms" if len(transforms) > 1 else "Subject Filter and Transform"
    moves = [
        f"{move.get('src', '')} {'to ' + move['dest'] if move.get('dest') else 'untransformed'}"
        for move in transforms
    ]
    error = source.get("error") or {}
    external, ahead = source.get("external") or {}, int(source.get("ahead", 0))
    return present(
        Field("Stream Name", source.get("name", "")),
        Field("Subject Filter", source.get("filter_subject")),
        Field(label, moves or None),
        Field("Lag", source.get("lag", 0), "count"),
        Field("Ahead", f"{pluralize(ahead, 'sequence')} past its origin" if ahead else None),
        Field("Last Seen", read_last_active(source), "ago"),
        Field("Ext. API Prefix", external.get("api")),
        Field("Ext. Delivery Prefix", external.get("deliver")),
        Field("Error", error.get("description")),
    )


def cluster_sections(info: Json, group: str = "Cluster Group") -> list[Section]:
    """Return the sections of leader and followers, and of a migration (ADR-62); nothing without a cluster."""
    cluster, now = info.get("cluster") or {}, info.get("ts")
    if not cluster.get("name"):
        return []
    leader = cluster.get("leader") or "none"
    led = compute_age(cluster.get("leader_since"), now)
    fields = [
        Field("Name", cluster["name"]),
        Field(
            "Cluster Traffic Account",
            "System Account" if cluster.get("system_account") else cluster.get("traffic_account"),
        ),
        Field(group, cluster.get("raft_group")),
        Field("Leader", leader if led == NEVER else f"{leader} ({format_duration(led)})"),
    ]
    is_new = not is_settled(info.get("created"), now)
    for peer in cluster.get("replicas") or []:
        fields.append(Field("Replica", ", ".join(_format_peer(peer, is_new=is_new))))
    sections = [Section("Cluster Information", present(*fields))]
    if cluster.get("desired"):
        sections.append(_build_migration_section(info["config"], cluster, now))
    return sections


def _build_migration_section(config: Json, cluster: Json, now: str | None) -> Section:
    desired = cluster["desired"]
    status, origin = desired.get("status") or {}, desired.get("origin") or {}
    before, after = origin.get("placement") or {}, config.get("placement") or {}
    began = read_known_time(desired.get("created"))
    peers = [
        str(peer.get("name", "")) + (" (offline)" if peer.get("offline") else "")
        for peer in desired.get("replicas") or []
    ]
    changes = [("Cluster", cluster["name"], desired.get("name") or cluster["name"])]
    if origin:
        changes += [
            ("Replicas", origin.get("replicas", 0), config.get("num_replicas", 0)),
            ("Placement Tags", ", ".join(before.get("tags") or ()), ", ".join(after.get("tags") or ())),
            ("Preferred", before.get("preferred", ""), after.get("preferred", "")),
        ]
    if origin.get("retention"):
        changes.append(("Retention Policy", origin["retention"], config.get("retention")))
    fields = [
        Field("Status", status.get("description")),
        Field("Type", status.get("type")),
        Field("Error", status.get("err")),
        Field(
            "Created",
            f"{format_server_time(began)} ({format_duration(compute_age(began, now))})" if began else None,
        ),
        *(Field(label, f"{old or 'none'} -> {new or 'none'}") for label, old, new in changes if old != new),
        Field("Desired Peers", peers or None),
    ]
    return Section("Cluster Migration Status", present(*fields))


def _format_peer(peer: Json, *, is_new: bool) -> list[str]:
    active, lag = int(peer.get("active", 0)), int(peer.get("lag", 0))
    has_been_seen = 0 < active < (1 << 63) - 1
    state = "current" if peer.get("current") else "outdated"
    parts = [str(peer.get("name", "")), state, *(["OFFLINE"] if peer.get("offline") else [])]
    parts.append(f"seen {format_duration(active)} ago" if has_been_seen else "not seen")
    if (is_new or peer.get("pending")) and parts[1:] == ["outdated", "not seen"]:
        parts[1:] = ["not seen yet"]  # it is being made
    if peer.get("pending"):
        parts.append("(pending)")
    if lag:
        parts.append(f"{pluralize(lag, 'operation')} behind")
    return parts


def _build_state_fields(info: Json) -> list[Field]:
    config, state = info["config"], info["state"]
    lost, lost_bytes = count_lost(state)
    fields = [
        *host_lines(config),
        Field("Messages", state.get("messages", 0), "count"),
        Field("Bytes", state.get("bytes", 0), "bytes"),
        Field(
            "Lost Messages",
            f"{format_count(lost)} ({format_bytes(lost_bytes)})" if lost else None,
        ),
        Field("First Sequence", _format_sequence(state.get("first_seq", 0), state.get("first_ts"))),
        Field("Last Sequence", _format_sequence(state.get("last_seq", 0), state.get("last_ts"))),
        Field("Deleted Messages", count_deleted(state) or None, "count"),
        Field("Active Consumers", state.get("consumer_count", 0), "count"),
        Field("Number of Subjects", state.get("num_subjects") or None, "count"),
        Field("Alternates", _format_alternates(info.get("alternates") or []) or None),
    ]
    return present(*fields)


def _format_alternates(alternates: list[Json]) -> list[str]:
    """Return a section with the streams that can be read in place of this one, names aligned to the right."""
    longest = max((len(stream.get("name", "")) for stream in alternates), default=0)
    domains = [f" Domain: {stream['domain']}" if stream.get("domain") else "" for stream in alternates]
    return [
        f"{stream.get('name', ''):>{longest}}: Cluster: {stream.get('cluster', '')}{domain}"
        for stream, domain in zip(alternates, domains, strict=True)
    ]


def metadata_section(config: Json) -> Section:
    """Return the section of the metadata that people have set."""
    pairs = sorted((config.get("metadata") or {}).items())
    return Section("Metadata", [Field(key, value) for key, value in pairs if not key.startswith(_RESERVED)])


def host_lines(config: Json) -> list[Field]:
    """Return the lines about the server that hosts a stream or consumer, which it notes in the metadata."""
    metadata = config.get("metadata") or {}
    level, needed = metadata.get("_nats.level"), metadata.get("_nats.req.level")
    api_level = f"{needed or 0} hosted at level {level or ''}" if level or needed else None
    return [Field("Host Version", metadata.get("_nats.ver")), Field("Required API Level", api_level)]


def present(*fields: Field) -> list[Field]:
    """Return the fields that have a value."""
    return [field for field in fields if field.value is not None and field.value != ""]


def _format_transform(pair: Json | None) -> str | None:
    if not pair or not pair.get("dest"):
        return None
    return f"{pair.get('src') or '>'} to {pair['dest']}"


def _format_sequence(sequence: int, time: str | None) -> str:
    stored = read_known_time(time)
    return f"{format_count(sequence)} @ {format_server_time(stored)}" if stored else format_count(sequence)
