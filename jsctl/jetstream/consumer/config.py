"""Consumer configurations as raw JSON: defaults, validation, and flags that set more than one key."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from jsctl.base.units import (
    MINUTE,
    MS,
    format_rfc3339,
    parse_duration,
    parse_future_time,
    parse_past_time,
    seconds_to_ns,
)
from jsctl.errors import BadInput
from jsctl.jetstream.config.consumer_fields import FIELDS
from jsctl.jetstream.config.kind import Json
from jsctl.jetstream.config.schema import Schema
from jsctl.nats.subjects import split_subjects

PRIORITY_FLAGS: Mapping[str, str] = {
    "pinned-groups": "pinned_client",
    "overflow-groups": "overflow",
    "prioritized-groups": "prioritized",
}
"""Flags of priority groups, and the policy that each of them sets (ADR-42)."""

_PRIORITY_LEVELS: Mapping[str, int] = {"pinned_client": 1, "overflow": 1, "prioritized": 2}
_PUSH_ONLY = ("deliver_subject", "flow_control", "idle_heartbeat", "rate_limit_bps")
_PULL_ONLY = ("max_waiting", "priority_policy", "priority_groups", "priority_timeout")
_IGNORED_BY_PUSH = ("max_batch", "max_expires", "max_bytes")
_IGNORED_BY_PULL = ("deliver_group",)
_FILTERS = ("filter_subject", "filter_subjects")
_START_WORDS = {
    "all": "all",
    "last": "last",
    "new": "new",
    "next": "new",
    "subject": "last_per_subject",
    "last_per_subject": "last_per_subject",
}
_UNSET = (None, 0, "", "none")
_UNSET_TIME = "0001-01-01T00:00:00Z"


class ConsumerSchema(Schema):
    """The configuration of a consumer."""

    obsolete = frozenset({"stream_name"})  # which files may have beside the configuration, or in it
    written = ("replay_policy", "deliver_policy")
    always_written: ClassVar[Mapping[str, Any]] = {"max_deliver": -1, "num_replicas": 0}

    def get_name(self, config: Json) -> str:
        return str(config.get("name") or config.get("durable_name") or "")

    def apply_flags(self, config: Json, values: Mapping[str, Any]) -> Json:
        updated = super().apply_flags(config, {k: v for k, v in values.items() if k != "filter"})
        return with_filters(updated, split_subjects(values["filter"])) if "filter" in values else updated

    def with_defaults(self, config: Json) -> Json:
        """Return a copy with defaults; the acknowledgement policy is none for push consumers, explicit for
        pull consumers."""
        complete = super().with_defaults(config)
        complete.setdefault("ack_policy", "none" if complete.get("deliver_subject") else "explicit")
        if complete["deliver_policy"] == "last_per_subject" and not get_filters(complete):
            complete["filter_subject"] = ">"  # the server requires one
        return complete

    def with_assumed(self, config: Json) -> Json:
        return {"ack_policy": "none", **super().with_assumed(config)}

    def to_flags(self, config: Json) -> list[str]:
        without_filters = {key: value for key, value in config.items() if key not in _FILTERS}
        filters = get_filters(config)
        words = super().to_flags({**without_filters, **({"filter_subjects": filters} if filters else {})})
        if not config.get("deliver_subject"):
            words.append("--pull")
        if not config.get("durable_name"):
            words.append("--ephemeral")
        if (start := _format_start(config)) != "all":
            words += ["--deliver", start]
        if waits := config.get("backoff"):
            words += ["--backoff", ",".join(f"{wait}ns" for wait in waits)]
            if "--max-deliver" not in words:
                words.append(f"--max-deliver={config.get('max_deliver', -1)}")
        if sample := config.get("sample_freq"):
            words += ["--sample", sample]
        if until := config.get("pause_until"):
            words += ["--pause", until]
        for flag, policy in PRIORITY_FLAGS.items():
            if config.get("priority_policy") == policy:
                words += [f"--{flag}", ",".join(config.get("priority_groups") or [])]
        return words

    def without_server_keys(self, config: Json) -> Json:
        stripped = super().without_server_keys(config)
        if stripped.get("pause_until") == _UNSET_TIME:
            stripped.pop("pause_until")
        return stripped

    def update(self, live: Json, changes: Json) -> Json:
        """Return the live configuration with changes applied; a new kind of filter replaces the other."""
        updated = super().update(live, changes)
        for key, other in (_FILTERS, _FILTERS[::-1]):
            if changes.get(key) and other not in changes:
                updated.pop(other, None)
        return updated

    def find_violations(self, config: Json) -> Iterator[str]:
        push = bool(config.get("deliver_subject"))
        wrong_keys = _PULL_ONLY if push else _PUSH_ONLY
        reason = (
            "is for pull consumers, and --target makes it a push consumer"
            if push
            else "is for push consumers, which have a --target"
        )
        for key in wrong_keys:
            flag = "pinned-groups and the like" if key == "priority_policy" else self.by_key[key].flag
            # Groups and their timeout accompany the policy, which is reported.
            if config.get(key) not in _UNSET and key not in ("priority_groups", "priority_timeout"):
                yield f"--{flag} {reason}"
        waits, tries = config.get("backoff") or [], int(config.get("max_deliver") or -1)
        if 0 < tries < len(waits):
            yield f"--max-deliver {tries} is less than the {len(waits)} steps of the backoff"
        if waits and config.get("ack_wait") not in (None, 0, waits[0]):
            yield "--wait is the first step of --backoff: leave it out, or use --backoff none"
        has_policy = config.get("priority_policy") not in _UNSET
        if has_policy and not config.get("priority_groups"):
            yield "priority_policy needs priority_groups"
        if not has_policy and (config.get("priority_groups") or config.get("priority_timeout")):
            yield "priority_groups and priority_timeout need a priority_policy"
        if config.get("flow_control") and not config.get("idle_heartbeat"):
            yield "--flow-control needs a --heartbeat"

    def find_needed_levels(self, config: Json) -> dict[int, list[str]]:
        needs = super().find_needed_levels(config)
        if config.get("pause_until"):
            needs.setdefault(1, []).append("--pause")
        for flag, policy in PRIORITY_FLAGS.items():
            if config.get("priority_policy") == policy:
                needs.setdefault(_PRIORITY_LEVELS[policy], []).append(f"--{flag}")
        if config.get("ack_policy") == "flow_control":
            needs.setdefault(4, []).append("--ack flow_control")
        return needs


CONSUMER = ConsumerSchema("consumer", FIELDS)


def find_warnings(config: Json) -> list[str]:
    """Return warnings about what the server accepts in a new consumer and people hardly mean."""
    warnings = []
    if "ack_policy" not in config:
        warnings.append(
            "ack_policy is left out, and the server takes none: what is delivered counts as acknowledged"
        )
    if config.get("backoff") and config.get("ack_policy", "none") == "none":
        warnings.append("backoff is ignored, as nothing is acknowledged")
    other, keys = ("pull", _IGNORED_BY_PUSH) if config.get("deliver_subject") else ("push", _IGNORED_BY_PULL)
    ignored = [key for key in keys if config.get(key) not in _UNSET]
    return [*warnings, *(f"{key} is ignored, as it is for {other} consumers" for key in ignored)]


def get_filters(config: Json) -> list[str]:
    """Return the subjects that a consumer delivers; empty for all."""
    single = config.get("filter_subject")
    return [single] if single else list(config.get("filter_subjects") or [])


def with_filters(config: Json, filters: Sequence[str]) -> Json:
    """Return a copy with one filter in `filter_subject` or several in `filter_subjects`; without either when
    there are none."""
    updated = {key: value for key, value in config.items() if key not in _FILTERS}
    subjects = list(dict.fromkeys(filters))
    if len(subjects) == 1:
        updated["filter_subject"] = subjects[0]
    elif subjects:
        updated["filter_subjects"] = subjects
    return updated


def with_start(config: Json, policy: str, now: float) -> Json:
    """Return a copy with a start policy: all, last, new, subject, a sequence, a time, or a duration before
    `now` (seconds since the epoch). Raises ValueError."""
    updated = {k: v for k, v in config.items() if k not in ("opt_start_seq", "opt_start_time")}
    text = policy.strip()
    if text.lower() in _START_WORDS:
        return {**updated, "deliver_policy": _START_WORDS[text.lower()]}
    if text.isdigit():
        if not int(text):
            raise ValueError("sequences begin at 1")
        return {**updated, "deliver_policy": "by_start_sequence", "opt_start_seq": int(text)}
    try:
        start = parse_past_time(text, seconds_to_ns(now))
    except (ValueError, OverflowError):
        raise ValueError(
            f"{policy!r} is not a start policy: use all, new, last, subject, a sequence, 1h, or a time"
        ) from None
    return {**updated, "deliver_policy": "by_start_time", "opt_start_time": format_rfc3339(start)}


def _format_start(config: Json) -> str:
    """Return the value of --deliver that `with_start` parses."""
    policy = config.get("deliver_policy") or "all"
    keys = {"by_start_sequence": "opt_start_seq", "by_start_time": "opt_start_time"}
    return str(config.get(keys[policy]) or "all") if policy in keys else str(policy)


def parse_backoff(
    mode: str, *, steps: int = 10, shortest: int = MINUTE, longest: int = 20 * MINUTE
) -> list[int]:
    """Parse a backoff into the waits before redeliveries, in ns.

    `linear` grows evenly from `shortest` towards `longest`, by whole ms (jsm.go: LinearBackoffPeriods),
    `none` is empty, `1s,5s,1m` lists them. Raises ValueError.
    """
    if mode.lower() == "none":
        return []
    if mode.lower() != "linear":
        waits = [parse_duration(text) for text in mode.split(",")]
        if any(wait <= 0 for wait in waits):
            raise ValueError(f"{mode!r}: every wait must be longer than 0")
        return waits
    if steps < 1 or shortest <= 0 or longest < shortest:
        raise ValueError("a linear backoff must have at least one step, from a shorter to a longer wait")
    growth = (longest - shortest) // steps
    return [shortest + (step * growth + MS // 2) // MS * MS for step in range(steps)]


def parse_deadline(text: str, now: float) -> str:
    """Convert a time (local when it has no zone) or a duration after `now` (seconds since the epoch) to RFC
    3339. Raises ValueError."""
    try:
        return format_rfc3339(parse_future_time(text, seconds_to_ns(now)))
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is neither a time such as 2026-11-21 06:57:05 nor a duration") from None


def with_priority_groups(config: Json, groups: Mapping[str, Sequence[str]]) -> Json:
    """Return a copy with priority groups. groups: the texts by flag (PRIORITY_FLAGS). Raises BadInput."""
    by_flag = {flag: split_subjects(texts) for flag, texts in groups.items() if texts}
    if not by_flag:
        return config
    if len(by_flag) > 1:
        raise BadInput(f"{' and '.join('--' + flag for flag in by_flag)} cannot be used together")
    ((flag, names),) = by_flag.items()
    return {**config, "priority_policy": PRIORITY_FLAGS[flag], "priority_groups": names}


def with_name(config: Json, name: str, *, ephemeral: bool) -> Json:
    """Return a copy with this name. An ephemeral consumer has no durable name; the server removes it when it
    is idle."""
    updated = {**config, "name": name}
    if ephemeral:
        updated.pop("durable_name", None)
    else:
        updated["durable_name"] = name
    return updated


def as_pull(config: Json) -> Json:
    """Return a copy without the keys that only push consumers have."""
    return {key: value for key, value in config.items() if key not in _PUSH_ONLY}


def as_push(config: Json) -> Json:
    """Return a copy without the keys that only pull consumers have."""
    return {key: value for key, value in config.items() if key not in _PULL_ONLY}
