"""A plan is tried on a server of our own: what it refuses is known before anything is changed."""

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.jetstream.declared.trial import compute_shape
from tests.support import js
from tests.support.declared import Files
from tests.support.run import Cli
from tests.support.servers import Cluster, RealServer, binary
from tests.support.waiting import wait_for

WORK = "retention: workqueue, "
PULL = "{name: C, filter_subject: a.b}"
REFUSED = {
    "two unfiltered consumers of a work queue": WORK + "consumers: [{name: C}, {name: D}]",
    "no acks in a work queue": WORK + "consumers: [{name: C, ack_policy: none}]",
    "only new messages of a work queue": WORK + "consumers: [{name: C, deliver_policy: new}]",
    "more consumers than the stream may have": "max_consumers: 1, consumers: [{name: C}, {name: D}]",
    "more pending acks than the stream allows": "consumer_limits: {max_ack_pending: 5}, "
    "consumers: [{name: C, max_ack_pending: 9}]",
    "delivery into the stream itself": "consumers: [{name: C, deliver_subject: a.b}]",
    "a sequence without its policy": "consumers: [{name: C, opt_start_seq: 7}]",
    "a short heartbeat": "consumers: [{name: C, deliver_subject: d, idle_heartbeat: 50ms}]",
    "a group with a blank": "consumers: [{name: C, priority_policy: overflow, priority_groups: ['a b']}]",
    "an index out of range": "subject_transform: {src: a.*, dest: 'x.{{wildcard(3)}}'}",
    "a source twice": "subjects: null, sources: [ORIGIN, ORIGIN]",
    "a mirror with atomic batches": "subjects: null, mirror: ORIGIN, allow_atomic: true",
    "republishing to itself": "republish: {src: '>', dest: a.again}",
    "a counter that refuses messages": "allow_msg_counter: true, discard: new",
    "a short life of markers": "subject_delete_marker_ttl: 500ms",
    "asynchronous writes of atomic batches": "persist_mode: async, allow_atomic: true",
    "JetStream's own subjects": "subjects: ['$JS.API.>']",
    "the system's own subjects": "subjects: ['$SYS.>']",
    "a long description": f"description: {'x' * 5000}",
    "large metadata": f"metadata: {{a: {'x' * 140_000}}}",
}
"""What a server refuses of a stream S with subjects a.>, which has nothing wrong otherwise."""


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize("keys", REFUSED.values(), ids=REFUSED.keys())
def test_what_only_a_server_knows(files: Files, url: str, keys: str, exists: bool) -> None:
    js.stream(url, "ORIGIN", "origin")
    if exists:
        js.stream(url, "S", "a.>", retention="workqueue" if keys.startswith(WORK) else "limits")
    subjects = "" if "subjects:" in keys else "subjects: a.>, "
    text = f"streams:\n- {{name: OTHER, subjects: other}}\n- {{name: S, {subjects}{keys}}}\n"
    shown = files("diff", text, status=1)
    assert "  (" in shown.out or "the server refuses it: " in shown.out
    before = js.ask(url, "STREAM.LIST")["streams"]
    refused = files("apply", text, "--force", status=1)
    assert "nothing was changed" in refused.err and "streams.yaml:3: " in refused.err
    after = js.ask(url, "STREAM.LIST")["streams"]
    assert [info["config"] for info in after] == [info["config"] for info in before]


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("subjects: a, persist_mode: async", "persist_mode: async is for streams with one replica"),
        ("subjects: '>', no_ack: true", "subjects: > is for streams with one replica"),
        (
            "subjects: a, retention: interest, consumers: [{name: C, num_replicas: 1}]",
            "num_replicas: must be that of its stream, 3, with interest retention",
        ),
        ("subjects: a, consumers: [{name: C, num_replicas: 5}]", "num_replicas: is more than the 3 of its"),
        ("subjects: a, consumers: [{name: C, num_replicas: 1}]", ""),
        ("subjects: a, retention: interest, consumers: [{name: C, num_replicas: 3}]", ""),
    ],
)
def test_replicas_are_not_tried(cluster_cli: Cli, tmp_path: Path, keys: str, words: str) -> None:
    files = Files(cluster_cli, tmp_path)
    text = f"streams: [{{name: S, num_replicas: 3, {keys}}}]"
    assert words in files("apply", text, status=int(bool(words))).err
    # The servers say the same.
    untried = files("apply", text, environ={"JSCTL_NATS_SERVER": str(tmp_path / "none")})
    assert untried.status == int(bool(words)), untried


@pytest.mark.cluster
@pytest.mark.parametrize(("kind", "stream"), [("buckets", "KV_B"), ("object_buckets", "OBJ_B")])
def test_replicas_of_buckets_are_not_tried(
    cluster_cli: Cli, shared_cluster: Cluster, tmp_path: Path, kind: str, stream: str
) -> None:
    """A bucket calls its keys otherwise than its stream, and the trial knows both."""
    files = Files(cluster_cli, tmp_path)
    for replicas in (1, 3, 1):
        text = f"{kind}: [{{name: B, replicas: {replicas}}}]"
        files("apply", text, "--wait 30s", status=0)
        info = js.ask_patiently(shared_cluster.url, f"STREAM.INFO.{stream}")
        assert info["config"]["num_replicas"] == replicas
        assert "server keeps it" not in files("diff", text, status=0).out


@pytest.mark.parametrize("exists", [False, True])
def test_values_that_do_not_fit(files: Files, url: str, exists: bool) -> None:
    """A value that is too long for its bucket, and more than it has room for, are known beforehand."""
    limits = "name: B, max_value_size: 100, max_bucket_size: 1000, "
    if exists:
        files("apply", f"buckets: [{{{limits} values: {{a: old}}}}]", status=0)
    names = js.ask(url, "STREAM.NAMES")["total"]
    for values, words in [
        (f"a: '1', long: '{'x' * 120}'", "message size exceeds maximum allowed (10054)"),
        (", ".join(f"k{n}: '1'" for n in range(20)), "maximum bytes exceeded (10077)"),
    ]:
        text = f"streams: [{{name: S, subjects: s}}]\nbuckets:\n- {{{limits} values: {{{values}}}}}"
        assert words in files("diff", text, status=1).out
        refused = files("apply", text, status=1)
        assert f"streams.yaml:3: values of bucket B: {words}; correct the file" in refused.err
    assert js.ask(url, "STREAM.NAMES")["total"] == names


def test_it_is_one_consumer_of_many(files: Files, url: str) -> None:
    js.stream(url, "Q", "a", "b", retention="workqueue")
    js.ask(
        url,
        "CONSUMER.DURABLE.CREATE.Q.THERE",
        {
            "stream_name": "Q",
            "config": {"durable_name": "THERE", "ack_policy": "explicit", "filter_subject": "a"},
        },
    )
    text = "streams: [{name: Q, consumers: [{name: C, ack_policy: explicit, filter_subject: %s}]}]"
    assert "filtered consumer not unique" in files("diff", text % "a", status=1).out
    files("apply", text % "b", status=0)


def several(count: int, size: str) -> str:
    return ", ".join(f"{{name: S{n}, subjects: s{n}, max_bytes: {size}}}" for n in range(count))


def test_filters_that_a_server_does_not_take_back(files: Files, url: str) -> None:
    """Of a work queue, it takes other filters of a consumer that overlap, but not the way back."""
    js.stream(url, "S", "s.>", retention="workqueue")
    for name, subject in (("A", "s.*"), ("C", "s.*.x")):
        config = {"durable_name": name, "ack_policy": "explicit", "filter_subject": subject}
        js.ask(url, f"CONSUMER.CREATE.S.{name}.{subject}", {"stream_name": "S", "config": config})
    text = (
        "streams:\n- name: S\n  retention: limits\n  description: d\n  consumers:\n"
        "  - {name: A, filter_subjects: [s.a, s.b.>]}\n  - {name: C, filter_subjects: []}\n"
    )
    shown = files("diff", text, status=1)
    assert "can not change retention policy" in shown.out
    assert "not tried" not in shown.err


def test_the_limits_of_an_account(offline_cli: Cli, tmp_path: Path) -> None:
    config = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
accounts { A: { users: [{user: a, password: a}], jetstream: {
  max_streams: 2, max_file: 10MB, max_consumers: 1, max_ack_pending: 50,
  disk_max_stream_bytes: 5MB, max_bytes_required: true } } }
"""
    server = RealServer(tmp_path, config).start()
    try:
        files = Files(offline_cli, tmp_path)
        files.cli.environ["NATS_URL"] = server.url_for("a")
        small = "{name: S, subjects: a, max_bytes: 1MB, consumers: [%s]}"
        pairs = [
            ("{name: S, subjects: a}", "account requires a stream config to have max bytes set"),
            ("{name: S, subjects: a, max_bytes: 6MB}", "stream max bytes exceeds account limit"),
            (small % "{name: C}, {name: D}", "maximum consumers"),
            (small % "{name: C, max_ack_pending: 90}", "ack pending"),
            (several(3, "4MB"), "2 streams"),
            (several(2, "5MB"), ""),
        ]
        for text, words in pairs:
            shown = files("diff", f"streams: [{text}]", status=1 if words else 2)
            assert words in shown.out, shown
            files("apply", f"streams: [{text}]", status=int(bool(words)))
        files("apply", f"streams: [{several(2, '2MB')}]", "--force", status=0)
        raised = files("diff", "streams: [{name: S0, max_bytes: 6MB}]", status=1)
        assert "stream max bytes exceeds account limit" in raised.out
        files("apply", "streams: [{name: S0, max_bytes: 5MB}]", "--force", status=0)
    finally:
        server.stop()


def wrap(folder: Path, version: str) -> str:
    """Return the path of a server that says it has another version."""
    script = folder / "nats-server"
    script.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo "nats-server: v{version}" && exit\nexec {binary()} "$@"\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return str(script)


def test_what_cannot_be_tried_is_said(files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    text = "streams: [{name: S, subjects: a, max_age: 1ms}]"
    older = files("diff", text, environ={"JSCTL_NATS_SERVER": wrap(tmp_path, "2.9.1")}, status=2)
    assert "may not accept it: max age needs to be >= 100ms (10052), says nats-server 2.9.1" in older.err
    none = files("diff", text, environ={"JSCTL_NATS_SERVER": str(tmp_path / "nothing")}, status=2)
    assert "warning: what the servers accept was not tried beforehand: JSCTL_NATS_SERVER is" in none.err
    broken = tmp_path / "broken"
    broken.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo "nats-server: v2.15.1" && exit\necho no; exit 3\n'
    )
    broken.chmod(0o755)
    ended = files("diff", text, environ={"JSCTL_NATS_SERVER": str(broken)}, status=2)
    assert "was not tried beforehand: nats-server does not start: no" in ended.err
    assert not list(tmp_path.glob("jsctl-trial-*/log"))


WAITING = """
import asyncio, os, sys
from jsctl.localserver.binary import find
from jsctl.localserver.scratch import open_scratch_server

async def wait():
    async with open_scratch_server(find(os.environ), {"A": {}}, os.environ) as logins:
        print(logins["A"].url, flush=True)
        await asyncio.sleep(60)

asyncio.run(wait())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_of_it(tmp_path: Path, number: signal.Signals) -> None:
    environ = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", WAITING], stdout=subprocess.PIPE, env=environ) as process:
        assert process.stdout
        url = process.stdout.readline().decode().strip()
        (folder,) = tmp_path.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700 and url.startswith("nats://127.0.0.1:")
        process.send_signal(number)

    def listens() -> bool:
        try:
            return bool(js.ask(url, "INFO", timeout=1)) or True
        except Exception as error:
            return "refused" not in str(error)

    wait_for(lambda: not listens() and not list(tmp_path.iterdir()), "the server is gone with its folder")


WORDS = ["a", "b", "*", ">", "$JS", "_x", "a b"]
SUBJECT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(".".join)
CONFIG: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"name": st.sampled_from(["a", "b", "S"]), "subjects": st.lists(SUBJECT, max_size=3)},
    optional={
        "republish": st.fixed_dictionaries({"src": SUBJECT, "dest": SUBJECT}),
        "max_msgs": st.integers(0, 2),
        "description": st.text("xy", max_size=3),
        "retention": st.sampled_from(["limits", "interest"]),
    },
)


@given(CONFIG, st.permutations(["a", "b", "S", "other", "9"]))
def test_other_words_are_the_same_shape(config: dict[str, Any], words: list[str]) -> None:
    names = dict(zip(["a", "b", "S"], words, strict=False))

    def rename(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: value if key in ("description", "retention") else rename(value)
                for key, value in value.items()
            }
        if isinstance(value, list):
            return [rename(item) for item in value]
        return (
            ".".join(names.get(token, token) for token in value.split("."))
            if isinstance(value, str)
            else value
        )

    assert compute_shape([config]) == compute_shape([rename(config)])


@given(CONFIG, CONFIG)
def test_another_shape_differs_in_more_than_words(one: dict[str, Any], two: dict[str, Any]) -> None:
    if compute_shape([one]) == compute_shape([two]):
        texts = (json.dumps(each, sort_keys=True) for each in (one, two))
        first, second = (text.translate(str.maketrans("abSxy", "-----")) for text in texts)
        assert first == second
