"""Declared keys laid over a live configuration. What a file does not name stays as it is."""

import json
from collections.abc import Mapping
from typing import Any

from jsctl.jetstream.config.differences import filled
from jsctl.jetstream.config.fields import DEFAULTS
from jsctl.jetstream.consumer import config as consumer_config
from jsctl.jetstream.declared.schema import inner_keys, merge
from jsctl.units import SECOND

Json = dict[str, Any]

_CONSUMER_DEFAULTS: Mapping[str, Any] = {"ack_wait": 30 * SECOND, "max_deliver": -1, "max_ack_pending": 1000}
"""What the server makes of 0 (server: setConsumerConfigDefaults)."""


def without_none(config: Json) -> Json:
    """A new configuration: there is nothing to take away from."""
    return merge({}, config)


def over_stream(live: Json, declared: Json) -> Json:
    """The configuration to send. Objects are laid key by key, lists replace lists, None takes away."""
    declared = dict(declared)
    if not declared.get("duplicate_window", True):
        del declared["duplicate_window"]  # 0 leaves it to the server
    made = {**DEFAULTS, **merge(live, declared)}
    if "sources" in declared and made.get("sources"):
        made["sources"] = _sources(live.get("sources") or [], made["sources"])
    window, age = int(made.get("duplicate_window") or 0), int(made["max_age"])
    if "duplicate_window" not in declared and 0 < age < window:
        made["duplicate_window"] = age  # the server wants it to be no longer
    return made


def over_consumer(live: Json, declared: Json) -> Json:
    """Likewise for a consumer."""
    rest = {k: v for k, v in declared.items() if k not in ("filter_subject", "filter_subjects")}
    made = merge(live, rest)
    if len(rest) < len(declared):
        wanted = consumer_config.filters(declared)
        if sorted(wanted) != sorted(consumer_config.filters(live)):
            made = consumer_config.with_filters(made, wanted)
    for key, default in _CONSUMER_DEFAULTS.items():
        if key in declared and not declared[key] and live.get(key):
            made[key] = default
    for key in ("deliver_policy", "ack_policy", "replay_policy", "max_waiting", "name"):
        if not made.get(key) and live.get(key):
            made[key] = live[key]
    if made.get("backoff"):
        made["ack_wait"] = made["backoff"][0]  # the server's doing
    return made


def _sources(live: list[Json], wanted: list[Json]) -> list[Json]:
    """Sources that are there already keep the keys that jsctl has no name for."""
    known = inner_keys("sources")
    by_form = {_form(one, known): one for one in live}
    made = []
    for one in wanted:
        same = by_form.get(_form(one, known)) or {}
        made.append({**{key: value for key, value in same.items() if key not in known}, **one})
    return made


def _form(source: Json, known: frozenset[str]) -> str:
    kept = {key: value for key, value in source.items() if key in known}
    return json.dumps(filled(kept), sort_keys=True)
