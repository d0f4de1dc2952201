"""What servers do not do for the messages that a stream has not received as clients publish them: those of a
restore, of a copy, or of a mirror that is one no longer. Tried on nats-server 2.15.1."""

from collections.abc import Mapping
from typing import Any

from jsctl.base.command_lines import build_line, note_questions
from jsctl.base.units import compute_age, format_exact_duration, pluralize
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.state import is_full
from jsctl.jetstream.stream.config import choose_window

WRONG_SEQUENCES = "once it has refused messages, a mirror stores later ones under wrong sequences"


def warn_of_ids(info: Json) -> list[str]:
    """Return a warning if ids of a stream's messages would still count, but are not known: servers read them
    at a start alone (stream.go, rebuildDedupe). info: of a stream that has just got its messages."""
    window, state = int(info["config"].get("duplicate_window") or 0), info["state"]
    if not state.get("messages") or compute_age(state.get("last_ts"), info.get("ts")) >= window:
        return []
    until = "its server restarts"
    if (info.get("cluster") or {}).get("replicas"):  # which have read them
        until = f"another replica leads it ({build_line('stream cluster step-down', info['config']['name'])})"
    return [
        f"until {until}, the ids of the messages that it holds are not known: what is published again within"
        f" {format_exact_duration(window)} is stored twice"
    ]


def warn_of_schedules(config: Json, *names: str) -> list[str]:
    """Return a warning if schedules fire in several streams. config: of a stream that holds the same messages
    as others. names: of all of them."""
    if not config.get("allow_msg_schedules"):
        return []
    return [f"the schedules among its messages fire in each of {' and '.join(names)}, while they exist"]


async def find_change_warnings(api: Api, info: Json, after: Json) -> list[str]:
    """Return what the server leaves undone when a stream's configuration changes. info: the stream's; after:
    the configuration to send."""
    before, state, name = info["config"], info["state"], str(info["config"]["name"])
    warnings: list[str] = []
    was_mirror = bool(before.get("mirror")) and not after.get("mirror")
    if was_mirror and not before.get("duplicate_window"):
        window = after.get("duplicate_window") or choose_window(int(after.get("max_age") or 0))
        warnings += warn_of_ids({**info, "config": {**after, "duplicate_window": window}})
    if before.get("mirror") and is_full(before, state) and not is_full(after, state):
        line = build_line("stream copy", name, f"{name}_NEW", flags=["--discard", "old"])
        warnings.append(f"{WRONG_SEQUENCES}; make the copy anew: {line}")
    allows = after.get("allow_msg_schedules") and not before.get("allow_msg_schedules")
    if allows and state.get("messages"):
        line = build_line("stream copy", name, f"{name}_NEW", flags=["--data"])
        warnings.append(
            "schedules that it holds already, as a mirror may, never fire; they do in a copy made afterwards:"
            f" {line}"
        )
    return [*warnings, *await _warn_of_replicas(api, info, after)]


async def _warn_of_replicas(api: Api, info: Json, after: Mapping[str, Any]) -> list[str]:
    """Return which consumers get fewer replicas with the stream, and which do not follow when it gets more
    (nats-server: jetstream_cluster.go): those that have a number of their own."""
    name, count = str(info["config"]["name"]), int(after.get("num_replicas") or 1)
    present = int(info["config"].get("num_replicas") or 1)
    if count == present or not info["state"].get("consumer_count"):
        return []
    try:
        infos = (await consumers.list_consumers(api, name)).infos
    except JsctlError:
        return ["its consumers could not be listed: those with a number of replicas may not follow"]
    own = {str(one["name"]): int(one["config"].get("num_replicas") or 0) for one in infos}
    if count < present:
        lowered = sorted(consumer for consumer, number in own.items() if number > count)
        text = f"gets {pluralize(count, 'replica')}, too, and keeps that when the stream gets more again"
        return [f"consumer {consumer} {text}" for consumer in lowered]
    behind = sorted(consumer for consumer, number in own.items() if 0 < number < count)
    flags = ["--replicas", str(count)]
    return [
        note_questions(
            f"consumer {consumer} stays at {pluralize(own[consumer], 'replica')}; change that, too:"
            f" {build_line('consumer edit', name, consumer, flags=flags)}"
        )
        for consumer in behind
    ]
