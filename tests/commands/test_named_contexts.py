"""A context that is named, and environment variables that lead elsewhere."""

import json
from pathlib import Path

import pytest

from jsctl import registry
from tests.support import js
from tests.support.run import Cli
from tests.support.servers import AccountServers, free_port

OWN = [
    "doctor --context a",
    "report --context a",
    "report --context a --context b",
    "report --context a --watch 100ms --count 1",
    "exporter --textfile - --count 1 --context a",
    "diff -f streams.yaml --context a",
    "apply -f streams.yaml --context a --dry-run",
    "consumer why ORDERS NEW --context a",
    "kv diff B B --context a",
    "kv export B --context a",
    "export config --context a",
    "object status F --context a",
    "stream copy ORDERS COPY --from-context a --to-context b --dry-run",
    "shell --context a -f lines.txt",
]
"""Lines that ask the server of context a, which a variable does not change."""

MIRRORED = [
    "stream ls",
    "stream info ORDERS",
    "consumer info ORDERS NEW",
    "kv ls",
    "pub orders.new x",
    "account info",
]


@pytest.fixture
def two(
    offline_cli: Cli, account_servers: AccountServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Cli:
    """Contexts a and b with streams; NATS_URL leads to a port where nobody answers."""
    cli = offline_cli
    for name in "ab":
        url = account_servers.new_account().url
        cli(f"context add {name} --server {url}", status=0)
        js.stream(url, "ORDERS", "orders.>")
        for line in ("consumer add ORDERS NEW --pull --defaults", "kv add B", "object add F"):
            cli(f"{line} --server {url}", status=0)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "streams.yaml").write_text("streams: [{name: ORDERS, subjects: [orders.>]}]")
    (tmp_path / "lines.txt").write_text("stream info ORDERS\n")
    cli.environ["NATS_URL"] = f"nats://127.0.0.1:{free_port()}"
    return cli


@pytest.mark.parametrize("line", OWN)
def test_verbs_of_jsctl_use_it(two: Cli, line: str) -> None:
    outcome = two(line)
    assert outcome.status in (0, 2) and "cannot connect" not in outcome.err, outcome
    assert "NATS_URL" not in outcome.err


@pytest.mark.parametrize("line", MIRRORED)
def test_verbs_of_nats_let_variables_go_first_and_say_so(two: Cli, line: str) -> None:
    outcome = two(f"{line} --context a", status=4)
    assert "NATS_URL goes before context a, as with nats; unset what is not meant" in outcome.err
    assert outcome.err.count("NATS_URL") == 1
    assert "NATS_URL" not in two(line).err  # no context is named
    two.environ["NATS_URL"] = ""
    assert "NATS_URL" not in two(f"{line} --context a", status=0).err


def test_a_variable_that_says_the_same_is_not_mentioned(two: Cli) -> None:
    context = json.loads((two.home / "nats" / "context" / "a.json").read_text())
    two.environ["NATS_URL"] = context["url"]
    assert "NATS_URL" not in two("stream ls --context a", status=0).err
    two.environ |= {"NATS_USER": "x", "NATS_PASSWORD": "y"}
    both = two("stream ls --context a")
    assert "NATS_PASSWORD, NATS_URL, NATS_USER go before context a" in both.err


def test_without_a_name_the_variable_goes_before_the_selected_context(two: Cli) -> None:
    two("context select a", status=0)
    for line in ("doctor", "report", "diff -f streams.yaml"):
        assert "cannot connect" in two(line, status=4).err + two(line).out
        assert two(f"{line} --context b").status in (0, 2)


def test_what_a_command_of_nats_is_called_is_no_command_of_ours() -> None:
    """Ours are found in the registry alone."""
    entries = registry.list_commands()
    own = {path for path, entry in entries.items() if entry.is_own}
    assert {"doctor", "report", "apply", "kv diff", "server network"} <= own
    assert not own & {"stream ls", "stream copy", "kv put", "context ls", "bench", "server report"}


def test_server_run_warns_of_what_hides_it(offline_cli: Cli, tmp_path: Path) -> None:
    line = f"server run --port 0 --background --store {tmp_path / 's'} --name one"
    variables = {"NATS_URL": "nats://127.0.0.1:1", "NATS_CONTEXT": "other"}
    try:
        started = offline_cli(line, environ=variables, status=0)
        assert (
            "warning: NATS_URL, NATS_CONTEXT hide what was started here; run: unset NATS_URL NATS_CONTEXT"
            in (started.err)
        )
    finally:
        offline_cli("server stop one")
    started = offline_cli(line, environ={"NATS_CONTEXT": "one"}, status=0)
    offline_cli("server stop one", status=0)
    assert "warning" not in started.err
