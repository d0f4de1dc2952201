"""What `protect: true` protects from, declared pauses, and `apply --wait`."""

import pytest

from tests.support import js
from tests.support.declared import Files, config

TEXT = "{label: l, streams: [{name: S, subjects: s, protect: true}], buckets: [{name: B, protect: true}]}"


@pytest.fixture
def protected(files: Files, url: str) -> Files:
    files("apply", TEXT, status=0)
    js.publish(url, "s", count=20)
    return files


@pytest.mark.parametrize(
    "line",
    [
        "stream rm S",
        "stream rm '*'",
        "stream purge S",
        "stream rmm S 1",
        "stream edit S --max-msgs 1 --allow-data-loss",
        "stream edit 'S*' --max-msgs 1 --allow-data-loss",
        "kv del B",
        "kv edit B --ttl 1s --allow-data-loss",
    ],
)
@pytest.mark.parametrize("flag", ["--force", "--dry-run"])
def test_nothing_removes_it_without_naming_it(protected: Files, line: str, flag: str) -> None:
    assert "is protected" in protected.cli(f"{line} {flag}", status=1).err
    assert protected.cli("stream ls -a --json", status=0).json == ["KV_B", "S"]


def test_it_can_be_named(protected: Files, url: str) -> None:
    protected.cli("stream purge S --force --unprotect S", status=0)
    protected.cli("kv del B --force --unprotect B", status=0)
    protected.cli("stream rm S --force --unprotect S", status=0)
    assert protected.cli("stream ls -a --json", status=0).json == []


def test_neither_prune_nor_apply_deletes_its_messages(protected: Files, url: str) -> None:
    for text, flags in (
        ("{label: l, streams: []}", "--prune --force --allow-data-loss"),
        ("{label: l, streams: [{name: S, max_msgs: 5}]}", "--allow-data-loss"),
        ("{label: l, streams: [{name: T, renamed_from: S}]}", "--force"),
    ):
        refused = protected("apply", text, flags, status=1)
        assert "is protected: --unprotect S permits it" in refused.out
        assert "use --unprotect" in refused.err
    assert js.info(url, "S")["state"]["messages"] == 20
    protected("apply", "{label: l, streams: [{name: S, max_msgs: 50}]}", status=0)
    protected(
        "apply", "{label: l, streams: [{name: S, max_msgs: 5}]}", "--allow-data-loss --unprotect S", status=0
    )
    assert js.info(url, "S")["state"]["messages"] == 5


def test_the_protection_ends_with_the_declaration(protected: Files) -> None:
    protected("apply", "{label: l, streams: [{name: S, protect: false}]}", status=0)
    assert "jsctl.protect" not in config(protected.cli, "S")["metadata"]
    protected.cli("stream rm S --force", status=0)


def test_a_declared_pause(files: Files) -> None:
    text = "streams: [{name: S, subjects: s, consumers: [{name: C, %s}]}]"
    files("apply", text % "description: d", status=0)
    files("apply", text % "pause_until: 2099-01-01T00:00:00Z, description: e", status=0)
    now = files.cli("consumer info S C --json", status=0).json
    assert (now["paused"], now["config"]["description"]) == (True, "e")
    assert "Nothing to change" in files("apply", text % "pause_until: 2099-01-01T00:00:00Z", status=0).out
    files("apply", text % "pause_until: null", status=0)
    assert not files.cli("consumer info S C --json", status=0).json.get("paused")
    assert "Nothing to change" in files("diff", text % "pause_until: 2001-01-01T00:00:00Z", status=0).out


def test_an_existing_stream_is_not_sealed_unasked(files: Files, url: str) -> None:
    files("apply", "streams: [{name: S, subjects: s}, {name: P, subjects: p, protect: true}]", status=0)
    text = "streams: [{name: S, sealed: true}]"
    refused = files("apply", text, status=64)
    assert "use --force" in refused.err and not config(files.cli, "S").get("sealed")
    asked = files("apply", text, answers=[False], status=0).asked
    assert asked == ["Really change 1 stream, which seals stream S for good"]
    files("apply", text, "--yes", status=0)
    assert config(files.cli, "S")["sealed"]
    refused = files("apply", text.replace("S,", "P,"), "--yes", status=1)
    assert "is protected" in refused.out and not config(files.cli, "P").get("sealed")


def test_unprotect_names_what_the_file_is_about(protected: Files) -> None:
    refused = protected("apply", TEXT, "--unprotect NOPE", status=64)
    assert "--unprotect NOPE is none of what this is about; it may be B or KV_B or S" in refused.err
    protected("apply", TEXT, "--unprotect B", status=0)


@pytest.mark.slow
def test_apply_waits_until_copies_are_current(files: Files, url: str) -> None:
    js.stream(url, "A", "a")
    js.publish(url, "a", count=2000)
    files("apply", "streams: [{name: M, mirror: A}, {name: N, sources: [A]}]", "--wait", status=0)
    assert [js.info(url, name)["state"]["messages"] for name in "MN"] == [2000, 2000]
    late = files("apply", "streams: [{name: X, mirror: NOWHERE}]", "--wait 1s", status=4)
    assert "not current after 1" in late.err
    assert "stream X does not copy NOWHERE: stream not found" in late.err
