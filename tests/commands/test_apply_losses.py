"""What a change deletes is said before it happens, by every verb that changes a configuration, and needs a
yes."""

import json
import shlex
from collections.abc import Callable
from typing import Any

import pytest

from tests.support import js
from tests.support.declared import Files, Meanwhile
from tests.support.run import Cli


def messages(url: str, stream: str = "S") -> int:
    return int(js.info(url, stream)["state"]["messages"])


def fill(url: str, count: int = 100, subjects: int = 10, stream: str = "S", **config: Any) -> None:
    js.stream(url, stream, "s.>", **config)
    for number in range(subjects):
        js.publish(url, f"s.{number}", count=count // subjects)


LOSSES = [
    ("max_msgs: 10", "--max-msgs 10", 90),
    ("max_msgs_per_subject: 3", "--max-msgs-per-subject 3", 70),
    ("max_age: 100ms", "--max-age 100ms", 100),
    ("retention: interest", "--retention interest", 100),
]


@pytest.mark.slow
@pytest.mark.parametrize(("key", "flags", "lost"), LOSSES)
@pytest.mark.parametrize("storage", ["file", "memory"])
def test_limits_delete_what_is_said(
    files: Files, url: str, key: str, flags: str, lost: int, storage: str
) -> None:
    fill(url, storage=storage)
    js.wait_for_age(url, "S", 0.2)
    text = f"streams: [{{name: S, {key}}}]"
    shown = files("diff", text, status=2)
    assert f"    deletes {lost} messages (" in shown.out
    (change,) = files("diff", text, "--json", status=2).json["changes"]
    assert (change["deletes_messages"], change["deletes_precision"]) == (lost, "exact")
    assert change["deletes_bytes"] > 0
    if key.startswith("retention"):
        return  # edit has no such flag
    for verb in (
        f"apply -f {files.path}",
        f"apply -f {files.path} --force",
        f"stream edit S {flags} --force",
    ):
        refused = files.cli(verb, status=64)
        assert f"this deletes {lost} messages (" in refused.err and "--allow-data-loss" in refused.err
        assert verb.startswith("stream") or f" of stream S ({files.path}:" in refused.err
    assert messages(url) == 100
    planned = files.cli(f"stream edit S {flags} --dry-run --json", status=2).json
    assert max(one["deletes_messages"] for one in planned) == lost
    asked = files.cli(f"stream edit S {flags}", answers=[False], status=0).asked
    assert asked[0].startswith(f"Really edit Stream S and delete {lost} messages (")
    asked = files("apply", text, answers=[True], status=0).asked
    assert asked[0].startswith(f"Really change 1 stream and delete {lost} messages (")
    js.wait_for_messages(url, "S", 100 - lost)


@pytest.mark.parametrize(("key", "flags", "lost"), LOSSES[:2])
def test_a_flag_or_the_file_permits_it(files: Files, url: str, key: str, flags: str, lost: int) -> None:
    fill(url)
    files("apply", f"streams: [{{name: S, {key}, allow_data_loss: true}}]", status=0)
    assert messages(url) == 100 - lost
    js.ask(url, "STREAM.DELETE.S")
    fill(url)
    files("apply", f"streams: [{{name: S, {key}}}]", "--allow-data-loss", status=0)
    assert messages(url) == 100 - lost
    js.ask(url, "STREAM.DELETE.S")
    fill(url)
    files.cli(f"stream edit S {flags} --force --allow-data-loss", status=0)
    assert messages(url) == 100 - lost


def test_a_limit_of_bytes(files: Files, url: str) -> None:
    fill(url)
    half = js.info(url, "S")["state"]["bytes"] // 2
    (change,) = files("diff", f"streams: [{{name: S, max_bytes: {half}}}]", "--json", status=2).json[
        "changes"
    ]
    assert (change["deletes_messages"], change["deletes_precision"]) == (50, "exact")
    assert files("apply", f"streams: [{{name: S, max_bytes: {half}}}]", status=64)
    files("apply", f"streams: [{{name: S, max_bytes: {half}}}]", "--allow-data-loss", status=0)
    assert messages(url) == 50


def test_what_deletes_nothing_needs_nothing(files: Files, url: str) -> None:
    fill(url, discard="new")
    files("apply", "streams: [{name: S, max_msgs: 10}]", status=0)  # the server refuses new ones instead
    assert messages(url) == 100
    refused = files("apply", "streams: [{name: S, max_msgs: 10, discard: old}]", status=64)
    assert "this deletes 90 messages" in refused.err
    files("apply", "streams: [{name: S, max_msgs: 1000, max_age: 1d}]", status=0)
    assert messages(url) == 100


def test_buckets(files: Files, url: str) -> None:
    files.cli("kv add B --history 5", status=0)
    for value in "abc":
        files.cli(f"kv put B k {value}", status=0)
    text = "buckets: [{name: B, history: 2}]"
    assert "    deletes 1 message (" in files("diff", text, status=2).out
    assert "this deletes 1 message" in files("apply", text, status=64).err
    assert "this deletes 1 message" in files.cli("kv edit B --history 2", status=64).err
    assert messages(url, "KV_B") == 3
    files.cli("kv edit B --history 2 --allow-data-loss", status=0)
    assert messages(url, "KV_B") == 2
    files.cli("object add F", status=0)
    files.cli("object put F - --name x", stdin="text", status=0)
    js.wait_for_age(url, "OBJ_F", 0.2)
    assert "this deletes 2 messages" in files.cli("object edit F --ttl 100ms --force", status=64).err


INTEREST: dict[str, Any] = {"retention": "interest"}


def consumer(url: str, name: str, subject: str = "", stream: str = "S") -> None:
    config = {"durable_name": name, "name": name, "ack_policy": "explicit"}
    if subject:
        config["filter_subject"] = subject
    js.ask(url, f"CONSUMER.CREATE.{stream}.{name}", {"stream_name": stream, "config": config})


def interest(url: str) -> None:
    """A stream in which a consumer needs all 40 messages."""
    js.stream(url, "S", "s.>", **INTEREST)
    consumer(url, "C")
    for number in range(4):
        js.publish(url, f"s.{number}", count=10)


@pytest.mark.parametrize(
    "change",
    [
        lambda cli: cli("consumer edit S C --filter s.1 --force", status=64),
        lambda cli: cli("consumer edit S C --filter s.1", status=64),
    ],
)
def test_a_filter_of_the_only_consumer(cli: Cli, url: str, change: Callable[[Cli], Any]) -> None:
    interest(url)
    assert "this deletes 30 messages" in change(cli).err or "--force" in change(cli).err
    assert messages(url) == 40
    cli("consumer edit S C --filter s.1 --force --allow-data-loss", status=0)
    js.wait_for_messages(url, "S", 10)


def test_a_declared_filter_of_the_only_consumer(files: Files, url: str) -> None:
    interest(url)
    text = "streams: [{name: S, consumers: [{name: C, filter_subject: none.of.them}]}]"
    assert "    deletes 40 messages (" in files("diff", text, status=2).out
    assert "this deletes 40 messages" in files("apply", text, "--force", status=64).err
    assert messages(url) == 40


def test_a_pruned_consumer_is_named_with_its_position(files: Files, url: str) -> None:
    text = "{label: l, streams: [{name: S, subjects: s.>, retention: interest, consumers: [%s]}]}"
    files("apply", text % "{name: C, ack_policy: explicit}", status=0)
    for number in range(4):
        js.publish(url, f"s.{number}", count=10)
    shown = files("diff", text % "", "--prune", status=2).out
    assert "- consumer S > C (40 messages pending, ack floor 0; deletes 40 messages (" in shown
    refused = files("apply", text % "", "--prune --force", status=64)
    assert "this deletes 40 messages" in refused.err
    assert messages(url) == 40
    asked = files("apply", text % "", "--prune", answers=[False], status=0).asked
    assert "deletes 40 messages" in asked[0]
    files("apply", text % "", "--prune --force --allow-data-loss", status=0)
    js.wait_for_messages(url, "S", 0)


def test_other_consumers_keep_their_messages(files: Files, url: str) -> None:
    js.stream(url, "S", "s.>", **INTEREST)
    consumer(url, "A", "s.1")
    consumer(url, "B", "s.2")
    for number in (1, 2):
        js.publish(url, f"s.{number}", count=10)
    text = "streams: [{name: S, consumers: [{name: A, filter_subject: s.3}]}]"
    (change,) = files("diff", text, "--json", status=2).json["changes"]
    assert (change["deletes_messages"], change["deletes_precision"]) == (10, "exact")
    files("apply", text, "--allow-data-loss", status=0)
    js.wait_for_messages(url, "S", 10)


def test_what_goes_with_interest_retention_and_a_consumer_of_one_plan(files: Files, url: str) -> None:
    fill(url)
    consumer(url, "C")
    files("apply", "{label: l, streams: [{name: S, consumers: [{name: C}]}]}", status=0)
    text = "{label: l, streams: [{name: S, retention: interest}]}"
    shown = files("diff", text, "--prune", status=2).out
    assert "which deletes 100 messages" in shown, shown
    refused = files("apply", text, "--prune --force", status=64).err
    assert "this deletes 100 messages" in refused and "consumer S > C" in refused
    assert js.info(url, "S")["config"]["retention"] == "limits", "nothing is done before it"
    filtered = (
        "{label: l, streams: [{name: S, retention: interest, consumers: [{name: C, filter_subject: s.1}]}]}"
    )
    assert "which deletes 90 messages" in files("diff", filtered, status=2).out
    files("apply", text, "--prune --force --allow-data-loss", status=0)
    assert messages(url) == 0


def test_changes_of_a_stream_delete_no_more_than_it_holds(files: Files, url: str) -> None:
    interest(url)
    consumer(url, "D")
    text = "streams: [{name: S, consumers: [{name: C, filter_subject: s.1}, {name: D, filter_subject: s.2}]}]"
    assert "which deletes 20 messages" in files("diff", text, status=2).out
    refused = files("apply", text, "--force", status=64).err
    assert (
        "this deletes 20 messages" in refused
        and "of consumer S > C (" in refused
        and "), consumer S > D (" in refused
    )


def test_a_pruned_stream_says_what_hangs_below_it(files: Files, url: str) -> None:
    files("apply", "{label: l, streams: [{name: S, subjects: s.>, consumers: [{name: C}]}]}", status=0)
    consumer(url, "MINE")
    js.publish(url, "s.1", count=3)
    none = "{label: l, streams: []}"
    shown = files("diff", none, "--prune", status=2).out
    assert "- stream S (3 messages, " in shown
    assert "    - consumer MINE, which nobody declares: 3 messages pending, ack floor 0" in shown
    (change,) = files("diff", none, "--prune --json", status=2).json["changes"]
    assert (change["messages"], change["deletes_messages"]) == (3, 3)
    assert "--force --allow-data-loss" in files("apply", none, "--prune", status=64).err
    assert "--allow-data-loss" in files("apply", none, "--prune --force", status=64).err
    files("apply", none, "--prune --force --allow-data-loss", status=0)


def test_json_is_a_document_for_a_refusal(files: Files) -> None:
    files("apply", "streams: [{name: S, subjects: s}]", status=0)
    refused = files("apply", "streams: [{name: S, storage: memory}]", "--json", status=1)
    assert refused.json["changes"][0]["differences"][0]["refused"]
    assert "nothing was changed" in refused.err


def test_a_saved_plan(files: Files, url: str) -> None:
    text = "streams: [{name: S, subjects: s.>, max_msgs: 50}, {name: T, subjects: t}]"
    plan = files.path.parent / "plan one.json"
    quoted = shlex.quote(str(plan))
    files("diff", text, f"--out {quoted}", status=2)
    assert plan.stat().st_mode & 0o777 == 0o600
    files.path.unlink()
    assert "2 to create" in files.cli(f"apply {quoted} --dry-run", status=0).out
    files.cli(f"apply {quoted} --dry-run --exit-code", status=2)
    files.cli(f"apply {quoted}", status=0)
    assert files.cli("stream ls --json", status=0).json == ["S", "T"]
    stale = files.cli(f"apply {quoted}", status=1)
    assert "the plan is stale" in stale.err
    assert "leave out" in files.cli(f"apply {quoted} -f {files.path}", status=64).err
    wrong = files.path.parent / "wrong.json"
    wrong.write_text(json.dumps({"type": "other"}))
    assert "is not a plan" in files.cli(f"apply {wrong}", status=64).err


def test_a_plan_is_stale_when_it_would_do_something_else(files: Files, url: str) -> None:
    fill(url)
    plan = files.path.parent / "plan.json"
    files("diff", "streams: [{name: S, max_msgs: 50}]", f"--out {plan}", status=2)
    js.publish(url, "s.1")
    grown = files.cli(f"apply {plan} --force", status=1)
    assert "S now loses 51 messages" in grown.err
    files.cli("stream edit S --max-msgs 70 --force --allow-data-loss", status=0)
    assert "the plan is stale" in files.cli(f"apply {plan} --allow-data-loss", status=1).err
    assert js.info(url, "S")["config"]["max_msgs"] == 70


@pytest.mark.parametrize("allow", ["  allow_data_loss: true\n", ""])
def test_a_plan_deletes_no_more_than_it_says_whatever_permits_it(files: Files, url: str, allow: str) -> None:
    fill(url)
    plan = files.path.parent / "plan.json"
    files("diff", f"streams:\n- name: S\n  max_msgs: 50\n{allow}", f"--out {plan}", status=2)
    published = Meanwhile(lambda: js.publish(url, "s.1"))
    line = f"apply {plan} --allow-data-loss"
    grown = files.cli(line, tty=True, answers=[published], status=1)
    assert "this now deletes 51 messages" in grown.err
    assert "S now loses 51 messages" in files.cli(f"{line} --force", status=1).err
    assert messages(url) == 101
    js.ask(url, "STREAM.PURGE.S", {"keep": 100})
    files.cli(f"{line} --force", status=0)
    assert messages(url) == 50


def test_only_targets_change(files: Files) -> None:
    text = "{label: l, streams: [{name: A, subjects: a}, {name: B, subjects: b}], buckets: [{name: C}]}"
    files("apply", text, "--target A --target C", status=0)
    assert sorted(files.cli("stream ls -a --json", status=0).json) == ["A", "KV_C"]
    assert "no file declares a stream or bucket 'X'" in files("apply", text, "--target X", status=3).err
    files("apply", text, status=0)
    files("apply", "{label: l, streams: []}", "--target B --prune --force", status=0)
    assert sorted(files.cli("stream ls -a --json", status=0).json) == ["A", "KV_C"]


@pytest.mark.slow
def test_an_idle_consumer_that_will_expire(files: Files, url: str) -> None:
    interest(url)
    text = "streams: [{name: S, consumers: [{name: C, inactive_threshold: 2s}]}]"  # it outlives the change
    assert "    deletes up to 40 messages (" in files("diff", text, status=2).out
    assert "this deletes up to 40 messages" in files("apply", text, "--force", status=64).err
    refused = files.cli("consumer edit S C --inactive-threshold 2s --force", status=64)
    assert "this deletes up to 40 messages" in refused.err
    assert messages(url) == 40
    files("apply", text, "--allow-data-loss", status=0)
    js.wait_for_messages(url, "S", 0)


def test_a_consumer_that_is_removed_or_skips_messages(files: Files, url: str) -> None:
    interest(url)
    reset = "consumer reset S C --sequence 31"
    asked = files.cli(reset, answers=[False], status=0).asked
    assert asked[0].startswith(
        "Really reset Consumer S > C to sequence 31; 30 messages are skipped, which deletes 30 messages ("
    )
    assert files.cli(f"{reset} --dry-run --json", status=0).json["deletes_messages"] == 30
    assert "this deletes 30 messages" in files.cli(f"{reset} --force", status=64).err
    files.cli(f"{reset} --force --allow-data-loss", status=0)
    assert messages(url) == 10
    asked = files.cli("consumer rm S C", answers=[False], status=0).asked
    assert asked[0].startswith("Really delete Consumer S > C, which deletes 10 messages (")
    consumer(url, "D")
    would = files.cli("consumer rm S C --dry-run --json", status=0).json
    assert (would["deletes_messages"], would["deletes_precision"]) == (0, "exact")
    files.cli("consumer rm S C --force", status=0)
    assert "this deletes 10 messages" in files.cli("consumer rm S D --force", status=64).err
    assert messages(url) == 10


def test_a_limit_that_the_messages_just_keep_deletes_none(files: Files, url: str) -> None:
    js.stream(url, "S", "s.>")
    js.publish(url, "s.1", count=40)
    size = js.info(url, "S")["state"]["bytes"]
    files("apply", f"streams: [{{name: S, max_msgs: 40, max_bytes: {size}}}]", status=0)
    assert messages(url) == 40
    assert "deletes 1 message" in files("diff", "streams: [{name: S, max_msgs: 39}]", status=2).out
