"""What the files of `apply` may say, and what is said of those that hardly mean it."""

import os
from pathlib import Path

import pytest

from tests.support import js
from tests.support.declared import Files, config
from tests.support.run import Cli


def test_a_list_is_never_split(files: Files) -> None:
    text = """
streams:
  - name: S
    subjects: ["orders.a,b", "orders.c"]
    consumers:
      - {name: ONE, filter_subject: "orders.a,b"}
      - {name: TWO, filter_subjects: ["orders.a,b", orders.c]}
"""
    files("apply", text, status=0)
    assert config(files.cli, "S")["subjects"] == ["orders.a,b", "orders.c"]
    assert config(files.cli, "S", "ONE")["filter_subject"] == "orders.a,b"
    assert config(files.cli, "S", "TWO")["filter_subjects"] == ["orders.a,b", "orders.c"]
    assert "Nothing to change" in files("apply", text, status=0).out
    refused = files("apply", "streams: [{name: S, subjects: ['a b']}]", status=64)
    assert "'a b' is not a valid subject" in refused.err


def test_no_subjects_are_the_name_as_for_the_server(files: Files) -> None:
    for subjects in ("[]", "null"):
        text = f"streams: [{{name: S, subjects: {subjects}}}]"
        files("apply", text, status=0)
        assert "Nothing to change" in files("apply", text, status=0).out
    assert config(files.cli, "S")["subjects"] == ["S"]


def test_ack_wait_beside_a_backoff_is_refused(files: Files) -> None:
    """Every verb refuses it: the server takes the backoff, and says nothing of the wait."""
    keys = "name: C, ack_policy: explicit, max_deliver: 5"
    text = f"streams: [{{name: S, subjects: s, consumers: [{{{keys}, %s}}]}}]"
    reason = "ack_wait is the first step of backoff: leave it out"
    assert reason in files("apply", text % "backoff: [1s, 5s], ack_wait: 30s", status=64).err
    files("apply", text % "backoff: [1s, 5s], ack_wait: 1s", status=0)
    assert reason in files("diff", text % "ack_wait: 30s", status=64).err
    for line in (
        "consumer add S D --pull --defaults --wait 30s --backoff 1s,5s",
        "consumer copy S C D --wait 30s",
        "consumer edit S C --wait 30s --force",
        "consumer edit S C --backoff 2s,5s --wait 30s --force",
    ):
        refused = files.cli(line, status=64)
        assert "--wait is the first step of --backoff: leave it out, or use --backoff none" in refused.err
    files.cli("consumer edit S C --backoff 2s,5s --force", status=0)
    assert config(files.cli, "S", "C")["ack_wait"] == 2_000_000_000
    files("apply", text % "ack_wait: 30s, backoff: null", status=0)


def test_a_consumer_gets_a_backoff(files: Files) -> None:
    keys = "name: C, ack_policy: explicit, max_deliver: 5"
    text = f"streams: [{{name: S, subjects: s, consumers: [{{{keys}%s}}]}}]"
    files("apply", text % "", status=0)
    files("apply", text % ", backoff: [1s, 5s]", status=0)
    assert config(files.cli, "S", "C")["ack_wait"] == 1_000_000_000  # the first step, as for the server
    assert "Nothing to change" in files("diff", text % ", backoff: [1s, 5s]", status=0).out


def test_a_server_beside_a_context_is_refused(cli: Cli, url: str, tmp_path: Path) -> None:
    cli(f"context add here --server {url}", status=0)
    path = tmp_path / "s.yaml"
    path.write_text("{context: here, streams: [{name: S, subjects: s}]}")
    refused = cli(f"apply -f {path} --server {url}", status=64)
    assert "--server cannot be used beside context here of a file" in refused.err
    cli(f"apply -f {path}", status=0)
    for more in ("streams: []", "operators: [{name: O}]", "buckets: [{name: B}]", "label: l"):
        path.write_text(f"{{context: here, {more}}}")
        for verb in ("apply", "diff"):
            refused = cli(f"{verb} -f {path} --store {tmp_path} --server {url}", status=64)
            assert "--server cannot be used beside context here of a file" in refused.err


def test_all_rules_of_a_stream_are_named_at_once(files: Files) -> None:
    """Those, too, that hold for what a file and a server say together."""
    old = "streams: [{name: S, subjects: s, max_age: 1h, consumers: [%s]}]"
    files(
        "apply",
        old % "{name: C, ack_policy: all, max_deliver: 2}, {name: D, ack_policy: all, max_deliver: 3}",
        status=0,
    )
    text = "streams: [{name: S, duplicate_window: 2h, consumers: [%s]}]"
    consumers = ", ".join(f"{{name: {name}, backoff: [1s, 2s, 3s, 4s]}}" for name in ("C", "D"))
    refused = files("diff", text % consumers, status=64).err
    assert refused.count("streams.yaml:1") == 3 and "duplicate_window" in refused
    renamed = (text % consumers).replace("name: S,", "name: NEW, renamed_from: S,")
    refused = files("diff", renamed, status=64).err
    assert refused.count("streams.yaml:1") == 3 and "duplicate_window" in refused


@pytest.mark.parametrize("keys", ["", ", deliver_subject: d", ", durable_name: null"])
def test_a_direct_consumer_is_refused_before_the_first_deed(files: Files, keys: str) -> None:
    text = f"streams: [{{name: S, subjects: s, consumers: [{{name: C, direct: true{keys}}}]}}]"
    assert "direct" in files("apply", text, status=64).err
    assert "stream S" in files("diff", "streams: [{name: S, subjects: s}]", status=2).out


@pytest.mark.parametrize("key", ["label", "context", "domain", "account"])
def test_an_empty_variable_is_no_name(files: Files, key: str) -> None:
    text = f"{{{key}: '{{{{x}}}}', vars: {{x: a}}, streams: [{{name: S, subjects: s}}]}}"
    assert f"{key} is empty" in files("apply", text, "--var x=", status=64).err
    text = "{vars: {x: a}, streams: [{name: '{{x}}', subjects: s}]}"
    assert "streams.yaml:1: " in files("apply", text, "--var x=", status=64).err


def test_anchors_have_a_place(files: Files) -> None:
    text = "x-common: &common {max_msgs: 5}\nstreams:\n- {<<: *common, name: A, subjects: a}\n"
    files("apply", text, status=0)
    assert config(files.cli, "A")["max_msgs"] == 5
    assert "unknown key 'y-common'" in files("apply", text.replace("x-", "y-"), status=64).err


def test_a_file_of_a_process(cli: Cli) -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as file:
        file.write("streams: [{name: S, subjects: s}]")
    try:
        cli(f"apply -f /dev/fd/{reader}", status=0)
    finally:
        os.close(reader)


def test_all_errors_at_once_in_the_words_of_the_file(files: Files) -> None:
    text = """
streams:
  - {name: A, subjects: a, max_age: soon, storage: paper}
  - name: B
    subjects: b
    consumers:
      - {name: C, max_waiting: 5, deliver_subject: x}
      - {name: D, nope: 1}
buckets:
  - {name: a.b}
"""
    refused = files("apply", text, status=64)
    (line,) = refused.err.splitlines()
    for words in (
        "streams.yaml:3: max_age: ",
        "streams.yaml:3: storage must be one of",
        "streams.yaml:7: max_waiting is for pull consumers, and deliver_subject makes it a push consumer",
        "streams.yaml:8: unknown key 'nope' of a consumer",
        "streams.yaml:10: 'a.b' is not a valid bucket name",
    ):
        assert words in line
    assert "--target" not in line


def test_a_tab_is_called_a_tab(files: Files) -> None:
    refused = files("apply", "streams:\n\t- name: S\n", status=64)
    assert "streams.yaml:2: a line begins with a tab; indent with spaces" in refused.err


@pytest.mark.parametrize(
    ("keys", "warning"),
    [
        ("max_msgs: 010", "max_msgs: 010 is octal in YAML, 8"),
        ("max_msgs: 1:30", "max_msgs: 1:30 is a number of base 60 in YAML, 90"),
        ("max_age: 1", "max_age: 1 is 1 nanosecond; write a unit such as 1s"),
        ("consumers: [{name: C, ack_wait: 30}]", "ack_wait: 30 is 30 nanoseconds; write a unit such as 30s"),
        ("duplicate_window: 2:00", "duplicate_window: 2:00 is a number of base 60 in YAML, 120"),
        ("consumer_limits: {max_ack_pending: 020}", "max_ack_pending: 020 is octal in YAML, 16"),
        ("sealed: true", "stream S: sealed: true is final"),
        (
            "consumers: [{name: C, filter_subject: other}]",
            "consumer S > C: the filter other matches none of the subjects",
        ),
    ],
)
def test_warnings(files: Files, keys: str, warning: str) -> None:
    shown = files("diff", f"streams: [{{name: S, subjects: s, {keys}}}]")
    assert f"streams.yaml:1: {warning}" in shown.err


def test_a_mirror_of_nothing(files: Files, url: str) -> None:
    text = "streams: [{name: M, mirror: GONE}, {name: N, sources: [M, GONE]}]"
    shown = files("diff", text, status=2)
    for name in "MN":
        warning = f"streams.yaml:1: stream {name}: GONE does not exist, so nothing is copied from it"
        assert warning in shown.err
    js.stream(url, "GONE", "g")
    assert files("diff", text, status=2).err == ""


def test_a_copy_of_subjects_that_its_origin_does_not_store(files: Files, url: str) -> None:
    warning = "streams.yaml:1: stream {}: the filter eu.> matches none of the subjects of stream ORDERS"
    copies = (
        "{name: M, mirror: {name: ORDERS, filter_subject: eu.>}},"
        "{name: N, sources: [{name: ORDERS, subject_transforms: [{src: eu.>, dest: n.>}]}]},"
        "{name: O, sources: [{name: ORDERS, filter_subject: us.1}]}"
    )
    shown = files("diff", f"streams: [{{name: ORDERS, subjects: [us.>]}}, {copies}]", status=2)
    assert [warning.format(name) in shown.err for name in "MNO"] == [True, True, False]
    js.stream(url, "ORDERS", "us.>")
    assert warning.format("M") in files("diff", f"streams: [{copies}]", status=2).err


def test_a_stream_of_a_bucket_that_loses_its_subjects(files: Files) -> None:
    files.cli("kv add B", status=0)
    shown = files("diff", "streams: [{name: KV_B, subjects: [other]}]", status=2)
    assert "bucket B loses $KV.B.>, without which clients cannot write to it" in shown.err


def test_rules_about_keys_that_only_the_server_has(files: Files, url: str) -> None:
    """What a file does not name stays as it is, so that it counts."""
    push = (
        "streams: [{name: S, subjects: s, discard: new, max_msgs_per_subject: 5, consumers: [{name: C, %s}]}]"
    )
    files("apply", push % "deliver_subject: out", status=0)
    text = "streams: [{name: S, discard_new_per_subject: true, consumers: [{name: C, rate_limit_bps: 1000}]}]"
    files("apply", text, status=0)
    assert config(files.cli, "S")["discard_new_per_subject"]
    assert config(files.cli, "S", "C")["rate_limit_bps"] == 1000
    wrong = """
streams:
- {name: S, mirror: X}
- {name: T, subjects: t, discard_new_per_subject: true}
- {name: U, subjects: u, consumers: [{name: C, rate_limit_bps: 1000}]}
- {name: V, subjects: v, consumers: [{name: C, priority_policy: overflow}]}
"""
    said = files("diff", wrong, status=64).err
    for words in (
        "streams.yaml:3: a mirror cannot have subjects of its own",
        "streams.yaml:4: discard_new_per_subject needs discard new",
        "streams.yaml:5: rate_limit_bps is for push consumers, which have a deliver_subject",
        "streams.yaml:6: priority_policy needs priority_groups",
    ):
        assert words in said, said
    assert "--" not in said


def test_a_server_in_no_cluster_ignores_a_placement(files: Files) -> None:
    text = "streams: [{name: S, subjects: s, placement: {cluster: c, tags: [a]}}]"
    assert "answer" not in files("diff", text, status=2).err
    files("apply", text, status=0)
