"""Random plans over two JetStreams, each reached by several ways: what `diff` accepts, `apply` does, as a
whole; what it refuses changes nothing; and what was said to be lost is what is lost."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from jsctl.jetstream.config.kind import is_server_metadata
from jsctl.jetstream.config.schema import without_metadata
from tests.commands.test_apply_places import WAYS, place
from tests.support import js
from tests.support.declared import Files
from tests.support.run import Cli
from tests.support.servers import HubLeaf
from tests.support.waiting import wait_for

Json = dict[str, Any]
Key = tuple[str, str]
"""A JetStream, and the name of a stream."""

NAMES = "ABC"
KEPT = "KEPT"
_CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "description": st.sampled_from(["one", "two"]),
        "max_msgs": st.sampled_from([2, 9]),
        "max_msgs_per_subject": st.sampled_from([1, 2]),
        "metadata": st.sampled_from([{"team": "a"}, {"team": "b"}]),
        "republish": st.sampled_from([{"src": ">", "dest": "again.>"}, {"src": "*.*", "dest": "again"}]),
        "subject_transform": st.sampled_from([{"src": "", "dest": "x.>"}, {"src": ">", "dest": "x.>"}]),
        "sealed": st.sampled_from([False, False, True]),
        "retention": st.sampled_from(["limits", "interest"]),
        "deny_delete": st.just(True),
    },
)
_CONSUMERS = st.fixed_dictionaries(
    {
        "ack_policy": st.just("explicit"),
        "max_deliver": st.sampled_from([-1, 5]),
    },
).flatmap(
    lambda keys: st.sampled_from(
        [
            keys,
            *(
                {**keys, "priority_policy": policy, "priority_groups": groups}
                for policy in ("overflow", "pinned_client", "prioritized")
                for groups in (["g"], ["h"])
            ),
        ]
    )
)
_EXISTING = st.fixed_dictionaries(
    {
        "retention": st.sampled_from(["limits", "limits", "interest"]),
        "label": st.sampled_from(["l", "l", "other", ""]),
        "sealed": st.sampled_from([False] * 5 + [True]),
        "count": st.integers(0, 4),
        "consumer": st.one_of(st.none(), _CONSUMERS),
        "mirrored": st.sampled_from([False] * 4 + [True]),
    }
)
_DECLARED = st.fixed_dictionaries(
    {
        "keys": _CHANGES,
        "consumers": st.lists(_CONSUMERS, max_size=1),
        "way": st.integers(0, 3),
    }
)


@st.composite
def plans(draw: st.DrawFn) -> tuple[dict[Key, Json], dict[Key, Json]]:
    """Draw what there is, and what is declared: most of it again, some with another name, some new."""
    keys = [(where, name) for where in WAYS for name in NAMES]
    existing = draw(st.dictionaries(st.sampled_from(keys), _EXISTING, min_size=1, max_size=5))
    declared: dict[Key, Json] = {}
    for key in keys:
        match draw(st.sampled_from(["again", "again", "again", "gone", "renamed"])):
            case "again" if key in existing or draw(st.booleans()):
                declared[key] = draw(_DECLARED)
            case "renamed" if key in existing:
                declared[key[0], key[1] * 2] = {**draw(_DECLARED), "renamed_from": key[1]}
    swaps = {where for where in WAYS if draw(st.booleans())}
    for where, name in declared:
        there = [other for at, other in declared if at == where]
        other = there[(there.index(name) + 1) % len(there)] if where in swaps else name
        declared[where, name]["subject"] = subject(where, other[0])
    return existing, declared


def subject(where: str, name: str) -> str:
    return f"{where}.{name}"


class World:
    """Both JetStreams."""

    def __init__(self, hub_leaf: HubLeaf) -> None:
        self.urls = {"hub": hub_leaf.url, "leaf": hub_leaf.leaf.url_for("acc")}
        # See `tests.support.random_streams.Server`.
        for url in self.urls.values():
            js.stream(url, KEPT, "kept")

    def clear(self) -> None:
        for url in self.urls.values():
            for name in {*js.ask(url, "STREAM.NAMES")["streams"]} - {KEPT}:
                js.ask(url, f"STREAM.DELETE.{name}")

    def make(self, key: Key, existing: Json) -> None:
        where, name = key
        url, own = self.urls[where], subject(where, name)
        metadata = {"jsctl.label": existing["label"]} if existing["label"] else {}
        config = {"retention": existing["retention"], "metadata": metadata}
        js.stream(url, name, own, **config)
        if existing["consumer"] is not None:
            consumer = {"durable_name": "C", "metadata": metadata, **existing["consumer"]}
            body = {"stream_name": name, "config": consumer}
            js.ask(url, f"CONSUMER.CREATE.{name}.C", body)
        if existing["count"]:
            js.publish(url, own, count=existing["count"])
        if existing["mirrored"]:
            js.stream(url, f"M{name}", mirror={"name": name})
        if existing["sealed"]:
            config |= {"name": name, "subjects": [own], "sealed": True}
            js.ask(url, f"STREAM.UPDATE.{name}", config)

    def read(self) -> tuple[Json, dict[Key, int]]:
        """Return the configurations, and how many messages there are."""
        configs: Json = {}
        counts: dict[Key, int] = {}
        for where, url in self.urls.items():
            for info in js.ask(url, "STREAM.LIST")["streams"] or []:
                name = info["config"]["name"]
                counts[where, name] = info["state"]["messages"]
                configs[f"{where} {name}"] = without_metadata(info["config"], is_server_metadata)
                for consumer in js.ask(url, f"CONSUMER.LIST.{name}")["consumers"] or []:
                    if not consumer["name"].startswith("JS_"):
                        config = without_metadata(consumer["config"], is_server_metadata)
                        configs[f"{where} {name} {consumer['name']}"] = config
        return configs, counts

    def wait_for_mirrors(self) -> None:
        def are_complete() -> bool:
            for url in self.urls.values():
                infos = {info["config"]["name"]: info for info in js.ask(url, "STREAM.LIST")["streams"] or []}
                for name, info in infos.items():
                    origin = infos.get((info.get("mirror") or {}).get("name", ""))
                    if origin and info["mirror"]["active"] < 0:
                        return False
                    if origin and info["state"]["last_seq"] < origin["state"]["last_seq"]:
                        return False
                    for each in js.ask(url, f"CONSUMER.LIST.{name}")["consumers"] or []:
                        if each["name"].startswith("JS_") and each["num_ack_pending"]:
                            return False
            return True

        wait_for(are_complete, "mirrors are incomplete")


def write(declared: dict[Key, Json]) -> str:
    """Return a file."""
    streams = [
        {
            **place(WAYS[where][one["way"]]),
            "name": name,
            "subjects": [one["subject"]],
            **one["keys"],
            **({"renamed_from": one["renamed_from"]} if "renamed_from" in one else {}),
            "consumers": [{"name": "C", **consumer} for consumer in one["consumers"]],
        }
        for (where, name), one in declared.items()
    ]
    return json.dumps({"label": "l", "streams": streams})


FORCED = "--force --allow-data-loss"


@pytest.mark.slow
@pytest.mark.timeout(7200)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.generate],  # each example takes a second
    report_multiple_bugs=False,
    database=None,
)
@given(
    plan=plans(),
    flags=st.sampled_from(["", "--prune", "--take-ownership", "--prune --take-ownership"]),
)
def test_a_plan(
    pair: Cli,
    hub_leaf: HubLeaf,
    tmp_path: Path,
    plan: tuple[dict[Key, Json], dict[Key, Json]],
    flags: str,
) -> None:
    existing, declared = plan
    world, files = World(hub_leaf), Files(pair, tmp_path)
    try:
        for key, one in existing.items():
            world.make(key, one)
        world.wait_for_mirrors()
        text = write(declared)
        configs, counts = world.read()
        shown = files("diff", text, f"{flags} --json")
        assert world.read() == (configs, counts)
        done = files("apply", text, f"{flags} {FORCED}")
        case = (text, shown, done)
        event(f"apply ends with {done.status}")
        assert (shown.status in (0, 2)) == (done.status == 0), case
        world.wait_for_mirrors()
        after = world.read()
        if done.status:
            assert after == (configs, counts), case
            return
        renamed = {(where, one.get("renamed_from")): (where, name) for (where, name), one in declared.items()}
        lost = 0
        for key, count in counts.items():
            there = key if key in after[1] else renamed.get(key, key)
            lost += max(0, count - after[1].get(there, 0))
        said = count_said(done.err)
        event("loses" if lost else "loses nothing")
        if said is not None:
            number, is_vague = said
            assert lost <= number, (lost, said, counts, after[1], case)
            # Nobody tells what a mirror has acknowledged.
            is_vague |= any(one["mirrored"] for one in existing.values())
            assert is_vague or lost == number, (lost, said, counts, after[1], case)
        settled = files("diff", text, flags)
        assert settled.status == 0, (case, settled)
    finally:
        world.clear()


def count_said(err: str) -> tuple[int, bool] | None:
    """Return how many messages are said to be deleted, and whether it is a maximum; None if it is unknown."""
    lines = [line for line in err.splitlines() if "] this " in line]
    if not lines:
        return 0, False
    (line,) = lines
    if "unknown number" in line or "at least" in line:
        return None
    numbers = re.findall(r"([\d,]+) messages?\b", line)
    return sum(int(number.replace(",", "")) for number in numbers), "up to" in line
