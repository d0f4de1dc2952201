"""A consumer's information sheet, in the words of the `nats` tool."""

from typing import Any

from jsctl.units import (
    NEVER,
    age,
    exact_duration,
    format_bytes,
    format_count,
    format_duration,
    format_server_time,
    known_time,
    whole_seconds,
)
from jsctl.views.result import Field, Result, Section, Sheet
from jsctl.views.stream.info import cluster_section, present

Json = dict[str, Any]

ACKS = {"none": "None", "all": "All", "explicit": "Explicit", "flow_control": "Flow Control"}
_REPLAY = {"instant": "Instant", "original": "Original"}
_PRIORITY = {"pinned_client": "Pinned Client", "overflow": "Overflow", "prioritized": "Prioritized"}
_DELIVER = {"all": "All", "last": "Last", "new": "New", "last_per_subject": "Last Per Subject"}
_RESERVED = "_nats."
_TARGETS = (("Mirror Target", "_nats.mirror."), ("Source Target", "_nats.src."))


def sheet(info: Json, *, state_only: bool = False) -> Result:
    """`consumer info`; the document is what the server said."""
    config = info["config"]
    what = "State" if state_only else "Information"
    name = f"{info['stream_name']} > {info['name']}"
    heading = f"{what} for Consumer {name} created {format_server_time(info.get('created'))}"
    sections: list[Section] = []
    if not state_only:
        metadata = config.get("metadata") or {}
        sections.append(Section("Configuration", _configuration(info)))
        sections += [_target(title, prefix, metadata) for title, prefix in _TARGETS]
        own = sorted((k, v) for k, v in metadata.items() if not k.startswith(_RESERVED))
        sections.append(Section("Metadata", [Field(key, value) for key, value in own]))
    sections += cluster_section(info.get("cluster") or {}, "Raft Group", info.get("ts"))
    sections.append(Section("State", _state(info)))
    return Result([Sheet(heading, sections)], data=info)


def ack_word(config: Json) -> str:
    """The acknowledgement policy as people read it."""
    policy = str(config.get("ack_policy", ""))
    return ACKS.get(policy, policy)


def backoff(waits: list[int]) -> str:
    """The waits in words; of many only the first and last five."""
    words = [exact_duration(wait) for wait in waits]
    if len(words) > 15:
        return f"{', '.join([*words[:5], '...', *words[-5:]])} ({len(words)} total)"
    return ", ".join(words)


def _configuration(info: Json) -> list[Field]:
    config = info["config"]
    durable, push = config.get("durable_name"), config.get("deliver_subject")
    rate = int(config.get("rate_limit_bps") or 0)
    policy = config.get("priority_policy")
    grouped = policy not in (None, "", "none")
    return present(
        Field("Name", config.get("name") or info["name"]),
        Field("Durable Name", durable if durable != (config.get("name") or info["name"]) else None),
        Field("Description", config.get("description")),
        Field("Delivery Subject", push) if push else Field("Pull Mode", True, "bool"),
        Field("Filter Subject", config.get("filter_subject")),
        Field("Filter Subjects", ", ".join(config.get("filter_subjects") or [])),
        Field("Deliver Policy", _deliver(config)),
        Field("Deliver Queue Group", config.get("deliver_group")),
        Field("Ack Policy", ack_word(config)),
        Field("Ack Wait", config.get("ack_wait") if config.get("ack_policy") != "none" else None, "span"),
        Field("Replay Policy", _REPLAY.get(config.get("replay_policy", ""), config.get("replay_policy"))),
        Field("Maximum Deliveries", config.get("max_deliver") if _positive(config, "max_deliver") else None,
              "count"),
        Field("Sampling Rate", config.get("sample_freq")),
        Field("Rate Limit", f"{format_bytes(rate // 8)} / second" if rate else None),
        Field("Max Ack Pending", _positive(config, "max_ack_pending"), "count"),
        Field("Max Waiting Pulls", _positive(config, "max_waiting"), "count"),
        Field("Idle Heartbeat", _positive(config, "idle_heartbeat"), "span"),
        Field("Flow Control", bool(config.get("flow_control")) if push else None, "bool"),
        Field("Headers Only", config.get("headers_only") or None, "bool"),
        Field("Inactive Threshold", _positive(config, "inactive_threshold"), "span"),
        Field("Max Pull Expire", _positive(config, "max_expires"), "span"),
        Field("Max Pull Batch", _positive(config, "max_batch"), "count"),
        Field("Max Pull MaxBytes", _positive(config, "max_bytes"), "bytes"),
        Field("Backoff", backoff(config.get("backoff") or []) or None),
        Field("Replicas", _positive(config, "num_replicas"), "count"),
        Field("Memory Storage", config.get("mem_storage") or None, "bool"),
        Field("Paused Until Deadline", _pause(info)),
        Field("Priority Policy", _PRIORITY.get(str(policy), policy) if grouped else None),
        Field("Priority Groups", ", ".join(config.get("priority_groups") or []) if grouped else None),
        Field("Pinned TTL", config.get("priority_timeout") if policy == "pinned_client" else None, "span"),
    )  # fmt: skip


def _deliver(config: Json) -> str:
    policy = str(config.get("deliver_policy", ""))
    if policy == "by_start_time":
        return f"Since {format_server_time(config.get('opt_start_time'))}"
    if policy == "by_start_sequence":
        return f"From Sequence {format_count(int(config.get('opt_start_seq', 0)))}"
    return _DELIVER.get(policy, policy)


def _pause(info: Json) -> str | None:
    deadline = known_time(info["config"].get("pause_until"))
    if not deadline:
        return None
    return f"{format_server_time(deadline)} ({_remaining(info) if info.get('paused') else 'passed'})"


def _remaining(info: Json) -> str:
    left = int(info.get("pause_remaining", 0))
    return f"{format_duration(whole_seconds(left))} remaining"


def _target(title: str, prefix: str, metadata: Json) -> Section:
    """What a consumer that a mirror or source made for itself is for."""
    labels = (("Stream", "stream"), ("Account", "acc"), ("Domain", "domain"))
    return Section(title, present(*(Field(label, metadata.get(prefix + key)) for label, key in labels)))


def _state(info: Json) -> list[Field]:
    config = info["config"]
    metadata = config.get("metadata") or {}
    level, needed = metadata.get("_nats.level"), metadata.get("_nats.req.level")
    acks = config.get("ack_policy") != "none"
    pending, most = int(info.get("num_ack_pending", 0)), _positive(config, "max_ack_pending")
    outstanding = format_count(pending) + (f" out of maximum {format_count(most)}" if most else "")
    now = info.get("ts")
    return present(
        Field("Host Version", metadata.get("_nats.ver")),
        Field("Required API Level",
              f"{needed or 0} hosted at level {level or ''}" if level or needed else None),
        Field("Last Delivered Message", _sequences(info.get("delivered") or {}, now, "Last delivery")),
        Field("Acknowledgment Floor",
              _sequences(info.get("ack_floor") or {}, now, "Last Ack") if acks else None),
        Field("Outstanding Acks", outstanding if acks else None),
        Field("Redelivered Messages", info.get("num_redelivered", 0) if acks else None, "count"),
        Field("Unprocessed Messages", info.get("num_pending", 0), "count"),
        _interest(info),
        Field("Paused Until", _paused_until(info)),
        Field("Priority Groups", _pins(info)),
    )  # fmt: skip


def _sequences(at: Json, now: str | None, last: str) -> str:
    said = (
        f"Consumer sequence: {format_count(int(at.get('consumer_seq', 0)))}"
        f" Stream sequence: {format_count(int(at.get('stream_seq', 0)))}"
    )
    since = age(at.get("last_active"), now)
    return said if since == NEVER else f"{said} {last}: {format_duration(since)} ago"


def _interest(info: Json) -> Field:
    config = info["config"]
    if not config.get("deliver_subject"):
        most = _positive(config, "max_waiting")
        limit = f"maximum {format_count(most)}" if most else "unlimited"
        return Field("Waiting Pulls", f"{format_count(int(info.get('num_waiting', 0)))} of {limit}")
    if not info.get("push_bound"):
        return Field("Active Interest", "No interest")
    group = config.get("deliver_group")
    return Field("Active Interest", f"Active using Queue Group {group}" if group else "Active")


def _paused_until(info: Json) -> str | None:
    deadline = known_time(info["config"].get("pause_until"))
    if not info.get("paused") or not deadline:
        return None
    return f"{format_server_time(deadline)} ({_remaining(info)})"


def _pins(info: Json) -> list[str] | None:
    if info["config"].get("priority_policy") != "pinned_client":
        return None
    said = []
    for group in info.get("priority_groups") or []:
        client = group.get("pinned_client_id")
        pin = f"pinned {client} at {format_server_time(group.get('pinned_ts'))}" if client else "No client"
        said.append(f"{group.get('group', '')}: {pin}")
    return said or None


def _positive(config: Json, key: str) -> int | None:
    value = int(config.get(key) or 0)
    return value if value > 0 else None
