"""`stream find` on a real server."""

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import AccountServers
from tests.support.waiting import wait_for


@pytest.fixture(scope="module")
def some_url(account_servers: AccountServers) -> str:
    """An account with streams that the tests only look at."""
    url = account_servers.new_account().url
    js.stream(url, "EMPTY", "empty.>", storage="memory")
    js.stream(url, "BUSY", "busy.>", max_msgs_per_subject=3, metadata={"team": "a"})
    js.stream(url, "COPY", mirror={"name": "BUSY"})
    js.stream(url, "ALL", sources=[{"name": "BUSY"}])
    js.stream(url, "KV_b", "$KV.b.>")
    js.publish(url, "busy.a", b"x", count=3)
    js.publish(url, "busy.b", b"x")
    js.ask(url, "CONSUMER.DURABLE.CREATE.BUSY.w", {"stream_name": "BUSY", "config": {"durable_name": "w"}})

    def copied() -> bool:
        return all(js.info(url, name)["state"]["messages"] == 4 for name in ("ALL", "COPY"))

    wait_for(copied, "the mirror or the source is late")
    return url


@pytest.fixture
def some(offline_cli: Cli, some_url: str) -> Cli:
    offline_cli.environ["NATS_URL"] = some_url
    return offline_cli


@pytest.mark.parametrize(
    ("flags", "names"),
    [
        ("", ["ALL", "BUSY", "COPY", "EMPTY", "KV_b"]),
        ("--empty", ["EMPTY", "KV_b"]),
        ("--empty --invert", ["ALL", "BUSY", "COPY"]),
        ("--mirrored", ["COPY"]),
        ("--sourced", ["ALL"]),
        ("--sourced --invert", ["BUSY", "COPY", "EMPTY", "KV_b"]),
        ("--consumers 0", ["ALL", "COPY", "EMPTY", "KV_b"]),
        ("--consumers 0 --invert", ["BUSY"]),
        ("--consumers -1", ["ALL", "BUSY", "COPY", "EMPTY", "KV_b"]),
        ("--subject busy.x.y", ["BUSY"]),
        ("--subject '*.x'", ["BUSY", "EMPTY"]),
        ("--replicas 1", ["ALL", "BUSY", "COPY", "EMPTY", "KV_b"]),
        ("--replicas 1 --invert", []),
        ("--created 1h", []),
        ("--created 1h --invert", ["ALL", "BUSY", "COPY", "EMPTY", "KV_b"]),
        ("--idle 1h", ["EMPTY", "KV_b"]),
        ("--cluster x", []),
        ("--server-name nobody", []),
        ("--leader nobody --invert", ["ALL", "BUSY", "COPY", "EMPTY", "KV_b"]),
        ("--api-level 1", []),
        ("--expression 'state.messages > 3 and config.metadata.team == \"a\"'", ["BUSY"]),
        ("--expression 'state.messages > 3' --mirrored", ["COPY"]),
        ("--expression 'Info.State.Msgs > 3' --invert", ["EMPTY", "KV_b"]),
        ("--expression 'state.num_subjects == 0'", ["EMPTY", "KV_b"]),
    ],
)
def test_find(some: Cli, flags: str, names: list[str]) -> None:
    outcome = some(f"stream find --names {flags}", status=0)
    assert outcome.out.split() == names
    assert some(f"stream query -n {flags} --json", status=0).json == names


def test_forms(some: Cli) -> None:
    shown = some("stream find --mirrored", tty=True, status=0).out
    assert "Streams" in shown
    assert "│ COPY │" in shown
    result = some("stream find --mirrored --json", status=0).json
    assert [info["config"]["name"] for info in result] == ["COPY"]
    assert some("stream find --created 1h", status=0).out == "No Streams found\n"
    assert some("stream find --created 1h --json", status=0).json == []
    empty = some("stream find --empty", terminal_error=True, status=0)
    assert "KV_b" not in empty.out and "1 more with -a" in empty.err
    assert "KV_b" in some("stream --all find --empty", status=0).out


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--expression", "state.messages >"], "is incomplete"),
        (["--expression", "state.messages"], "not a condition"),
        (["--cluster", "("], "not a valid regular expression"),
        (["--subject", "a..b"], "not a valid subject"),
        (["--idle", "soon"], "not a duration"),
    ],
)
def test_wrong_flags(some: Cli, flags: list[str], words: str) -> None:
    outcome = some(["stream", "find", *flags], status=64)
    assert outcome.out == ""
    assert words in outcome.err
    assert len(outcome.err.splitlines()) == 1
