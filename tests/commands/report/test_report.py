"""`jsctl report` against real servers, on a terminal and in a pipe."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from jsctl.schema.catalog import load_schema
from jsctl.schema.validator import validate
from tests.support import js
from tests.support.emulator import Watched
from tests.support.run import Cli
from tests.support.servers import HubLeaf, RealServer, free_port
from tests.support.waiting import wait_for


@pytest.fixture
def two(offline_cli: Cli, url: str) -> Cli:
    """Contexts: `here`, and `gone` where no server is."""
    offline_cli(f"context add here --server {url}", status=0)
    offline_cli(f"context add gone --server nats://127.0.0.1:{free_port()}", status=0)
    return offline_cli


def test_two_domains(hub_cli: Cli, hub_leaf: HubLeaf) -> None:
    js.stream(hub_leaf.url, "test", "test", domain="leaf")
    origin = {"name": "test", "external": {"api": "$JS.leaf.API", "deliver": ""}}
    js.stream(hub_leaf.url, "copy", domain="hub", mirror=origin)

    def connected() -> bool:
        return bool(js.ask(hub_leaf.url, "STREAM.INFO.copy", domain="hub")["mirror"]["active"] >= 0)

    wait_for(connected, "the mirror does not connect")
    for tty in (True, False):
        out = hub_cli("report --js-domain hub --js-domain leaf", tty=tty, status=0).out
        assert "domain hub" in out
        assert "domain leaf" in out
        assert "Replication Report" in out
        assert "$JS.leaf.API" in out
        assert "\x1b[?1049h" not in out
    document = hub_cli("--js-domain hub report --js-domain leaf --json", status=0).json
    hub, leaf = document["reports"]
    assert (hub["domain"], leaf["domain"]) == ("hub", "leaf")
    assert [row["stream"] for row in hub["streams"]] == ["copy"]
    assert [(row["stream"], row["kind"], row["origin"]) for row in hub["replication"]] == [
        ("copy", "mirror", "test")
    ]
    assert [row["stream"] for row in leaf["streams"]] == ["test"]
    assert hub["error"] is None


def test_the_servers_own_domain_is_named(hub_cli: Cli) -> None:
    assert hub_cli("report --json", status=0).json["reports"][0]["domain"] == "hub"


def test_values_before_and_after_the_command_count(two: Cli) -> None:
    for line in (
        "report --context here --context gone",
        "--context here report --context gone",
        "--context here --context gone report",
    ):
        reports = two(f"{line} --json", status=4).json["reports"]
        assert [one["context"] for one in reports] == ["here", "gone"], line


def test_for_other_commands_the_last_context_counts(two: Cli) -> None:
    two("--context gone stream ls --context here", status=0)
    two("stream ls --context gone --context here", status=0)
    two("stream ls --context here", environ={"NATS_CONTEXT": "gone"}, status=0)
    assert two("stream ls", environ={"NATS_CONTEXT": "gone"}).status == 4


def test_one_context_fails_the_other_is_shown(two: Cli, url: str) -> None:
    js.stream(url, "s", "s.x")
    for tty in (True, False):
        outcome = two("report --context gone --context here", tty=tty, status=4)
        assert "connection refused" in outcome.out
        assert "here" in outcome.out
        assert "Stream Report" in outcome.out
    reports, here = two("report --context gone --context here --json", status=4).json["reports"]
    assert "connection refused" in reports["error"]
    assert reports["streams"] == []
    assert here["error"] is None
    assert len(here["streams"]) == 1


def test_a_single_context_fails_in_one_line(two: Cli) -> None:
    outcome = two("report --context gone", status=4)
    assert outcome.out == ""
    assert outcome.err.count("\n") == 1


def test_variables_do_not_merge_contexts(two: Cli) -> None:
    result = two(
        "report --context gone --context here --json", environ={"NATS_URL": "nats://127.0.0.1:1"}
    ).json
    assert [bool(one["error"]) for one in result["reports"]] == [True, False]
    two("report --context gone --context here --server nats://127.0.0.1:1", status=64)


def test_unknown_context(two: Cli) -> None:
    two("report --context here --context nope", status=3)


def test_json_lines(cli: Cli, url: str) -> None:
    js.stream(url, "s", "s.x")
    lines = cli("report --watch 200ms --count 5 --json", status=0).out.splitlines()
    documents = [json.loads(line) for line in lines]
    assert len({d["at"] for d in documents}) == len(documents) == 5
    # A round ends after the interval; a busy server is not in the first ones.
    reports = [d["reports"][0] for d in documents if d["reports"][0]["streams"]]
    rates = [report["streams"][0]["message_rate"] for report in reports]
    assert rates and rates == [None, *[0.0] * (len(rates) - 1)]


def test_rounds_in_a_pipe_are_text(cli: Cli, url: str) -> None:
    js.stream(url, "s", "s.x")
    out = cli("report --watch=1s --count 2", status=0).out
    assert out.count("Stream Report") == 2
    assert out.count("No Streams") == 0
    assert "\x1b" not in out


def test_a_watch_continues_without_a_server(two: Cli) -> None:
    lines = two("report --context gone --watch 100ms --count 2 --json", status=0).out.splitlines()
    assert ["connection refused" in json.loads(line)["reports"][0]["error"] for line in lines] == [True, True]


def test_only_matching_streams_in_the_order_asked(cli: Cli, url: str) -> None:
    for name in ("ORDERS-a", "ORDERS-b", "other"):
        js.stream(url, name, f"{name}.x")
    js.publish(url, "ORDERS-b.x")
    streams = cli("report --stream 'ORDERS*' --json", status=0).json["reports"][0]["streams"]
    assert [row["stream"] for row in streams] == ["ORDERS-a", "ORDERS-b"]
    out = cli("report --stream 'ORDERS*' --sort bytes", status=0).out
    assert out.index("ORDERS-b") < out.index("ORDERS-a")


def test_consumers(cli: Cli, url: str) -> None:
    js.stream(url, "s", "s.x")
    assert cli("report --json", status=0).json["reports"][0]["consumers"] == []
    config = {"durable_name": "work", "ack_policy": "explicit"}
    js.ask(url, "CONSUMER.CREATE.s.work", {"stream_name": "s", "config": config})
    js.publish(url, "s.x", count=3)
    (consumers,) = cli("report --json", status=0).json["reports"][0]["consumers"]
    assert (consumers["stream"], consumers["consumer"], consumers["mode"], consumers["unprocessed"]) == (
        "s",
        "work",
        "pull",
        3,
    )
    assert "Consumer Report" in cli("report", tty=True, status=0).out
    assert cli("report --json --no-consumers", status=0).json["reports"][0]["consumers"] is None


def test_foreign_text(cli: Cli, url: str) -> None:
    js.stream(url, "odd", "a.\x1b[31m", description="[red]x[/red]")
    for line in ("report", "report --watch 1s --count 2"):
        out = cli(line, tty=True, width=100, status=0).out
        assert "odd" in out
        assert "\x1b[31m\x1b" not in out


def test_wrong_input(cli: Cli) -> None:
    assert "100ms" in cli("report --watch 1ms", status=64).err
    cli("report --watch nonsense", status=64)
    for line in ("report --watch history", "report --watch 5s history --from x"):
        result = "jsctl: error: --watch is for jsctl report alone, not for jsctl report history;"
        assert cli(line, status=64).err.startswith(result)
    cli("report --count 0", status=64)
    cli("report --js-domain a --js-api-prefix b.c", status=64)


def test_a_missing_domain(hub_cli: Cli) -> None:
    reports = hub_cli("report --js-domain hub --js-domain nope --json", status=4).json["reports"]
    assert reports[0]["error"] is None
    assert "$JS.nope.API" in reports[1]["error"]


def test_csv_names_context_and_domain(two: Cli, url: str) -> None:
    js.stream(url, "s", "s.x")
    outcome = two("report --context gone --context here --as csv", status=4)
    head, row = outcome.out.splitlines()
    assert head.startswith("context,domain,stream,")
    assert row.startswith("here,,s,")
    assert "gone: " in outcome.err


def test_another_server_is_not_called_by_the_contexts_name(two: Cli, url: str) -> None:
    js.stream(url, "s", "s.x")
    two("context select gone", status=0)
    address = url.split("@")[1]
    for line, variables in ((f"report -s {url}", {}), ("report", {"NATS_URL": url})):
        assert f"{address}: all well" in two(line, environ=variables, status=0).out
        (reports,) = two(f"{line} --json", environ=variables, status=0).json["reports"]
        assert reports["context"] == f"nats://{address}"
        assert two(f"{line} --as csv", environ=variables, status=0).out.splitlines()[1].startswith("nats://")
    two("context select here", status=0)
    assert two(f"report -s {url} --json", status=0).json["reports"][0]["context"] == "here"


RIGHTS = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
accounts {
  A: { jetstream: enabled, users: [
    {user: all, password: all}
    {user: none, password: none, permissions: { publish: { deny: "$JS.API.CONSUMER.LIST.>" } }}
    {user: some, password: some, permissions: { publish: { deny: "$JS.API.CONSUMER.LIST.T" } }}
  ] }
}
"""


@pytest.fixture
def rights(tmp_path: Path) -> Iterator[RealServer]:
    one = RealServer(tmp_path, RIGHTS).start()
    try:
        for name in ("S", "T"):
            js.stream(one.url_for("all"), name, f"{name}.>")
            config = {"durable_name": "C", "ack_policy": "explicit"}
            js.ask(one.url_for("all"), f"CONSUMER.CREATE.{name}.C", {"stream_name": name, "config": config})
        yield one
    finally:
        one.stop()


def test_a_missing_right_hides_no_more_than_its_own(offline_cli: Cli, rights: RealServer) -> None:
    denied = "not allowed to publish to $JS.API.CONSUMER.LIST."
    for user, whose, consumers in (("none", "2 streams", None), ("some", "stream T", ["S"])):
        url = rights.url_for(user)
        shown = offline_cli(f"report -s {url}", tty=True, width=200, status=0).out
        assert "Stream Report" in shown
        assert f"the consumers of {whose} cannot be listed: {denied}" in shown
        assert "all well" not in shown
        (reports,) = offline_cli(f"report -s {url} --json", status=0).json["reports"]
        assert [row["stream"] for row in reports["streams"]] == ["S", "T"]
        assert reports["error"] is None
        assert reports["trouble"] == [] and denied in reports["not_checked"][0]["why"]
        listed = reports["consumers"]
        assert (listed and [row["stream"] for row in listed]) == consumers
        assert denied in offline_cli(f"report -s {url} --as csv", status=0).err


def test_csv_holds_one_table_and_rounds_one_heading(cli: Cli, url: str) -> None:
    js.stream(url, "s", "s.x")
    cli("consumer add s C --pull", status=0)
    once = cli("report --as csv", status=0)
    assert len(once.out.splitlines()) == 2
    assert "--json also has: consumers" in once.err
    rounds = cli("report --as csv --watch 1s --count 2", status=0)
    assert len(rounds.out.splitlines()) == 3
    assert rounds.err.count("\n") == 1


def test_never_is_null(cli: Cli, url: str) -> None:
    js.stream(url, "s", "s.x")
    js.stream(url, "m", mirror={"name": "nope"})
    cli("consumer add s C --pull", status=0)
    (whole,) = cli("report --json", status=0).json["reports"]
    assert whole["consumers"][0]["last_delivery_ns"] is None
    assert whole["replication"][0]["active_ns"] is None
    assert cli("stream report --json", status=0).json["replication"][0]["active_ns"] is None
    (row,) = cli("consumer report s --json", status=0).json["consumers"]
    assert (row["ack_age_ns"], row["ack_wait_ns"]) == (None, 30 * 10**9)
    assert "never" in cli("report", status=0).out


def test_consumers_that_may_be_listed_are_shown(offline_cli: Cli, rights: RealServer) -> None:
    denied = "not allowed to publish to $JS.API.CONSUMER.LIST.T (Permissions Violation)"
    line = f"consumer report S T -s {rights.url_for('some')}"
    shown = offline_cli(line, status=0).out
    assert "Consumer report for 2 streams with 1 consumer\n" in shown
    assert f"the consumers of stream T are not shown: {denied}" in shown
    assert offline_cli(f"{line} --json", status=0).json["refused"] == {"T": denied}
    assert denied in offline_cli(f"consumer report T -s {rights.url_for('some')}", status=5).err


@pytest.fixture
def behind(cli: Cli, url: str) -> Cli:
    """With a stream of five messages, its mirror, and a consumer that has read none of them."""
    js.stream(url, "ORDERS", "orders.>")
    js.publish(url, "orders.1", count=5)
    js.stream(url, "COPY", mirror={"name": "ORDERS"})
    config = {"durable_name": "NEW", "ack_policy": "explicit"}
    js.ask(url, "CONSUMER.DURABLE.CREATE.ORDERS.NEW", {"stream_name": "ORDERS", "config": config})
    wait_for(lambda: js.info(url, "COPY")["state"]["messages"] == 5, "the mirror has everything")
    wait_for(lambda: js.info(url, "ORDERS")["state"]["messages"] == 5, "all messages are stored")
    return cli


def test_the_keys_are_those_of_the_schema(behind: Cli, two: Cli) -> None:
    document = behind("report --json", status=0).json
    report = document["reports"][0]
    assert report["streams"] and report["replication"] and report["consumers"]
    assert not validate(document, load_schema("io.jsctl.v1.report"))
    for line in (
        "report --json --context here --context gone",
        "report --json --context here --no-consumers",
    ):
        assert not validate(two(line).json, load_schema("io.jsctl.v1.report")), line
    changed = json.loads(json.dumps(document))
    changed["reports"][0]["streams"][0]["size"] = 1
    assert validate(changed, load_schema("io.jsctl.v1.report"))


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("unprocessed >= 5", "consumer ORDERS > NEW"),
        ("kind == 'stream' and messages > 4 and stream startsWith 'ORD'", "stream ORDERS"),
        ("problems > 0 and kind == 'consumer'", "consumer ORDERS > NEW"),
        ("lag > 1000", ""),
        ("lag_messages >= 5", "consumer ORDERS > NEW"),
        ("lag_messages > 5", ""),
        ("unprocessed > 5 or lag > 5", ""),
        ("lag >= 5", "consumer ORDERS > NEW"),
    ],
)
def test_a_condition_sets_the_status(condition: str, holds: str, behind: Cli) -> None:
    outcome = behind(["report", "--fail-on", condition], status=1 if holds else 0)
    assert "ORDERS" in outcome.out
    said = [line for line in outcome.err.splitlines() if "--fail-on" in line]
    assert len(said) == bool(holds) and (not holds or said[0].endswith(holds))
    assert behind(["report", "--json", "--fail-on", condition], status=outcome.status).json["reports"]


def test_conditions_that_no_row_can_have(cli: Cli) -> None:
    for condition, text in (("lga > 5", "unknown name 'lga'"), ("lag >", "incomplete")):
        err = cli(["report", "--fail-on", condition], status=64).err
        assert text in err and len(err.splitlines()) == 1, err
    assert "unknown name 'lga'" in cli(["report", "--count", "2", "--fail-on", "lga > 5"], status=64).err
    assert "shows a recorded file" in cli("report --replay x --fail-on true", status=64).err


@pytest.mark.slow
def test_a_condition_ends_a_watch(behind: Cli, url: str, tmp_path: Path) -> None:
    """In a pipe, while it is recorded, and on a screen: at the first round for which it holds."""
    condition = ["--watch", "100ms", "--fail-on", "stream == 'ORDERS' and messages > 5", "--allow-unchecked"]
    assert len(behind(["report", *condition, "--count", "2", "--json"], status=0).out.splitlines()) == 2
    watched = Watched(behind.terminal(["report", *condition, "--part", "accounts"]))
    watched.until("API Errors")
    js.publish(url, "orders.1")
    assert watched.end() == 1
    assert re.search("--fail-on holds for .*stream ORDERS", watched.screen.text)
    file = tmp_path / "rounds"
    for line in (["report", *condition, "--json"], ["report", *condition, "--json", "--record", str(file)]):
        outcome = behind(line, status=1)
        assert (
            _holds(outcome.out).index(True) == outcome.out.count("\n") - 1
            and "--fail-on holds for" in outcome.err
        )
    replayed = behind(f"report --replay {file} --json", status=0).out
    assert _holds(replayed).index(True) == replayed.count("\n") - 1


def _holds(rounds: str) -> list[bool]:
    """Return for each round whether the condition holds; a slow server is not in the first ones."""
    reports = [report for line in rounds.splitlines() for report in json.loads(line)["reports"]]
    return [
        any(row["stream"] == "ORDERS" and row["messages"] > 5 for row in report["streams"])
        for report in reports
    ]


@pytest.mark.slow
def test_a_recording_without_a_terminal_has_all_parts(
    offline_cli: Cli, url: str, system_url: str, tmp_path: Path
) -> None:
    """Servers and the account, too: a recorder runs where nobody looks."""
    js.stream(url, "ORDERS", "orders.>")
    offline_cli(f"context add here --server {url}", status=0)
    offline_cli(f"context add system --server {system_url}", status=0)
    file = tmp_path / "rounds"
    contexts = "--context here --context system"
    # A round ends when all have answered, or after the interval.
    lines = offline_cli(f"report --record {file} --watch 60s --count 1 --json {contexts}", status=0).out
    [first] = [json.loads(line)["reports"] for line in lines.splitlines()]
    assert first[0]["streams"] and first[1]["servers"] and first[1]["error"] is None
    watched = Watched(offline_cli.terminal(f"report --replay {file} --part servers"))
    watched.until("test-server")
    watched.press("5")
    watched.until(lambda text: re.search("here +1 .*unlimited", text))
    watched.press("q")
    assert watched.end() == 0
