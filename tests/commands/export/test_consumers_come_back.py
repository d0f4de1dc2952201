"""Random consumers that a server holds come back from an export: every key of their configuration."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from jsctl.base.units import DAY, HOUR, MS, SECOND
from jsctl.jetstream.consumer.config import CONSUMER
from tests.support import js
from tests.support.run import Cli

Json = dict[str, Any]

TEXT = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=12)
FILTERS = ["in.a", "in.b.>", "in.c,d", "in.{{e}}"]


def maybe(**values: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    """Each key or not."""
    return st.fixed_dictionaries({}, optional=values)


START: st.SearchStrategy[Json] = st.one_of(
    st.sampled_from(["all", "last", "new"]).map(lambda policy: {"deliver_policy": policy}),
    st.integers(1, 1 << 40).map(
        lambda sequence: {"deliver_policy": "by_start_sequence", "opt_start_seq": sequence}
    ),
    st.just({"deliver_policy": "by_start_time", "opt_start_time": "2026-11-21T06:57:05.000000001Z"}),
    st.just({"deliver_policy": "last_per_subject", "filter_subjects": FILTERS[:2]}),
)
CHOICE: st.SearchStrategy[Json] = st.one_of(
    st.just({}),
    st.sampled_from(FILTERS).map(lambda subject: {"filter_subject": subject}),
    st.lists(st.sampled_from(FILTERS), min_size=2, unique=True).map(lambda some: {"filter_subjects": some}),
)
RETRIES: st.SearchStrategy[Json] = st.one_of(
    maybe(ack_wait=st.integers(MS, DAY), max_deliver=st.integers(1, 9)),
    st.lists(st.integers(MS, HOUR), min_size=1, max_size=4).map(
        lambda waits: {"backoff": waits, "max_deliver": 9}
    ),
)
COMMON = maybe(
    description=TEXT,
    headers_only=st.booleans(),
    max_ack_pending=st.sampled_from([-1, 1, 500]),
    replay_policy=st.sampled_from(["instant", "original"]),
    inactive_threshold=st.integers(HOUR, DAY),
    mem_storage=st.booleans(),
    num_replicas=st.sampled_from([0, 1]),
    metadata=st.dictionaries(TEXT.filter(lambda key: not key.startswith("_nats.")), TEXT, max_size=3),
    sample_freq=st.sampled_from(["1", "100"]),
    pause_until=st.just("2099-01-01T00:00:00.5Z"),
)
PULL = st.tuples(
    maybe(
        max_waiting=st.integers(1, 600),
        max_batch=st.integers(1, 100),
        max_expires=st.integers(MS, HOUR),
        max_bytes=st.integers(1, 1 << 20),
    ),
    st.sampled_from(
        [
            {},
            {"priority_policy": "overflow", "priority_groups": ["g"]},
            {"priority_policy": "prioritized", "priority_groups": ["g"]},
            {"priority_policy": "pinned_client", "priority_groups": ["g"], "priority_timeout": 60 * SECOND},
        ]
    ),
    st.sampled_from(["explicit", "all", "none"]).map(lambda policy: {"ack_policy": policy}),
)
PUSH = st.tuples(
    st.just({"deliver_subject": "out"}),
    maybe(deliver_group=st.just("group"), rate_limit_bps=st.integers(1, 1 << 30)),
    st.sampled_from(
        [
            {},
            {"idle_heartbeat": SECOND},
            {"idle_heartbeat": SECOND, "flow_control": True, "ack_policy": "none"},
        ]
    ),
    st.sampled_from(["explicit", "all", "none", "flow_control"]).map(lambda policy: {"ack_policy": policy}),
)


@st.composite
def consumers(draw: st.DrawFn) -> Json:
    """A configuration that the server takes."""
    config: Json = {}
    for part in (draw(START), draw(COMMON), draw(RETRIES), *draw(st.one_of(PULL, PUSH))):
        config |= part
    if "filter_subjects" not in config:
        config |= draw(CHOICE)
    if config["ack_policy"] == "none":
        config = {
            key: value for key, value in config.items() if key not in ("backoff", "ack_wait", "max_deliver")
        }
        config.pop("max_ack_pending", None)
    if config["ack_policy"] == "flow_control":
        config |= {"idle_heartbeat": SECOND, "flow_control": True, "max_ack_pending": 500}
        config = {
            key: value for key, value in config.items() if key not in ("backoff", "ack_wait", "max_deliver")
        }
    return config


@pytest.fixture
def held(cli: Cli, url: str, tmp_path: Path) -> Iterator[tuple[Cli, str, Path]]:
    yield cli, url, tmp_path


def normal(config: Json) -> Json:
    stripped = CONSUMER.without_server_keys(config)
    stripped["filter_subjects"] = sorted(stripped.get("filter_subjects") or [])
    return {key: value for key, value in stripped.items() if value not in (None, [], {}, "", False, 0)}


@pytest.mark.long
def test_every_key_is_drawn() -> None:
    seen: set[str] = set()

    @given(config=consumers())
    @settings(max_examples=500, deadline=None, phases=[Phase.generate], derandomize=True, database=None)
    def draw(config: Json) -> None:
        seen.update(config)

    draw()
    own = {"name", "durable_name", "direct"}  # direct: of the consumers that servers make
    assert {field.path[0] for field in CONSUMER.fields} - own <= seen


@pytest.mark.slow
@given(configs=st.lists(consumers(), min_size=4, max_size=8))
@settings(
    max_examples=6,
    deadline=None,
    phases=[Phase.generate],
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_consumers_come_back(held: tuple[Cli, str, Path], configs: list[Json]) -> None:
    cli, url, folder = held
    js.stream(url, "S", "in.>")
    for number, config in enumerate(configs):
        name = f"C{number}"
        body = {"stream_name": "S", "config": {"name": name, "durable_name": name, **config}}
        js.ask(url, f"CONSUMER.CREATE.S.{name}", body)
    try:
        before = [
            normal(js.ask(url, f"CONSUMER.INFO.S.C{number}")["config"]) for number in range(len(configs))
        ]
        for form in ("", "--json"):
            file = folder / "all.yaml"
            file.write_text(cli(f"export config {form}", status=0).out)
            assert "Nothing to change" in cli(f"diff -f {file}", status=0).out
        js.ask(url, "STREAM.DELETE.S")
        cli(f"apply -f {file}", status=0)
        assert "Nothing to change" in cli(f"diff -f {file}", status=0).out
        after = [
            normal(js.ask(url, f"CONSUMER.INFO.S.C{number}")["config"]) for number in range(len(configs))
        ]
        assert after == before
    finally:
        js.ask(url, "STREAM.DELETE.S")
