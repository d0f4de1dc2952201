"""What a file leaves out stays what the server makes of it: random configurations that raw requests created
are the same again after `export config` and `apply`, and after `info --json` and `add --config`."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from jsctl.base.units import DAY, SECOND
from jsctl.jetstream.config.kind import is_server_metadata
from jsctl.jetstream.config.schema import without_metadata
from tests.jetstream.config.test_properties import KEY, TEXT, maybe, streams
from tests.support.random_streams import Server
from tests.support.run import Cli

Json = dict[str, Any]

_RANDOM = settings(
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    report_multiple_bugs=False,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(7200)]


def bare(config: Json) -> Json:
    """Return a configuration without what the server writes into its metadata and without the year 1, at
    which nothing is paused, in an order of its own."""
    result = {key: value for key, value in config.items() if value != "0001-01-01T00:00:00Z"}
    result = without_metadata(result, is_server_metadata)
    if result.get("sources"):
        result["sources"] = sorted(result["sources"], key=lambda one: json.dumps(one, sort_keys=True))
    return result


ZEROS = maybe(
    **dict.fromkeys(
        ("max_msgs", "max_bytes", "max_msgs_per_subject", "max_consumers", "max_msg_size", "max_age"),
        st.just(0),
    ),
    num_replicas=st.just(0),
    duplicate_window=st.just(0),
    first_seq=st.just(0),
)
"""What servers take for no limit, or for their default."""


@st.composite
def requested(draw: st.DrawFn) -> Json:
    """Draw the configuration of a stream as somebody may send it: with zeros, and without what is assumed."""
    config = draw(streams())
    zeros = draw(ZEROS)
    if config.get("discard_new_per_subject"):
        zeros.pop("max_msgs_per_subject", None)
    leaves_out = draw(st.sets(st.sampled_from(["storage", "retention", "discard", "num_replicas"])))
    if {"discard_new_per_subject", "persist_mode"} & config.keys():
        leaves_out -= {"storage", "discard"}
    return {key: value for key, value in {**config, **zeros}.items() if key not in leaves_out}


@_RANDOM
@given(config=requested(), name=st.sampled_from(["R", "R", "KV_R", "OBJ_R"]))
def test_streams(cli: Cli, server: Server, tmp_path: Path, config: Json, name: str) -> None:
    """A stream may have the name of a bucket without being like one."""
    try:
        raw = bare(server.ask(f"STREAM.CREATE.{name}", {**config, "name": name})["config"])
        exported, info = tmp_path / "exported.yaml", tmp_path / "info.json"
        exported.write_text(cli("export config --all", status=0).out)
        info.write_text(cli(f"stream info {name} --json", status=0).out)
        for line in (f"apply -f {exported}", f"stream add --config {info}"):
            server.clear()
            for _ in range(2):  # the same again changes nothing
                cli(line, status=0)
                assert bare(server.ask(f"STREAM.INFO.{name}")["config"]) == raw, line
    finally:
        server.clear()
        (tmp_path / "exported.yaml").unlink(missing_ok=True)


@_RANDOM
@given(config=requested())
def test_a_file_is_what_is_sent(cli: Cli, server: Server, tmp_path: Path, config: Json) -> None:
    """The reference sends a file as it is; a script that both run finds the same stream."""
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config))
    try:
        raw = bare(server.ask("STREAM.CREATE.R", config)["config"])
        cli(f"stream add R --config {file}", status=0)
        server.clear()
        cli(f"stream add R --config {file}", status=0)
        assert bare(server.ask("STREAM.INFO.R")["config"]) == raw
        server.ask("STREAM.CREATE.R", config)
        file.write_text(json.dumps({"streams": [config]}))
        assert "Nothing to change" in cli(f"diff -f {file}", status=0).out
        server.clear()
        cli(f"apply -f {file}", status=0)
        assert bare(server.ask("STREAM.INFO.R")["config"]) == raw
    finally:
        server.clear()


SPAN = st.integers(SECOND, DAY)
COMMON = maybe(
    description=TEXT,
    deliver_policy=st.sampled_from(
        ["all", "last", "new", "by_start_sequence", "by_start_time", "last_per_subject"]
    ),
    ack_policy=st.sampled_from(["none", "all", "explicit", "flow_control"]),
    ack_wait=st.one_of(st.just(0), SPAN),
    max_deliver=st.sampled_from([-1, 0, 4, 9]),
    backoff=st.lists(SPAN, max_size=3),
    filter_subject=st.sampled_from(["", "s.a", "s.>"]),
    filter_subjects=st.sampled_from([[], ["s.a"], ["s.a", "s.b"]]),
    replay_policy=st.sampled_from(["instant", "original"]),
    sample_freq=st.sampled_from(["100", "30%"]),
    max_ack_pending=st.sampled_from([-1, 0, 10]),
    headers_only=st.booleans(),
    inactive_threshold=st.one_of(st.just(0), SPAN),
    num_replicas=st.sampled_from([0, 1]),
    mem_storage=st.booleans(),
    metadata=st.dictionaries(KEY, TEXT, max_size=3),
    pause_until=st.sampled_from(["2099-01-02T03:04:05Z", "0001-01-01T00:00:00Z"]),
    deliver_group=st.sampled_from(["", "group"]),
    max_batch=st.integers(0, 600),
    max_expires=st.one_of(st.just(0), SPAN),
    max_bytes=st.integers(0, 1 << 20),
)
PULL = maybe(
    max_waiting=st.integers(0, 600),
    priority_policy=st.sampled_from(["none", "overflow", "pinned_client", "prioritized"]),
    priority_timeout=st.one_of(st.just(0), SPAN),
)
PUSH = maybe(
    idle_heartbeat=SPAN,
    flow_control=st.booleans(),
    rate_limit_bps=st.integers(0, 1 << 30),
    deliver_subject=st.just("to.here"),
).map(lambda push: {"deliver_subject": "to.here", **push})


@st.composite
def consumers(draw: st.DrawFn) -> Json:
    """Draw the configuration of a consumer that the server takes, with some keys that it ignores."""
    config: Json = {"name": "C", "durable_name": "C", **draw(COMMON), **draw(st.one_of(PULL, PUSH))}

    def drop(*keys: str) -> None:
        for key in keys:
            config.pop(key, None)

    policy, acks = config.get("deliver_policy"), config.get("ack_policy", "none")
    is_push = "deliver_subject" in config
    if config.get("filter_subjects"):
        drop("filter_subject")
    if policy == "last_per_subject" and not config.get("filter_subjects"):
        config["filter_subject"] = "s.>"
    if policy == "by_start_sequence":
        config["opt_start_seq"] = draw(st.integers(1, 100))
    if policy == "by_start_time":
        config["opt_start_time"] = "2026-11-21T06:57:05.000000001Z"
    if acks == "flow_control" and not is_push:
        config["ack_policy"] = acks = "all"
    if acks == "flow_control":
        drop("ack_wait", "backoff", "max_deliver")
        config |= {"flow_control": True, "idle_heartbeat": SECOND, "max_ack_pending": 10}
    if acks == "none" and is_push:
        drop("max_ack_pending")
    waits = config.get("backoff")
    if waits and len(waits) > config.get("max_deliver", 0) > 0:
        config["max_deliver"] = len(waits)
    if waits and config.get("ack_wait"):  # the server takes no other
        config["ack_wait"] = waits[0]
    if config.get("flow_control"):
        config.setdefault("idle_heartbeat", SECOND)
    if config.get("priority_policy", "none") == "none":
        drop("priority_timeout")
    else:
        config["priority_groups"] = ["g"]
    return config


@_RANDOM
@given(config=consumers())
def test_consumers(cli: Cli, server: Server, tmp_path: Path, config: Json) -> None:
    stream = {"name": "R", "subjects": ["s.>"]}
    try:
        server.ask("STREAM.CREATE.R", stream)
        raw = bare(make(server, config)["config"])
        exported, info, file = tmp_path / "exported.yaml", tmp_path / "info.json", tmp_path / "config.json"
        whole = tmp_path / "whole.json"
        whole.write_text(json.dumps({**config, "stream_name": "R"}))
        exported.write_text(cli("export config", status=0).out)
        info.write_text(cli("consumer info R C --json", status=0).out)
        file.write_text(json.dumps(config))
        for line in (
            f"apply -f {exported}",
            f"consumer add R C --config {info}",
            f"consumer add R --config {file}",
            f"consumer add --config {whole}",
        ):
            server.clear()
            server.ask("STREAM.CREATE.R", stream)
            cli(line, status=0)
            assert bare(server.ask("CONSUMER.INFO.R.C")["config"]) == raw, line
            cli(line, status=0)
            assert bare(server.ask("CONSUMER.INFO.R.C")["config"]) == raw, line
    finally:
        server.clear()


def make(server: Server, config: Json) -> Json:
    subject = "CONSUMER.CREATE.R.C" + (f".{config['filter_subject']}" if config.get("filter_subject") else "")
    return server.ask(subject, {"stream_name": "R", "config": config, "action": "create"})


WITH_FLAGS = [
    "--max-age 1h --max-msgs 7",
    "--retention interest --storage memory",
    "--source A --source B",
    "--discard new --allow-rollup --dupe-window 30s",
    "--subject-del-markers-ttl 1m",
]


@pytest.mark.parametrize("flags", WITH_FLAGS)
def test_output_is_json_with_all_keys_that_makes_the_same_stream(
    cli: Cli, server: Server, tmp_path: Path, flags: str
) -> None:
    file, line = tmp_path / "s.json", f"stream add R --subjects r {flags} --defaults"
    written = cli(f"{line} --output {file}", status=0)
    assert (written.out, written.err) == ("", "")
    config = json.loads(file.read_text())
    assert json.loads(cli(f"{line} --output -", status=0).out) == config
    assert cli(f"{line} --output {file} --json", status=0).json == config
    keys = {"allow_rollup_hdrs", "deny_delete", "deny_purge", "sealed", "mirror_direct", "consumer_limits"}
    assert keys | {"allow_direct", "duplicate_window", "max_msgs"} <= config.keys()
    cli(line, status=0)
    raw = bare(server.ask("STREAM.INFO.R")["config"])
    assert config.keys() <= raw.keys() | {"subject_delete_marker_ttl"}, "no key that the server does not have"
    cli(f"stream add --config {file}", status=0)  # it is there, and the same
    server.clear()
    cli(f"stream add --config {file}", status=0)
    assert bare(server.ask("STREAM.INFO.R")["config"]) == raw


def test_output_of_a_consumer(cli: Cli, server: Server, tmp_path: Path) -> None:
    file, line = tmp_path / "c.json", "consumer add R C --pull --filter s.a --sample 10 --defaults"
    server.ask("STREAM.CREATE.R", {"name": "R", "subjects": ["s.>"]})
    written = cli(f"{line} --output {file}", status=0)
    assert (written.out, written.err) == ("", "")
    assert json.loads(file.read_text()).items() >= {"max_deliver": -1, "num_replicas": 0}.items()
    cli(line, status=0)
    raw = bare(server.ask("CONSUMER.INFO.R.C")["config"])
    server.ask("CONSUMER.DELETE.R.C")
    cli(f"consumer add R --config {file}", status=0)
    assert bare(server.ask("CONSUMER.INFO.R.C")["config"]) == raw


def test_a_declared_consumer_without_ack_policy_is_warned_about(cli: Cli, url: str, tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("streams: [{name: S, subjects: s, consumers: [{name: C}]}]")
    assert "warning: " in (applied := cli(f"apply -f {file}", status=0)).err
    assert "consumer S > C: ack_policy is left out, and the server takes none" in applied.err
    assert cli(f"apply -f {file}", status=0).err == ""
