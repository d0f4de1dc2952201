"""Stream configurations as raw JSON: defaults, validation, and warnings about likely mistakes."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

from jsctl.base.units import SECOND
from jsctl.jetstream.config.kind import Json
from jsctl.jetstream.config.origins import domain_to_api, list_origins
from jsctl.jetstream.config.schema import Schema, get_value
from jsctl.jetstream.config.stream_fields import FIELDS, REMOVALS

_DUPLICATE_WINDOW = 120 * SECOND


class StreamSchema(Schema):
    """The configuration of a stream."""

    obsolete = frozenset({"template_owner"})  # stream templates are no longer in the server
    written = (
        *("storage", "num_replicas", "retention", "discard", "max_age", "max_bytes", "max_consumers"),
        *("max_msg_size", "max_msgs", "max_msgs_per_subject"),
    )
    always_written: ClassVar[Mapping[str, Any]] = {
        **dict.fromkeys(("sealed", "deny_delete", "deny_purge", "allow_rollup_hdrs"), False),
        **dict.fromkeys(("allow_direct", "mirror_direct"), False),
        "consumer_limits": {},
    }

    def apply_flags(self, config: Json, values: Mapping[str, Any]) -> Json:
        updated = super().apply_flags(config, values)
        if values.get("discard-per-subject"):
            updated["discard"] = "new"
        age, window = int(updated.get("max_age") or 0), int(updated.get("duplicate_window") or 0)
        if "max-age" in values and "dupe-window" not in values and 0 < age < window:
            updated["duplicate_window"] = age  # the server requires it to be no longer than that
        return updated

    def with_defaults(self, config: Json) -> Json:
        complete = {"allow_direct": True, **super().with_defaults(config)}
        # A mirror uses it once it is promoted: then it knows the ids of its messages.
        if "duplicate_window" not in complete:
            complete["duplicate_window"] = choose_window(int(complete.get("max_age") or 0))
        return complete

    def with_assumed(self, config: Json) -> Json:
        complete = super().with_assumed(config)
        # nats-server chooses at most its max_duplicate_window, and none for a stream with sources.
        if not list_origins(complete) and "duplicate_window" not in complete:
            complete["duplicate_window"] = choose_window(int(complete.get("max_age") or 0))
        return complete

    def without_defaults(self, config: Json, given: Collection[str]) -> Json:
        kept = super().without_defaults(config, given)
        without_window = {key: value for key, value in kept.items() if key != "duplicate_window"}
        is_assumed = "duplicate_window" not in given and self.with_assumed(
            without_window
        ) == self.with_assumed(kept)
        return without_window if is_assumed else kept

    def find_violations(self, config: Json) -> Iterator[str]:
        subjects, mirror = config.get("subjects") or [], config.get("mirror")
        republish, transform = config.get("republish"), config.get("subject_transform") or {}
        if mirror and subjects:
            yield "a mirror cannot have --subjects of its own"
        if mirror and config.get("sources"):
            yield "a stream can have a --mirror or --source, not both"
        if ">" in subjects and not config.get("no_ack"):
            yield "the subject '>' needs --no-ack: acknowledgements would be stored too"
        if int(config.get("max_msg_size") or -1) >= 1 << 31:
            yield "--max-msg-size is at most 2 GiB"
        if 0 < int(config.get("max_age") or 0) < int(config.get("duplicate_window") or 0):
            yield "--dupe-window must not be longer than --max-age"
        if config.get("discard_new_per_subject") and config.get("discard") != "new":
            yield "--discard-per-subject needs --discard new"
        elif config.get("discard_new_per_subject") and int(config.get("max_msgs_per_subject") or 0) < 1:
            yield "--discard-per-subject needs --max-msgs-per-subject"
        if config.get("allow_msg_counter") and config.get("subject_delete_marker_ttl"):
            # Servers create it, and refuse it when they load their streams (stream.go: checkStreamCfg).
            yield (
                "--allow-counter and --subject-del-markers-ttl cannot be used together: at its next start the"
                " server drops the stream"
            )
        if int(config.get("num_replicas") or 1) < 1:
            yield "--replicas must be 1 or more"
        if republish is not None and not republish.get("dest"):
            yield "--republish-destination is missing"
        if republish is not None and not republish.get("src"):
            yield "--republish-source is missing"
        if transform.get("src") and not transform.get("dest"):
            yield "--transform-destination is missing"

    def find_needed_levels(self, config: Json) -> dict[int, list[str]]:
        needs = super().find_needed_levels(config)
        if any(origin.get("consumer") for origin in list_origins(config)):
            needs.setdefault(4, []).append("a durable consumer of a mirror or source")
        return needs


STREAM = StreamSchema("stream", FIELDS, REMOVALS)


def choose_window(max_age: int) -> int:
    """Return the duplicate window of a new stream in ns: two minutes, or `max_age` (ns) if that is shorter.

    The server refuses a window that is longer than the maximum age.
    """
    return min(_DUPLICATE_WINDOW, max_age) if max_age > 0 else _DUPLICATE_WINDOW


def find_warnings(config: Json, domain: str = "") -> list[str]:
    """Return warnings about values that the server accepts but treats unexpectedly. domain: the stream's."""
    warnings = [
        f"{origin['name']}@{domain} is never reached: that is the stream's own domain; write {origin['name']}"
        for origin in list_origins(config)
        if domain and get_value(origin, ("external", "api")) == domain_to_api(domain)
    ]
    if config.get("mirror") and config.get("discard") == "new":
        limits = [config.get(key) for key in ("max_msgs", "max_bytes")]
        if any(int(limit or -1) > 0 for limit in limits):
            warnings.append(
                "a mirror that discards new messages is incomplete once it is full, and stays so: use"
                " --discard old"
            )
    if config.get("mirror") and int(config.get("max_msg_size") or -1) > 0:
        warnings.append("a mirror with --max-msg-size stops at the first message that is larger")
    if config.get("sealed") and (int(config.get("max_age") or 0) or config.get("discard") == "old"):
        warnings.append("a sealed stream has no maximum age and discards new messages, whatever is asked for")
    for transform in _list_destinations(config):
        warnings.extend(
            f"{token!r} in {transform!r} is text to the server: a mapping function has to be a whole token"
            for token in transform.split(".")
            if re.search(r"\{\{.*\}\}|\$\d", token) and not re.fullmatch(r"\{\{.*\}\}|\$\d+", token)
        )
    return warnings


def _list_destinations(config: Json) -> list[str]:
    """Return the destinations of subject transforms."""
    destinations = [
        get_value(config, ("subject_transform", "dest")),
        get_value(config, ("republish", "dest")),
    ]
    for origin in list_origins(config):
        destinations.extend(transform.get("dest") for transform in origin.get("subject_transforms") or [])
    return [destination for destination in destinations if isinstance(destination, str)]
