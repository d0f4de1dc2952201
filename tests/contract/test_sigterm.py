"""SIGTERM, as timeout, systemd and Kubernetes send it, to what has no end of its own."""

import signal
from collections.abc import Sequence
from pathlib import Path

import pexpect
import pytest

from tests.support import js
from tests.support.processes import is_connected
from tests.support.run import Cli
from tests.support.servers import Account, AccountServers
from tests.support.waiting import wait_for


@pytest.fixture(scope="module")
def account(account_servers: AccountServers, tmp_path_factory: pytest.TempPathFactory) -> Account:
    """With something to watch of each kind."""
    account = account_servers.new_account()
    cli = Cli(tmp_path_factory.mktemp("account"), account.url)
    js.stream(account.url, "S", "s.>")
    for line in ("consumer add S C --pull --defaults", "kv add B", "object add O"):
        cli(line, status=0)
    return account


@pytest.mark.parametrize(
    "line",
    [
        "sub s.>",
        "sub s.> --count 9",
        "sub s.> --json",
        "sub --stream S",
        "sub s.> --report-subjects",
        "consumer sub S C",
        "kv watch B",
        "object watch O",
        "events --all",
        "reply r hello",
        "service serve echo",
        "report --watch 200ms",
        "report --watch 200ms --json",
        "account report connections --watch 200ms",
        "server watch jetstream --as plain",
    ],
)
def test_what_is_watched_ends_with_143(line: str, account: Account, tmp_path: Path) -> None:
    words: Sequence[str] = line.split()
    if words[0] == "server":
        words = [*words, "--server", account.server.url_for("admin")]
    process = Cli(tmp_path, account.url).start(words)
    try:
        wait_for(lambda: is_connected(process.pid), "it does not connect")
        process.terminate()
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 143 and "Traceback" not in err, (out, err)


@pytest.mark.parametrize(
    ("line", "question"),
    [
        ("stream rm S", "Really delete"),
        ("stream add", "Stream Name"),
        ("stream state", "Select a Stream"),
        ("server passwd", "Password"),
        ("shell", "ctrl-D ends it"),
    ],
)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_question_leaves_the_terminal_as_it_was(
    line: str, question: str, number: signal.Signals, cli: Cli, url: str
) -> None:
    js.stream(url, "S", "s.>")
    with cli.terminal(line) as screen:
        screen.expect_exact(question)
        wait_for(lambda: not screen.getecho(), "the question does not read keys")
        screen.kill(number)
        screen.expect(pexpect.EOF)
        assert screen.getecho()
        screen.close()
        assert 128 + number in (screen.exitstatus, 128 + (screen.signalstatus or 0))
