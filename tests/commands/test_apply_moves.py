"""`apply --prune` also looks where a label was applied before."""

from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import AccountServers


@pytest.fixture
def two(cli: Cli, url: str, account_servers: AccountServers) -> Cli:
    """Two contexts, `one` in the JetStream of this test, `two` in that of another account."""
    cli(f"context add one --server {url}", status=0)
    cli(f"context add two --server {account_servers.new_account().url}", status=0)
    cli("context add gone --server nats://127.0.0.1:1", status=0)
    del cli.environ["NATS_URL"]
    return cli


def test_a_context_that_no_file_names_any_more_is_pruned(two: Cli, url: str, tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("{label: l, context: one, streams: [{name: A, subjects: a}]}")
    two(f"apply -f {path}", status=0)
    state = list((tmp_path / "config").rglob("applied/*.json")) or list(tmp_path.rglob("applied/*.json"))
    assert [file.stat().st_mode & 0o777 for file in state] == [0o600]
    js.publish(url, "a")
    path.write_text("{label: l, context: two, streams: [{name: B, subjects: b}]}")
    shown = two(f"diff -f {path} --prune", status=2).out
    assert "- stream A (1 message, " in shown and "[context one" in shown
    assert two(f"apply -f {path}", status=0)  # without --prune nothing is removed, and the note stays
    two(f"apply -f {path} --prune --force --allow-data-loss", status=0)
    names = [two(f"stream ls --json --context {context}", status=0).json for context in ("one", "two")]
    assert names == [[], ["B"]]
    assert "Nothing to change" in two(f"diff -f {path} --prune", status=0).out


def test_what_cannot_be_seen_makes_prune_fail(two: Cli, tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("{label: l, context: one, streams: [{name: A, subjects: a}]}")
    two(f"apply -f {path}", status=0)
    two("context rm one --force", status=0)
    two("context add one --server nats://127.0.0.1:1", status=0)
    path.write_text("{label: l, context: two, streams: []}")
    two(f"apply -f {path} --prune", status=4)
    two("context rm one --force", status=0)
    missing = two(f"apply -f {path} --prune", status=3)
    assert "label l was applied to context one, which does not exist any more" in missing.err


def test_consumers_of_a_renamed_stream_are_pruned(cli: Cli, url: str, tmp_path: Path) -> None:
    """A rename carries them over; those that are no longer declared go in the same run, and it is said."""
    path = tmp_path / "s.yaml"
    path.write_text("{label: l, streams: [{name: A, subjects: a, consumers: [{name: C}, {name: D}]}]}")
    cli(f"apply -f {path}", status=0)
    js.publish(url, "a")
    path.write_text("{label: l, streams: [{name: B, renamed_from: A, consumers: [{name: D}]}]}")
    assert "- consumer B > C (1 message pending" in cli(f"diff -f {path} --prune", status=2).out
    cli(f"apply -f {path} --prune --force", status=0)
    assert cli("consumer ls B --names", status=0).out.split() == ["D"]
    assert "Nothing to change" in cli(f"diff -f {path} --prune", status=0).out


def test_a_renamed_stream_that_is_sealed_lacks_nothing(cli: Cli, url: str, tmp_path: Path) -> None:
    """Sealing ends limits, but the copy has them before it is sealed."""
    js.stream(url, "A", "a")
    js.publish(url, "a", count=4)
    path = tmp_path / "s.yaml"
    path.write_text("streams: [{name: B, renamed_from: A, max_msgs: 2, sealed: true}]")
    refused = cli(f"apply -f {path} --force --allow-data-loss", status=1)
    assert "the copy would lack 2 messages" in refused.err
    assert js.info(url, "A")["state"]["messages"] == 4


def test_a_sealed_stream_is_not_unsealed_by_a_swap(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "A", "a")
    js.stream(url, "B", "b")
    js.ask(url, "STREAM.UPDATE.B", {"name": "B", "subjects": ["b"], "sealed": True})
    path = tmp_path / "s.yaml"
    path.write_text("streams: [{name: A, subjects: b}, {name: B, subjects: a, sealed: false}]")
    for verb in ("diff", "apply"):
        refused = cli(f"{verb} -f {path}", status=1)
        assert "a stream that is sealed stays so" in refused.out + refused.err
    assert js.info(url, "A")["config"]["subjects"] == ["a"]
