"""Consumer configurations as raw JSON: the table of flags, and what flags mean that are more than one key."""

from collections.abc import Mapping, Sequence
from typing import Any

from jsctl.errors import BadInput
from jsctl.jetstream.config.fields import AT_BIRTH, Field
from jsctl.jetstream.stream import config as configs
from jsctl.nats.subjects import is_subject, split_subjects
from jsctl.units import (
    MINUTE,
    format_rfc3339,
    parse_duration,
    parse_future_time,
    parse_past_time,
    seconds_to_ns,
)

Json = dict[str, Any]

_ACKS = {
    "none": "none",
    "all": "all",
    "explicit": "explicit",
    "flow_control": "flow_control",
    "flowcontrol": "flow_control",
    "fc": "flow_control",
}
_REPLAY = {"instant": "instant", "original": "original"}

_ = Field
FIELDS: tuple[Field, ...] = (
    _("ack", ("ack_policy",), "choice", "How messages are acknowledged", AT_BIRTH, _ACKS),
    _("bps", ("rate_limit_bps",), "number", "Bits a second that a push consumer delivers at most", AT_BIRTH),
    _("deliver-group", ("deliver_group",), "text", "Deliver to this queue group only", AT_BIRTH),
    _("description", ("description",), "text", "What the consumer is for"),
    _("filter", ("filter_subjects",), "subjects", "Only these subjects; may be repeated, '' is all"),
    _("flow-control", ("flow_control",), "switch", "Flow control of a push consumer", AT_BIRTH,
      negatable=False),
    _("heartbeat", ("idle_heartbeat",), "span", "Heartbeats of an idle push consumer; -1 is none", AT_BIRTH),
    _("headers-only", ("headers_only",), "switch", "Deliver headers and no bodies"),
    _("max-deliver", ("max_deliver",), "limit", "Times that a message is delivered; -1 is unlimited"),
    _("max-pending", ("max_ack_pending",), "integer",
      "Unacknowledged messages before delivery stops; -1 is unlimited"),
    _("max-waiting", ("max_waiting",), "number", "Pulls that may wait", AT_BIRTH),
    _("max-pull-batch", ("max_batch",), "number", "Messages that one pull may ask for"),
    _("max-pull-expire", ("max_expires",), "span", "Time that one pull may wait"),
    _("max-pull-bytes", ("max_bytes",), "size", "Bytes that one pull may ask for"),
    _("replay", ("replay_policy",), "choice", "At once, or as fast as they came", AT_BIRTH, _REPLAY),
    _("target", ("deliver_subject",), "text", "Push messages to this subject"),
    _("wait", ("ack_wait",), "span", "Time to acknowledge a message in"),
    _("inactive-threshold", ("inactive_threshold",), "span", "Idle time after which it is removed"),
    _("memory", ("mem_storage",), "switch", "Keep its state in memory", AT_BIRTH, negatable=False),
    _("replicas", ("num_replicas",), "number", "Copies of its state; 0 is what the stream has"),
    _("metadata", ("metadata",), "map", "KEY=VALUE to keep with the consumer; may be repeated"),
    _("pinned-ttl", ("priority_timeout",), "span", "Idle time after which a pinned client loses its pin",
      AT_BIRTH, level=1),
)  # fmt: skip
BY_FLAG: Mapping[str, Field] = {field.flag: field for field in FIELDS}

GROUPS: Mapping[str, str] = {
    "pinned-groups": "pinned_client",
    "overflow-groups": "overflow",
    "prioritized-groups": "prioritized",
}
"""Flags of priority groups, and the policy that each means (ADR-42)."""

_LEVELS: Mapping[str, int] = {"pinned_client": 1, "overflow": 1, "prioritized": 2}
_DEFAULTS: Mapping[str, Any] = {"deliver_policy": "all", "replay_policy": "instant"}
_PUSH_ONLY = ("deliver_subject", "deliver_group", "flow_control", "idle_heartbeat", "rate_limit_bps")
_PULL_ONLY = ("max_waiting", "max_batch", "max_expires", "max_bytes", "priority_policy", "priority_groups",
              "priority_timeout")  # fmt: skip
_PUSH_FLAGS: Mapping[str, str] = {
    "rate_limit_bps": "bps",
    "idle_heartbeat": "heartbeat",
    "flow_control": "flow-control",
    "deliver_group": "deliver-group",
}
_PULL_FLAGS: Mapping[str, str] = {
    "max_waiting": "max-waiting",
    "max_batch": "max-pull-batch",
    "max_expires": "max-pull-expire",
    "max_bytes": "max-pull-bytes",
    "priority_policy": "pinned-groups and the like",
}
_UNSET = (None, 0, "none")
_UNSET_TIME = "0001-01-01T00:00:00Z"


def lay(config: Json, given: Mapping[str, Any]) -> Json:
    """A copy of `config` with the values of simple flags laid over it; filters in the key that fits."""
    made = configs.lay(
        config, {flag: value for flag, value in given.items() if flag != "filter"}, BY_FLAG, {}
    )
    return with_filters(made, given["filter"]) if "filter" in given else made


def with_filters(config: Json, texts: Sequence[str]) -> Json:
    """One filter goes into `filter_subject`, several into `filter_subjects`, none leaves both out."""
    made = {k: v for k, v in config.items() if k not in ("filter_subject", "filter_subjects")}
    subjects = list(dict.fromkeys(split_subjects(texts)))
    if len(subjects) == 1:
        made["filter_subject"] = subjects[0]
    elif subjects:
        made["filter_subjects"] = subjects
    return made


def filters(config: Json) -> list[str]:
    """The subjects that a consumer takes; empty for all."""
    one = config.get("filter_subject")
    return [one] if one else list(config.get("filter_subjects") or [])


def starting(config: Json, policy: str, now: float) -> Json:
    """A copy that starts at all, last, new, subject, a sequence, a time, or a duration before `now`
    (seconds since the epoch). Raises ValueError."""
    made = {k: v for k, v in config.items() if k not in ("opt_start_seq", "opt_start_time")}
    said = policy.strip()
    words = {"all": "all", "last": "last", "new": "new", "next": "new"}
    words |= {"subject": "last_per_subject", "last_per_subject": "last_per_subject"}
    if said.lower() in words:
        made["deliver_policy"] = words[said.lower()]
    elif said.isdigit():
        if not int(said):
            raise ValueError("sequences begin with 1")
        made |= {"deliver_policy": "by_start_sequence", "opt_start_seq": int(said)}
    else:
        try:
            start = parse_past_time(said, seconds_to_ns(now))
        except (ValueError, OverflowError):
            raise ValueError(
                f"{policy!r} is no start: all, new, last, subject, a sequence, 1h, or a time"
            ) from None
        made |= {"deliver_policy": "by_start_time", "opt_start_time": format_rfc3339(start)}
    return made


def backoff(mode: str, *, steps: int = 10, least: int = MINUTE, most: int = 20 * MINUTE) -> list[int]:
    """ns: `linear` grows evenly from least to most; `none` is empty; `1s,5s,1m` is itself.
    Raises ValueError."""
    if mode.lower() == "none":
        return []
    if mode.lower() != "linear":
        waits = [parse_duration(part) for part in mode.split(",")]
        if any(wait <= 0 for wait in waits):
            raise ValueError(f"{mode!r}: every wait is longer than 0")
        return waits
    if steps < 1 or least <= 0 or most < least:
        raise ValueError("a linear backoff has at least one step, from a shorter to a longer wait")
    if steps == 1:
        return [least]
    return [least + (most - least) * step // (steps - 1) for step in range(steps)]


def until(text: str, now: float) -> str:
    """RFC 3339 from a time (local where no zone is said) or a duration after `now`. Raises ValueError."""
    try:
        return format_rfc3339(parse_future_time(text, seconds_to_ns(now)))
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is neither a time such as 2026-11-21 06:57:05 nor a duration") from None


def grouped(config: Json, given: Mapping[str, Sequence[str]]) -> Json:
    """A copy with the priority groups of one of the flags in GROUPS. Raises BadInput."""
    said = {flag: split_subjects(texts) for flag, texts in given.items() if texts}
    if not said:
        return config
    if len(said) > 1:
        raise BadInput(f"{' and '.join('--' + flag for flag in said)} exclude each other")
    ((flag, groups),) = said.items()
    return {**config, "priority_policy": GROUPS[flag], "priority_groups": groups}


def named(config: Json, name: str, *, ephemeral: bool) -> Json:
    """A copy with this name; without a durable one the consumer goes when it is idle."""
    made = {**config, "name": name}
    if ephemeral:
        made.pop("durable_name", None)
    else:
        made["durable_name"] = name
    return made


def as_pull(config: Json) -> Json:
    """A copy without what only push consumers have."""
    return {key: value for key, value in config.items() if key not in _PUSH_ONLY}


def as_push(config: Json) -> Json:
    """A copy without what only pull consumers have."""
    return {key: value for key, value in config.items() if key not in _PULL_ONLY}


def over(live: Json, file: Json) -> Json:
    """A file's configuration laid over a live one. One way to filter replaces the other."""
    made = {**live, **file}
    for key, other in (("filter_subject", "filter_subjects"), ("filter_subjects", "filter_subject")):
        if file.get(key) and other not in file:
            made.pop(other, None)
    return made


def with_defaults(config: Json) -> Json:
    """A new consumer's configuration, what is left out filled in: a push consumer needs no
    acknowledgements, a pull consumer explicit ones."""
    made = {**_DEFAULTS, **config}
    made.setdefault("ack_policy", "none" if made.get("deliver_subject") else "explicit")
    if made["deliver_policy"] == "last_per_subject" and not filters(made):
        made["filter_subject"] = ">"  # the server wants one (10094)
    return made


def parse_config(text: str, name: str) -> Json:
    """A consumer's configuration from JSON or YAML, or from a whole `info --json` document.

    What the server owns is left out. Raises BadInput.
    """
    return own(configs.read_config(text, name, "consumer", FIELDS))


def own(config: Json) -> Json:
    """The configuration without what the server writes into it."""
    made = configs.without_reserved(config)
    if made.get("pause_until") == _UNSET_TIME:
        made.pop("pause_until")
    return made


def check(config: Json) -> None:
    """What can be told to be wrong without a server. Raises BadInput with all of it."""
    configs.refuse(problems(config))


def problems(config: Json) -> list[str]:
    """What is wrong with a configuration, a sentence each."""
    name = str(config.get("name") or config.get("durable_name") or "")
    if wrong := configs.misshapen(config, name, "consumer", FIELDS):
        return wrong
    wrong = [f"{subject!r} is no subject" for subject in filters(config) if not is_subject(subject)]
    if target := config.get("deliver_subject"):
        if not is_subject(target) or any(token in "*>" for token in target.split(".")):
            wrong.append(f"--target {target!r} is no subject to publish to")
        told = "is for pull consumers, and --target makes it a push consumer"
        wrong += [f"--{flag} {told}" for key, flag in _PULL_FLAGS.items() if config.get(key) not in _UNSET]
    else:
        told = "is for push consumers, which have a --target"
        wrong += [f"--{flag} {told}" for key, flag in _PUSH_FLAGS.items() if config.get(key)]
    quiet = config.get("flow_control") and not config.get("idle_heartbeat")
    waits, most = config.get("backoff") or [], int(config.get("max_deliver") or -1)
    rules = (
        (0 < most < len(waits), f"--max-deliver {most} is less than the {len(waits)} steps of the backoff"),
        (waits and config.get("ack_policy") == "none", "--backoff needs acknowledgements: --ack explicit"),
        (quiet, "--flow-control needs a --heartbeat"),
    )
    return wrong + [told for broken, told in rules if broken]


def needed_levels(config: Json) -> dict[int, list[str]]:
    """Flags that a configuration uses, by the API level they need (ADR-44)."""
    needs: dict[int, list[str]] = {}
    for field in FIELDS:
        if field.level and configs.get(config, field.path):
            needs.setdefault(field.level, []).append(f"--{field.flag}")
    if config.get("pause_until"):
        needs.setdefault(1, []).append("--pause")
    if level := _LEVELS.get(str(config.get("priority_policy"))):
        flag = next(flag for flag, policy in GROUPS.items() if policy == config["priority_policy"])
        needs.setdefault(level, []).append(f"--{flag}")
    if config.get("ack_policy") == "flow_control":
        needs.setdefault(4, []).append("--ack flow_control")
    return needs
