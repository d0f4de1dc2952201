"""A consumer's info page, in the words of the `nats` tool."""

from jsctl.base.units import (
    NEVER,
    compute_age,
    format_bytes,
    format_count,
    format_duration,
    format_exact_duration,
    format_server_time,
    read_known_time,
    truncate_to_seconds,
)
from jsctl.jetstream.config.consumer_fields import DELIVER_POLICY
from jsctl.jetstream.config.kind import Json
from jsctl.jetstream.consumer.config import CONSUMER
from jsctl.views.result import Field, InfoPage, Result, Section
from jsctl.views.shared.config import config_lines, list_other_labels
from jsctl.views.stream.info import cluster_sections, host_lines, metadata_section, present

_SPECIAL = (
    *("name", "durable_name", "deliver_subject", "deliver_policy", "ack_wait", "rate_limit_bps"),
    *("flow_control", "backoff", "pause_until", "priority_policy", "priority_groups", "priority_timeout"),
)
"""Keys whose lines depend on others, or have words of their own."""
_TARGETS = (("Mirror Target", "_nats.mirror."), ("Source Target", "_nats.src."))


def info_page(info: Json, *, state_only: bool = False) -> Result:
    """Show a consumer, for `consumer info`; the document is the server's info."""
    config = info["config"]
    title = "State" if state_only else "Information"
    name = f"{info['stream_name']} > {info['name']}"
    heading = f"{title} for Consumer {name} created {format_server_time(info.get('created'))}"
    sections: list[Section] = []
    if not state_only:
        metadata = config.get("metadata") or {}
        sections.append(Section("Configuration", _build_configuration_fields(info)))
        sections += [_build_target_section(title, prefix, metadata) for title, prefix in _TARGETS]
        sections.append(metadata_section(config))
    sections += cluster_sections(info, "Raft Group")
    sections.append(Section("State", _build_state_fields(info)))
    return Result([InfoPage(heading, sections)], data=info)


def format_backoff(waits: list[int]) -> str:
    """Format the waits (ns); of more than 15, only the first and the last five."""
    words = [format_exact_duration(wait) for wait in waits]
    if len(words) > 15:
        return f"{', '.join([*words[:5], '...', *words[-5:]])} ({len(words)} total)"
    return ", ".join(words)


def _build_configuration_fields(info: Json) -> list[Field]:
    config = info["config"]
    name, push = config.get("name") or info["name"], config.get("deliver_subject")
    durable = config.get("durable_name")
    rate = int(config.get("rate_limit_bps") or 0)
    acknowledges = config.get("ack_policy") != "none"
    policy = config.get("priority_policy")
    groups = ("priority_policy", "priority_groups") if policy not in (None, "", "none") else ()
    pinned = ("priority_timeout",) if policy == "pinned_client" else ()

    shown = set(_SPECIAL)

    def lines(*keys: str) -> list[Field]:
        shown.update(keys)
        return config_lines(CONSUMER, config, *keys, with_defaults=keys == ("flow_control",))

    fields = [
        Field("Name", name),
        *(lines("durable_name") if durable != name else []),
        *lines("description"),
        *(lines("deliver_subject") if push else [Field("Pull Mode", True, "bool")]),
        *lines("filter_subject", "filter_subjects"),
        Field("Deliver Policy", _format_delivery(config)),
        *lines("deliver_group", "ack_policy", *(("ack_wait",) if acknowledges else ()), "replay_policy"),
        *lines("max_deliver", "sample_freq"),
        *present(Field("Rate Limit", f"{format_bytes(rate // 8)} / second" if rate else None)),
        *lines("max_ack_pending", "max_waiting", "idle_heartbeat", *(("flow_control",) if push else ())),
        *lines("headers_only", "inactive_threshold", "max_expires", "max_batch", "max_bytes"),
        *present(Field("Backoff", format_backoff(config.get("backoff") or []) or None)),
        *lines("num_replicas", "mem_storage"),
        *present(Field("Paused Until Deadline", _format_pause(info))),
        *lines(*groups, *pinned),
    ]
    return fields + lines(*list_other_labels(CONSUMER, *shown))


def _format_delivery(config: Json) -> str:
    policy = str(config.get("deliver_policy", ""))
    if policy == "by_start_time":
        return f"Since {format_server_time(config.get('opt_start_time'))}"
    if policy == "by_start_sequence":
        return f"From Sequence {format_count(int(config.get('opt_start_seq', 0)))}"
    return DELIVER_POLICY.describe(policy)


def _format_pause(info: Json) -> str | None:
    deadline = read_known_time(info["config"].get("pause_until"))
    if not deadline:
        return None
    return f"{format_server_time(deadline)} ({_format_remaining(info) if info.get('paused') else 'passed'})"


def _format_remaining(info: Json) -> str:
    remaining = int(info.get("pause_remaining", 0))
    return f"{format_duration(truncate_to_seconds(remaining))} remaining"


def _build_target_section(title: str, prefix: str, metadata: Json) -> Section:
    """Return a section about the stream that the consumer of a mirror or source delivers to."""
    labels = (("Stream", "stream"), ("Account", "acc"), ("Domain", "domain"))
    return Section(title, present(*(Field(label, metadata.get(prefix + key)) for label, key in labels)))


def _build_state_fields(info: Json) -> list[Field]:
    config = info["config"]
    acks = config.get("ack_policy") != "none"
    pending, maximum = int(info.get("num_ack_pending", 0)), _get_positive(config, "max_ack_pending")
    outstanding = format_count(pending) + (f" out of maximum {format_count(maximum)}" if maximum else "")
    now = info.get("ts")
    return present(
        *host_lines(config),
        Field("Last Delivered Message", _format_sequences(info.get("delivered") or {}, now, "Last delivery")),
        Field(
            "Acknowledgment Floor",
            _format_sequences(info.get("ack_floor") or {}, now, "Last Ack") if acks else None,
        ),
        Field("Outstanding Acks", outstanding if acks else None),
        Field("Redelivered Messages", info.get("num_redelivered", 0) if acks else None, "count"),
        Field("Unprocessed Messages", info.get("num_pending", 0), "count"),
        _build_interest_field(info),
        Field("Paused Until", _format_paused_until(info)),
        Field("Priority Groups", _format_pins(info)),
    )


def _format_sequences(position: Json, now: str | None, last: str) -> str:
    sequences = (
        f"Consumer sequence: {format_count(int(position.get('consumer_seq', 0)))}"
        f" Stream sequence: {format_count(int(position.get('stream_seq', 0)))}"
    )
    since = compute_age(position.get("last_active"), now)
    return sequences if since == NEVER else f"{sequences} {last}: {format_duration(since)} ago"


def _build_interest_field(info: Json) -> Field:
    config = info["config"]
    if not config.get("deliver_subject"):
        maximum = _get_positive(config, "max_waiting")
        limit = f"maximum {format_count(maximum)}" if maximum else "unlimited"
        return Field("Waiting Pulls", f"{format_count(int(info.get('num_waiting', 0)))} of {limit}")
    if not info.get("push_bound"):
        return Field("Active Interest", "No interest")
    group = config.get("deliver_group")
    return Field("Active Interest", f"Active using Queue Group {group}" if group else "Active")


def _format_paused_until(info: Json) -> str | None:
    deadline = read_known_time(info["config"].get("pause_until"))
    if not info.get("paused") or not deadline:
        return None
    return f"{format_server_time(deadline)} ({_format_remaining(info)})"


def _format_pins(info: Json) -> list[str] | None:
    if info["config"].get("priority_policy") != "pinned_client":
        return None
    pins = []
    for group in info.get("priority_groups") or []:
        client = group.get("pinned_client_id")
        pin = f"pinned {client} at {format_server_time(group.get('pinned_ts'))}" if client else "No client"
        pins.append(f"{group.get('group', '')}: {pin}")
    return pins or None


def _get_positive(config: Json, key: str) -> int | None:
    value = int(config.get(key) or 0)
    return value if value > 0 else None
