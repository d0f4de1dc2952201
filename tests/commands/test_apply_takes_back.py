"""A plan that fails half way is taken back, or what stays is said."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support import js
from tests.support.declared import LATE_REASON, LATE_REFUSAL, Files, Meanwhile, config
from tests.support.run import Cli
from tests.support.servers import AccountServers

BEFORE = """
label: l
streams:
- {name: S, subjects: s.>, consumers: [{name: C, max_deliver: 5}]}
- {name: T, subjects: t}
buckets:
- {name: B, values: {a: one, b: two}}
"""
AFTER = f"""
label: l
streams:
- {{name: S, subjects: [s.>, more], max_age: 1d, consumers: [{{name: C, max_deliver: 9}}, {{name: D}}]}}
- {{name: T, subjects: u}}
- {{name: NEW, subjects: new, consumers: [{{name: E}}]}}
- {{name: LAST, sources: [NEW, S, T], {LATE_REFUSAL}}}
buckets:
- {{name: B, history: 3, values: {{a: other, c: three}}}}
"""


def state(cli: Cli, url: str) -> Any:
    found = {info["config"]["name"]: info["config"] for info in js.ask(url, "STREAM.LIST")["streams"] or []}
    consumers = [
        each["config"] for name in found for each in js.ask(url, f"CONSUMER.LIST.{name}")["consumers"] or []
    ]
    values = {key: cli(f"kv get B {key} --raw").out for key in "abc"}
    return found, consumers, values


def test_everything_is_as_before(files: Files, url: str) -> None:
    files("apply", BEFORE, status=0)
    js.publish(url, "s.1", count=3)
    before = state(files.cli, url)
    failed = files("apply", AFTER, "--force --json", status=1)
    statuses = {(each["stream"], each["consumer"]): each["status"] for each in failed.json["applied"]}
    assert statuses.pop(("LAST", "")) == "failed" and {*statuses.values()} <= {"taken back", "not done"}
    assert statuses["S", ""] == statuses["NEW", ""] == "taken back"
    assert state(files.cli, url) == before
    assert js.info(url, "S")["state"]["messages"] == 3
    assert f"streams.yaml:7: stream LAST: {LATE_REASON}" in failed.err
    files("apply", AFTER.replace(LATE_REFUSAL, "max_bytes: 1GB"), "--force", status=0)


def test_what_cannot_be_given_back_is_said(files: Files, url: str) -> None:
    files("apply", "streams: [{name: S, subjects: s}]", status=0)
    js.publish(url, "s", count=5)
    text = f"streams: [{{name: S, max_msgs: 2}}, {{name: L, sources: [S], {LATE_REFUSAL}}}]"
    failed = files("apply", text, "--force --allow-data-loss", status=1)
    assert "taken back  S " in failed.out and "3 messages (96 B) stay deleted" in failed.out
    assert "nothing was changed, but 3 messages (96 B) were deleted, 1 stream failed" in failed.out
    assert config(files.cli, "S").get("max_msgs") == -1 and js.info(url, "S")["state"]["messages"] == 2


def test_a_new_stream_that_has_messages_stays(
    files: Files, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody publishes to it before another step fails."""
    from jsctl.jetstream.declared import execute

    send = execute.send_step

    async def send_and_publish(step: Any) -> Any:
        if step.stream == "L":
            js_thread(lambda: js.publish(url, "n"))
        return await send(step)

    monkeypatch.setattr(execute, "send_step", send_and_publish)
    text = f"streams: [{{name: N, subjects: n}}, {{name: L, sources: [N], {LATE_REFUSAL}}}]"
    failed = files("apply", text, status=1)
    assert "stays: it has 1 message by now" in failed.out and "1 stream done, 1 stream failed" in failed.out
    assert js.info(url, "N")["state"]["messages"] == 1


def js_thread(act: Callable[[], Any]) -> None:
    bool(Meanwhile(act))


def test_after_a_removal_nothing_is_taken_back(files: Files, url: str) -> None:
    """What is removed comes last, and nothing is there any more to go back to."""
    files("apply", "{label: l, streams: [{name: A, subjects: a}, {name: B, subjects: b}]}", status=0)
    for name in "AB":
        js.publish(url, name.lower())

    def empty() -> None:
        js.ask(url, "STREAM.UPDATE.B", {"name": "B", "subjects": ["b"], "metadata": {"jsctl.label": "other"}})

    text = "{label: l, streams: [{name: N, subjects: n}]}"
    failed = files("apply", text, "--prune --allow-data-loss", tty=True, answers=[Meanwhile(empty)], status=1)
    words = [line.replace("│", " ").split() for line in failed.out.splitlines()]
    assert ["created", "N"] in [line[:2] for line in words]
    assert ["failed", "B"] in [line[:2] for line in words]
    assert js.info(url, "N")["state"]["messages"] == 0


def test_a_new_bucket_goes_with_its_values(files: Files, url: str) -> None:
    late = f"streams: [{{name: S, subjects: s}}, {{name: L, sources: [S], {LATE_REFUSAL}}}]"
    failed = files("apply", f"{late}\nbuckets: [{{name: B, values: {{a: '1', b: '2'}}}}]", status=1)
    assert "nothing was changed" in failed.out and "stays" not in failed.out
    assert js.ask(url, "STREAM.NAMES")["total"] == 0


def test_a_value_for_which_there_is_no_room(files: Files, url: str) -> None:
    """The bucket is full, so that no marker finds room, either."""
    files("apply", "buckets: [{name: B, max_bucket_size: 300, values: {x: '1', y: '1'}}]", status=0)
    before = js.info(url, "KV_B")["state"]
    text = f"buckets: [{{name: B, values: {{a: '2', b: '{'x' * 40}'}}}}]"
    failed = files("apply", text, status=1)
    assert "maximum bytes exceeded" in failed.err and "nothing was changed" in failed.out
    assert js.info(url, "KV_B")["state"]["messages"] == before["messages"]


def test_values_are_stored_together_or_not_at_all(files: Files, url: str) -> None:
    files("apply", "buckets: [{name: B, values: {a: '1', b: '1', c: '1'}}]", status=0)

    def change() -> None:
        js.publish(url, "$KV.B.c", b"theirs")

    text = "buckets: [{name: B, values: {a: '2', b: '2', c: '2'}}]"
    failed = files("apply", text, tty=True, answers=[Meanwhile(change)], status=1)
    assert "values.c: theirs -> 2; run it again" in failed.err
    assert [files.cli(f"kv get B {key} --raw").out for key in "abc"] == ["1", "1", "theirs"]


PAIRS = st.permutations(["a", "b", "c"])


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    first=PAIRS,
    second=PAIRS,
    changes=st.lists(st.sampled_from(["metadata: {x: y}", "max_msgs: 7", ""]), min_size=3, max_size=3),
    label=st.sampled_from(["", "label: l\n"]),
    fails=st.booleans(),
)
def test_subjects_pass_on_together_with_other_changes(
    offline_cli: Cli,
    account_servers: AccountServers,
    tmp_path: Any,
    first: list[str],
    second: list[str],
    changes: list[str],
    label: str,
    fails: bool,
) -> None:
    url = account_servers.new_account().url
    files = Files(offline_cli, tmp_path)
    files.cli.environ["NATS_URL"] = url
    text = "streams:\n" + "".join(
        f"- {{name: {name}, subjects: {subject}}}\n" for name, subject in zip("ABC", first, strict=True)
    )
    files("apply", text, status=0)
    before = {name: js.info(url, name)["config"] for name in "ABC"}
    after = f"{label}streams:\n" + "".join(
        f"- {{name: {name}, subjects: {subject}{change and ', ' + change}}}\n"
        for name, subject, change in zip("ABC", second, changes, strict=True)
    )
    if fails:
        after += f"- {{name: Z, sources: [A, B, C], {LATE_REFUSAL}}}\n"
    files("apply", after, "--force", status=int(fails))
    if fails:
        assert {name: js.info(url, name)["config"] for name in "ABC"} == before
        return
    for name, subject in zip("ABC", second, strict=True):
        assert js.info(url, name)["config"]["subjects"] == [subject]
    assert "Nothing to change" in files("diff", after, status=0).out


def test_parts_of_a_subject_pass_on(files: Files, url: str) -> None:
    files("apply", "streams: [{name: A, subjects: a.>}]", status=0)
    text = "streams: [{name: N, subjects: a.c}, {name: A, subjects: a.b}]"
    files("apply", text, "--force", status=0)
    assert [js.info(url, name)["config"]["subjects"] for name in "AN"] == [["a.b"], ["a.c"]]


def test_what_the_server_rewrites_settles(files: Files, url: str) -> None:
    keys = "subject_transform: {src: a.>, dest: x.>}, republish: {src: '>', dest: '>'}"
    text = f"streams: [{{name: S, subjects: a.>, {keys}}}]"
    created = files("apply", text, status=0)
    assert "the server made of it: republish.src x.>, republish.dest x.>" in created.out
    again = files("diff", text, status=0)
    assert "republish.src: x.>, as the server keeps it, not >" in again.out
    assert "Nothing to change: 1 stream is as declared" in again.out
    applied = files("apply", text, "--json", status=0).json
    assert [each["stream"] for each in applied["kept"]] == ["S"] and applied["changes"] == []
    changed = text.replace("name: S", "name: S, max_age: 1d")
    outcome = files("apply", changed, "--force", status=0)
    assert "somebody else" not in outcome.err + outcome.out
    assert "Nothing to change" in files("diff", changed, status=0).out


OTHERS = "{label: theirs, streams: [{name: OLD, subjects: o}]}"


@pytest.mark.parametrize("label", ["label: mine\n", ""])
@pytest.mark.parametrize("keys", ["", ", max_age: 1d", ", consumers: [{name: C}]"])
def test_a_rename_takes_nothing_from_another_owner(files: Files, url: str, label: str, keys: str) -> None:
    files("apply", OTHERS, status=0)
    js.publish(url, "o")
    text = f"{label}streams: [{{name: NEW, renamed_from: OLD{keys}}}]"
    refused = files("apply", text, "--force", status=1)
    assert "belongs to label theirs: --take-ownership takes it over" in refused.err
    assert files.cli("stream ls --json", status=0).json == ["OLD"]
    files("apply", text, "--force --take-ownership", status=0)
    assert files.cli("stream ls --json", status=0).json == ["NEW"]
    assert js.info(url, "NEW")["state"]["messages"] == 1


def test_a_rename_says_what_copies_the_old_name(files: Files, url: str) -> None:
    files("apply", "streams: [{name: OLD, subjects: o}, {name: DECLARED, sources: [OLD]}]", status=0)
    js.stream(url, "MIRROR", mirror={"name": "OLD"})
    js.stream(url, "SOURCE", sources=[{"name": "OLD"}])
    js.publish(url, "o", count=4)
    for name in ("MIRROR", "SOURCE", "DECLARED"):
        js.wait_for_messages(url, name, 4)
    text = "streams: [{name: NEW, renamed_from: OLD}, {name: DECLARED, sources: [%s]}]"
    warned = files("diff", text % "NEW", status=2).err
    assert (
        "stream MIRROR copies OLD, which becomes NEW, and receives nothing any more: make it again" in warned
    )
    assert "stream SOURCE copies OLD, which becomes NEW, and receives nothing any more: change" in warned
    assert "its source to NEW, start=5" in warned
    again = "stream DECLARED receives all of NEW again, which it has from OLD: name a start (NEW, start=5)"
    assert again in warned
    started = text % "'NEW,start=5'"
    assert "DECLARED" not in files("diff", started, status=2).err
    files("apply", started, "--force", status=0)
    js.publish(url, "o")
    js.wait_for_messages(url, "DECLARED", 5)


def test_hidden_values_are_in_no_output(files: Files, url: str) -> None:
    secret = files.path.parent / "secret.yaml"
    secret.write_text("token: s3cret\n")
    text = "buckets: [{name: B, values_from: secret.yaml}]"
    saved = files.path.parent / "plan.json"
    for line in ("", "--json", f"--out {saved}", "--owners"):
        outcome = files("diff", text, line)
        assert "s3cret" not in outcome.out + outcome.err
    assert "s3cret" not in saved.read_text()
    assert "s3cret" in files("diff", text, "--show-values", status=2).out
    secret.write_text("token: other\n")
    assert "values_from was changed since" in files.cli(f"apply {saved}", status=1).err
    secret.write_text("token: s3cret\n")
    applied = files.cli(f"apply {saved}", status=0)
    assert "s3cret" not in applied.out + applied.err
    assert files.cli("kv get B token --raw", status=0).out == "s3cret"
    secret.write_text("token: new\n")
    shown = files("diff", text, status=2).out
    assert "values.token: (hidden, revision 1) -> (hidden)" in shown
    documents = [files("diff", text, f"--json --out {saved}", status=2).out, saved.read_text()]
    assert not any("s3cret" in document or json.dumps("new") in document for document in documents)
    files.cli("kv put B token theirs", status=0)
    assert "the plan is stale" in files.cli(f"apply {saved} --force", status=1).err
