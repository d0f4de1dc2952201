"""Declared keys applied to a live configuration. Keys that a file does not name stay as they are."""

import json
import re
import time

from jsctl.base.units import parse_time_ns
from jsctl.errors import BadInput
from jsctl.jetstream.config.kind import Json, merge, without_empty
from jsctl.jetstream.config.origins import Origin
from jsctl.jetstream.config.schema import Object, Schema, get_value
from jsctl.jetstream.consumer.config import CONSUMER, PRIORITY_FLAGS, get_filters, with_filters
from jsctl.jetstream.kv.config import BucketSchema
from jsctl.jetstream.stream.config import STREAM

_KEPT_FOR_CONSUMERS = ("deliver_policy", "ack_policy", "replay_policy", "max_waiting", "name")
_ORIGIN: Object = Origin()
_KEYS_OF_FLAGS = dict.fromkeys(PRIORITY_FLAGS, "priority_policy")


def without_none(config: Json) -> Json:
    """Return a configuration to create, without the keys that are None."""
    return merge({}, config)


def validate_keys(schema: Schema, config: Json, position: str, *, is_whole: bool = True) -> None:
    """Validate a configuration as `add` does; errors name keys instead of flags. is_whole: whether it is all
    that a server will have; otherwise rules about keys that it lacks do not apply. Raises BadInput."""

    def name_key(flag: re.Match[str]) -> str:
        field = schema.by_flag.get(flag[1]) or schema.by_key.get(flag[1])
        return field.key if field else _KEYS_OF_FLAGS.get(flag[1], flag[0])

    def is_certain(problem: str) -> bool:
        fields = [schema.by_key[word] for word in re.findall(r"[a-z_.]+", problem) if word in schema.by_key]
        return is_whole or all(get_value(config, field.path) is not None for field in fields)

    problems = [re.sub(r"--([a-z][a-z-]*)", name_key, problem) for problem in schema.find_problems(config)]
    if problems := [*filter(is_certain, problems)]:
        raise BadInput(f"{position}: {'; '.join(problems)}")


def merge_stream(live: Json, declared: Json) -> Json:
    """Return the stream configuration to send: objects are merged key by key, lists replace lists, None
    removes a key."""
    declared = dict(declared)
    if not declared.get("duplicate_window", True):
        del declared["duplicate_window"]  # 0 means the server's default
    merged = {**STREAM.assumed, **merge(live, declared)}
    if "sources" in declared and merged.get("sources"):
        merged["sources"] = _merge_sources(live.get("sources") or [], merged["sources"])
    if not (merged.get("subjects") or merged.get("mirror") or merged.get("sources")):
        merged["subjects"] = [live["name"]]  # server: checkStreamCfg
    window, age = int(merged.get("duplicate_window") or 0), int(merged.get("max_age") or 0)
    if "duplicate_window" not in declared and 0 < age < window:
        merged["duplicate_window"] = age  # the server requires it to be no longer than that
    return merged


def merge_bucket(kind: BucketSchema, live: Json, declared: Json) -> Json:
    """Return a bucket's configuration, in the bucket's own keys, merged as `merge_stream` does."""
    return {**kind.assumed, **merge(live, declared)}


def merge_consumer(live: Json, declared: Json) -> Json:
    """Return a consumer's configuration to send, merged as `merge_stream` does."""
    without_filters = {k: v for k, v in declared.items() if k not in ("filter_subject", "filter_subjects")}
    merged = merge(live, without_filters)
    if len(without_filters) < len(declared):
        filters = get_filters(declared)
        if sorted(filters) != sorted(get_filters(live)):
            merged = with_filters(merged, filters)
    pause = merged.get("pause_until")
    if pause is not None and parse_time_ns(pause) <= time.time_ns() and not live.get("pause_until"):
        del merged["pause_until"]  # it ended, and the server no longer has it
    for key in ("ack_wait", "max_deliver", "max_ack_pending"):
        if key in declared and not declared[key] and live.get(key):
            merged[key] = CONSUMER.by_key[key].default  # server: setConsumerConfigDefaults
    for key in _KEPT_FOR_CONSUMERS:
        if not merged.get(key) and live.get(key):
            merged[key] = live[key]
    if merged.get("backoff") and not declared.get("ack_wait"):
        merged["ack_wait"] = merged["backoff"][0]  # as the server does
    return merged


def _merge_sources(live: list[Json], declared: list[Json]) -> list[Json]:
    """Return the declared sources; those that exist, also in another form, keep the keys that jsctl does not
    know."""
    by_form = {_format_known_keys(source): source for source in live}
    by_origin: dict[tuple[str, str], list[Json]] = {}
    for source in live:
        by_origin.setdefault(_identify(source), []).append(source)
    merged = []
    for source in declared:
        alike = by_origin.get(_identify(source), [])
        existing = by_form.get(_format_known_keys(source)) or (alike[0] if len(alike) == 1 else {})
        unknown = {key: value for key, value in existing.items() if key not in _ORIGIN.kinds}
        merged.append({**unknown, **source})
    return merged


def _identify(source: Json) -> tuple[str, str]:
    """Return the stream that a source copies from, and the API prefix that it is reached by."""
    return str(source["name"]), str((source.get("external") or {}).get("api") or "")


def _format_known_keys(source: Json) -> str:
    known = {key: value for key, value in source.items() if key in _ORIGIN.kinds}
    return json.dumps(without_empty(known), sort_keys=True)
