"""What `diff` accepts, `apply` does, as a whole; what it refuses is refused, and nothing is changed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from jsctl.jetstream.config.kind import is_server_metadata
from jsctl.jetstream.config.schema import without_metadata
from tests.support import js
from tests.support.declared import Files
from tests.support.run import Cli
from tests.support.servers import AccountServers, Cluster

Json = dict[str, Any]

SUBJECTS = ["a", "a.b", "a.>", "b.*", "b.c", "*.d", ">", "$JS.API.>", "$SYS.x", "$KV.x.>", "e", "e"]
NAMES = ["A", "B", "C"]

STREAM_KEYS: Mapping[str, st.SearchStrategy[Any]] = {
    "retention": st.sampled_from(["limits", "interest", "workqueue"]),
    "storage": st.sampled_from(["file", "memory"]),
    "discard": st.sampled_from(["old", "new"]),
    "max_msgs": st.sampled_from([0, 10]),
    "max_msgs_per_subject": st.sampled_from([0, 1]),
    "max_bytes": st.sampled_from([1000, 10**9]),
    "max_age": st.sampled_from(["50ms", "1h"]),
    "duplicate_window": st.sampled_from(["0s", "50ms", "2m"]),
    "max_consumers": st.sampled_from([1, 2]),
    "consumer_limits": st.fixed_dictionaries({"max_ack_pending": st.sampled_from([10, 2000])}),
    "republish": st.fixed_dictionaries(
        {"dest": st.sampled_from(["r.>", "a.>", ">", "r"])}, optional={"src": st.sampled_from([">", "a.*"])}
    ),
    "subject_transform": st.fixed_dictionaries(
        {
            "src": st.sampled_from(["a.*", ">", "a"]),
            "dest": st.sampled_from(["x.{{wildcard(1)}}", "x.>", "x.{{wildcard(3)}}"]),
        }
    ),
    "description": st.sampled_from(["short", "x" * 5000]),
    "metadata": st.sampled_from([{"a": "b"}, {"a": "x" * 140_000}]),
    "persist_mode": st.sampled_from(["async", "default"]),
    "subject_delete_marker_ttl": st.sampled_from(["100ms", "10s"]),
    "num_replicas": st.sampled_from([1, 1, 3]),
    **dict.fromkeys(
        (
            *("allow_rollup_hdrs", "deny_delete", "deny_purge", "no_ack", "allow_msg_ttl", "allow_atomic"),
            *("allow_msg_counter", "allow_msg_schedules", "discard_new_per_subject", "allow_direct"),
        ),
        st.booleans(),
    ),
}
CONSUMER_KEYS: Mapping[str, st.SearchStrategy[Any]] = {
    "ack_policy": st.sampled_from(["none", "all", "explicit"]),
    "deliver_policy": st.sampled_from(["all", "new", "last", "by_start_sequence"]),
    "opt_start_seq": st.sampled_from([1, 5]),
    "filter_subject": st.sampled_from([*SUBJECTS, "zz"]),
    "deliver_subject": st.sampled_from(["out", "a.b", "x.>"]),
    "idle_heartbeat": st.sampled_from(["50ms", "5s"]),
    "flow_control": st.booleans(),
    "max_ack_pending": st.sampled_from([5, 100, -1]),
    "max_deliver": st.sampled_from([1, 3]),
    "backoff": st.just(["1s", "2s"]),
    "inactive_threshold": st.sampled_from(["1h"]),
    "priority_groups": st.sampled_from([["g"], ["g h"], ["g" * 20]]),
    "priority_policy": st.sampled_from(["overflow", "pinned_client"]),
    "num_replicas": st.sampled_from([0, 1, 3]),
    "mem_storage": st.booleans(),
    "description": st.sampled_from(["short", "x" * 5000]),
}


def some(keys: Mapping[str, st.SearchStrategy[Any]], most: int) -> st.SearchStrategy[Json]:
    """A few of the keys."""
    return st.lists(st.sampled_from(sorted(keys)), max_size=most, unique=True).flatmap(
        lambda chosen: st.fixed_dictionaries({key: keys[key] for key in chosen})
    )


@st.composite
def streams(draw: st.DrawFn, name: str) -> Json:
    config = {"name": name, **draw(some(STREAM_KEYS, 4))}
    origin = st.fixed_dictionaries(
        {"name": st.sampled_from([*NAMES, "NONE"])},
        optional={"filter_subject": st.sampled_from(SUBJECTS), "external": st.just({"api": "$JS.far.API"})},
    )
    match draw(st.sampled_from(["subjects", "subjects", "subjects", "mirror", "sources"])):
        case "mirror":
            config["mirror"] = draw(origin)
        case "sources":
            config["sources"] = draw(st.lists(origin, min_size=1, max_size=2))
        case _:
            config["subjects"] = draw(st.lists(st.sampled_from(SUBJECTS), min_size=1, max_size=2))
    consumers = draw(st.lists(some(CONSUMER_KEYS, 3), max_size=2))
    config["consumers"] = [{"name": f"C{number}", **keys} for number, keys in enumerate(consumers)]
    return config


@st.composite
def files_(draw: st.DrawFn) -> str:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1))
    return json.dumps({"label": "l", "streams": [draw(streams(name)) for name in names]})


def state(url: str) -> Json:
    """Return the configurations of all streams and consumers."""
    found: Json = {}
    for info in js.ask(url, "STREAM.LIST")["streams"] or []:
        name = info["config"]["name"]
        found[name] = without_metadata(info["config"], is_server_metadata)
        for consumer in js.ask(url, f"CONSUMER.LIST.{name}")["consumers"] or []:
            found[f"{name} > {consumer['name']}"] = without_metadata(consumer["config"], is_server_metadata)
    return found


KEYS = {
    "replicas": "num_replicas",
    "ttl": "max_age",
    "compress": "compression",
    "history": "max_msgs_per_subject",
}
FORCED = "--force --allow-data-loss"
SETTINGS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def check(files: Files, url: str, before: str, after: str, prune: str) -> None:
    """Apply a file, and then another one."""
    files.cli.environ["NATS_URL"] = url
    files("apply", before, FORCED)
    was = state(url)
    accepted = files("diff", after, prune)
    applied = files("apply", after, f"{prune} {FORCED}")
    event(f"apply ends with {applied.status}")
    case = (before, after, accepted, applied)
    assert (accepted.status in (0, 2)) == (applied.status == 0), case
    if applied.status:
        assert state(url) == was, case
        # It is the server that refuses it: without a trial before, it is taken back.
        files.cli.environ["JSCTL_NATS_SERVER"] = str(files.path.parent / "none")
        untried = files("apply", after, f"{prune} {FORCED}")
        del files.cli.environ["JSCTL_NATS_SERVER"]
        assert untried.status, case
        assert state(url) == was, (case, untried)
    else:
        settled = files("diff", after, prune)
        assert settled.status == 0, (case, settled)


@pytest.mark.slow
@SETTINGS
@given(before=files_(), after=files_(), prune=st.sampled_from(["", "--prune"]))
def test_diff_accepts_what_apply_does(
    offline_cli: Cli, account_servers: AccountServers, tmp_path: Path, before: str, after: str, prune: str
) -> None:
    check(Files(offline_cli, tmp_path), account_servers.new_account().url, before, after, prune)


@pytest.mark.cluster
@settings(SETTINGS, max_examples=15)
@given(before=files_(), after=files_())
def test_in_a_cluster(
    cluster_cli: Cli, shared_cluster: Cluster, tmp_path: Path, before: str, after: str
) -> None:
    for name in js.ask_patiently(shared_cluster.url, "STREAM.NAMES")["streams"] or []:
        js.ask_patiently(shared_cluster.url, f"STREAM.DELETE.{name}")
    check(Files(cluster_cli, tmp_path), shared_cluster.url, before, after, "")


_OF_BUCKETS = {
    "replicas": st.sampled_from([1, 3]),
    "ttl": st.sampled_from(["1h", "2h"]),
    "description": st.sampled_from(["short", "other"]),
    "compress": st.booleans(),
}
CHANGEABLE: Mapping[str, Mapping[str, st.SearchStrategy[Any]]] = {
    "streams": {
        "num_replicas": st.sampled_from([1, 3]),
        "max_age": st.sampled_from(["1h", "2h"]),
        "description": st.sampled_from(["short", "other"]),
        "subjects": st.sampled_from(["b", "c"]),
    },
    "buckets": {**_OF_BUCKETS, "history": st.sampled_from([1, 5])},
    "object_buckets": _OF_BUCKETS,
}


@st.composite
def changeable(draw: st.DrawFn) -> str:
    """A file that any other of them may follow."""
    kinds = CHANGEABLE.items()
    return json.dumps({kind: [{"name": "B", **draw(some(keys, 3))}] for kind, keys in kinds})


@pytest.mark.cluster
@settings(SETTINGS, max_examples=15)
@given(before=changeable(), after=changeable())
def test_what_a_file_says_is_there(
    cluster_cli: Cli, shared_cluster: Cluster, tmp_path: Path, before: str, after: str
) -> None:
    """Whatever was there before: what a file changes becomes what it would be if nothing had been there."""
    files, found = Files(cluster_cli, tmp_path), []
    for texts in ((before, after), (after,)):
        for name in js.ask_patiently(shared_cluster.url, "STREAM.NAMES")["streams"] or []:
            js.ask_patiently(shared_cluster.url, f"STREAM.DELETE.{name}")
        for text in texts:
            files("apply", text, FORCED, status=0)
        found.append(state(shared_cluster.url))
    changed, fresh = found
    for kind, name in (("streams", "B"), ("buckets", "KV_B"), ("object_buckets", "OBJ_B")):
        for key in json.loads(after)[kind][0].keys() - {"name"}:
            live = KEYS.get(key, key)
            assert changed[name].get(live) == fresh[name].get(live), (before, after, key)
