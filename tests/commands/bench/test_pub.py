"""`bench pub`."""

import pytest

from tests.support import js
from tests.support.benching import run
from tests.support.run import Cli
from tests.support.waiting import wait_for


def test_publishing_without_acks(cli: Cli) -> None:
    document = run(cli, "pub events --msgs 1000 --size 100 -H A:b")
    assert (document["bench"], document["messages"], document["complete"]) == ("pub", 1000, True)
    header = len(b"NATS/1.0\r\nA: b\r\n\r\n")
    assert document["bytes"] == 1000 * (100 + header) and document["message_bytes"] == 100 + header
    assert document["messages_per_second"] > 0 and document["clients"][0]["messages"] == 1000
    shown = cli("bench pub events --msgs 1000 --plot", terminal_error=True)
    assert "1,000 published" in shown.out and "99.99%" in shown.out and "P99.9:" in shown.out
    assert "1,000 messages of 128 B, 1 client" in shown.err


def test_a_rate_is_held(cli: Cli) -> None:
    document = run(cli, "pub events --rate 500 --msgs 100 --clients 2 --processes 0")
    assert document["messages"] == 100
    assert 100 < document["messages_per_second"] < 520
    assert document["latency"]["count"] == 100


def test_the_subjects(cli: Cli, url: str) -> None:
    js.stream(url, "S", "m.>")
    run(cli, "pub m --msgs 20 --multisubject --multisubjectmax 7")
    run(cli, "pub m --msgs 5 --multisubject --multisubjectmax 0")
    wait_for(lambda: js.info(url, "S")["state"]["messages"] == 25, "all messages are stored")
    subjects = set(js.ask(url, "STREAM.INFO.S", {"subjects_filter": ">"})["state"]["subjects"])
    assert subjects == {f"m.{number}" for number in range(7)}


@pytest.mark.slow
def test_a_bar_on_a_terminal(cli: Cli) -> None:
    terminal = cli.terminal("bench pub events --msgs 300 --rate 400")
    terminal.expect("Publishing without acks.*/300")
    terminal.expect("300 published")
    terminal.wait()
    assert terminal.exitstatus == 0
    quiet = cli.terminal("bench pub events --msgs 100 --rate 400 --no-progress")
    quiet.expect("100 published")
    assert "/100" not in str(quiet.before)
    quiet.wait()


def test_a_number_of_messages_may_have_an_exponent(cli: Cli) -> None:
    assert run(cli, "pub a --msgs 2e3")["messages"] == 2000
    assert cli("pub a x --count 1e1", status=0).err.count("Published") == 10
    for wrong in ("2e", "e3", "2e-1", "2.5e3", "1e99", "-1e3"):
        assert "--msgs" in cli(f"bench pub a --msgs {wrong}", status=64).err
