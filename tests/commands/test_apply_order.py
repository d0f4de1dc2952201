"""In which order `apply` works: everything is checked first, creations come before removals."""

import pytest

from tests.support import js
from tests.support.declared import LATE_REFUSAL, Files, config


def names(files: Files) -> list[str]:
    return list(files.cli("stream ls -a --json", status=0).json)


def test_subjects_of_two_streams_are_swapped(files: Files, url: str) -> None:
    files("apply", "streams: [{name: A, subjects: [a, k]}, {name: B, subjects: b}]", status=0)
    js.publish(url, "a", count=3)
    text = "streams: [{name: A, subjects: [b, k]}, {name: B, subjects: a}]"
    shown = files("diff", text, status=2).out
    assert "0 to create, 2 to change, 0 to remove; 0 as declared" in shown
    assert "2 streams done" in files("apply", text, status=0).out
    assert sorted(config(files.cli, "A")["subjects"]) == ["b", "k"]
    assert config(files.cli, "B")["subjects"] == ["a"]
    assert js.info(url, "A")["state"]["messages"] == 3
    assert "Nothing to change" in files("diff", text, status=0).out


def test_a_new_bucket_and_its_values_count_once(files: Files) -> None:
    text = "buckets: [{name: B, values: {k: v}}]"
    assert "1 to create, 0 to change, 0 to remove" in files("diff", text, status=2).out
    created = files("apply", text, tty=True, answers=[], status=0)  # nothing that exists changes
    assert "1 bucket done" in created.out


def test_three_streams_pass_subjects_on(files: Files) -> None:
    text = "streams: [{name: A, subjects: %s}, {name: B, subjects: %s}, {name: C, subjects: %s}]"
    files("apply", text % ("a", "b", "c"), status=0)
    files("apply", text % ("b", "c", "a"), status=0)
    assert [config(files.cli, name)["subjects"] for name in "ABC"] == [["b"], ["c"], ["a"]]


OLD = "{label: l, streams: [{name: OLD, subjects: s}]}"
NEW = "{label: l, streams: [{name: NEW, subjects: s, %s}]}"


def test_a_creation_that_fails_costs_nothing(files: Files, url: str) -> None:
    files("apply", OLD, status=0)
    js.publish(url, "s", count=5)
    js.stream(url, "OTHER", "taken")
    refused = files("apply", NEW % "replicas: 9", "--prune --force --allow-data-loss", status=64)
    assert "unknown key" in refused.err
    for keys in ("num_replicas: 3", "num_replicas: 9", "max_age: 1ms"):
        refused = files("apply", NEW % keys, "--prune --force --allow-data-loss", status=1)
        assert "nothing was changed: 1 stream cannot be changed as declared; " in refused.err
        assert "streams.yaml:1: stream NEW: " in refused.err
    assert js.info(url, "OLD")["state"]["messages"] == 5
    assert config(files.cli, "OLD")["subjects"] == ["s"]


def test_what_the_server_refuses_leaves_the_old_stream_with_its_subjects(files: Files, url: str) -> None:
    files("apply", OLD, status=0)
    js.publish(url, "s", count=5)
    text = NEW % LATE_REFUSAL
    refused = files("apply", text, "--prune --force --allow-data-loss", status=1)
    assert "failed" in refused.out
    assert js.info(url, "OLD")["state"]["messages"] == 5
    assert config(files.cli, "OLD")["subjects"] == ["s"]


def test_an_old_stream_releases_its_subjects_and_goes_last(files: Files, url: str) -> None:
    files("apply", OLD, status=0)
    js.publish(url, "s", count=5)
    shown = files("diff", NEW % "", "--prune", status=2).out
    assert "1 to create, 0 to change, 1 to remove, which deletes 5 messages" in shown
    applied = files("apply", NEW % "", "--prune --force --allow-data-loss --json", status=0).json["applied"]
    assert {(one["stream"], one["status"]) for one in applied} == {
        ("NEW", "created"),
        ("OLD", "changed"),
        ("OLD", "removed"),
    }
    assert (names(files), config(files.cli, "NEW")["subjects"]) == (["NEW"], ["s"])


@pytest.mark.parametrize(
    ("streams", "words"),
    [
        ("{name: A, subjects: [x.>, x.y]}", 'x.>" overlaps with "x.y'),
        (
            "{name: A, subjects: x.>}, {name: B, subjects: x.y}",
            "x.> overlaps with stream B, which stores x.y",
        ),
        ("{name: A, subjects: there.1}", "there.1 overlaps with stream THERE, which stores there.>"),
        ("{name: A, subjects: a, num_replicas: 3}", "the server is in no cluster"),
        ("{name: A, subjects: a, num_replicas: 7}", "is at most 5"),
        ("{name: A, subjects: a, max_age: 50ms}", "max age needs to be >= 100ms"),
    ],
)
def test_what_the_server_would_refuse_is_known_before(
    files: Files, url: str, streams: str, words: str
) -> None:
    js.stream(url, "THERE", "there.>")
    shown = files("diff", f"streams: [{streams}]", status=1)
    assert words in shown.out
    refused = files("apply", f"streams: [{streams}, {{name: Z, subjects: z}}]", status=1)
    assert "nothing was changed" in refused.err
    assert names(files) == ["THERE"]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("max_msgs: 99999999999999999999", "max_msgs: 99999999999999999999 is too large"),
        ("max_age: 10m, duplicate_window: 1h", "duplicate_window must not be longer than max_age"),
    ],
)
def test_values_that_no_server_takes(files: Files, keys: str, words: str) -> None:
    assert words in files("diff", f"streams: [{{name: A, subjects: a, {keys}}}]", status=64).err


RENAMED = """
label: l
streams:
  - name: NEW
    subjects: s.>
    renamed_from: OLD
    consumers: [{name: C, filter_subject: s.a}]
"""


def test_a_rename_keeps_messages_and_consumers(files: Files, url: str) -> None:
    old = "{label: l, streams: [{name: OLD, subjects: s.>, max_msgs: 1000, consumers: [{name: C}]}]}"
    files("apply", old, status=0)
    js.publish(url, "s.a", count=50)
    files.cli("consumer next OLD C --count 20", status=0)
    shown = files("diff", RENAMED, "--prune", status=2).out
    assert "+ stream NEW" in shown and "copied from OLD, with its messages and consumers" in shown
    assert "- stream OLD (copied to NEW before)" in shown
    files("apply", RENAMED, "--prune --force", status=0)
    assert names(files) == ["NEW"]
    state = js.info(url, "NEW")["state"]
    assert (state["messages"], state["first_seq"], state["last_seq"]) == (50, 1, 50)
    assert (config(files.cli, "NEW")["subjects"], config(files.cli, "NEW")["max_msgs"]) == (["s.>"], 1000)
    consumer = files.cli("consumer info NEW C --json", status=0).json
    assert (consumer["ack_floor"]["stream_seq"], consumer["config"]["filter_subject"]) == (20, "s.a")
    assert "Nothing to change" in files("diff", RENAMED, "--prune", status=0).out
    js.publish(url, "s.a")
    assert js.info(url, "NEW")["state"]["messages"] == 51


def test_a_rename_that_was_broken_off_continues(files: Files, url: str) -> None:
    """As after a kill: the old stream has released its subjects, and nothing or all of the copy is there."""
    files("apply", "{label: l, streams: [{name: OLD, subjects: s.>}]}", status=0)
    js.publish(url, "s.a", count=5)
    update = {**js.info(url, "OLD")["config"], "subjects": ["_jsctl.released.OLD"]}
    js.ask(url, "STREAM.UPDATE.OLD", update)
    text = RENAMED.replace("    consumers: [{name: C, filter_subject: s.a}]\n", "")
    files("apply", text, "--force", status=0)
    assert (names(files), js.info(url, "NEW")["state"]["messages"]) == (["NEW"], 5)
    files.cli("stream copy NEW OLD --data --subjects _jsctl.released.OLD", status=0)
    shown = files("diff", text, status=2).out
    assert "0 to create, 0 to change, 1 to remove" in shown
    files("apply", text, "--force", status=0)
    assert names(files) == ["NEW"]


def test_a_rename_to_a_name_in_use_is_refused(files: Files, url: str) -> None:
    js.stream(url, "OLD", "s.>")
    js.stream(url, "NEW", "t.>")
    text = "streams: [{name: NEW, renamed_from: OLD}]"
    assert "NEW exists, too" in files("diff", text, status=1).out
    assert "renamed_from must be another name" in files("diff", text.replace("OLD", "NEW"), status=64).err


def test_a_rename_of_a_stream_that_does_not_exist_is_warned_of(files: Files) -> None:
    warning = "renamed_from: there is no stream OLD here, so NEW begins empty"
    assert warning in files("diff", RENAMED, status=2).err
    assert warning in files("apply", RENAMED, status=0).err
    assert "renamed_from" not in files("apply", RENAMED, status=0).err, "it has its new name"


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ("{name: B, subjects: w}", "stream B is declared, too"),
        ("{name: B, renamed_from: A, subjects: w}", "stream B is declared, too"),
        ("{name: C, renamed_from: B, subjects: w}", "A had the name B, too"),
    ],
)
def test_an_old_name_belongs_to_one_rename(files: Files, url: str, second: str, words: str) -> None:
    js.stream(url, "B", "s")
    js.publish(url, "s", count=5)
    text = f"streams: [{{name: A, renamed_from: B}}, {second}]"
    assert words in files("diff", text, status=64).err
    assert words in files("apply", text, "--force --allow-data-loss", status=64).err
    assert js.info(url, "B")["state"]["messages"] == 5
