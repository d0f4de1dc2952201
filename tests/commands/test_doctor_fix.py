"""`doctor --fix`: a plan, a person's yes, one command at a time, and what does not help is undone."""

import asyncio
import os
import shlex
import signal
from pathlib import Path
from typing import Any

import pytest

from jsctl.monitor.doctor.repairing import list_new, run_steps
from jsctl.monitor.trouble import Trouble
from jsctl.schema.catalog import load_schema
from jsctl.schema.validator import validate
from tests.support import js
from tests.support.doctor import Patient, hub, running
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.waiting import wait_for

UNTIL = "2090-01-01T00:00:00Z"


@pytest.fixture
def cli(offline_cli: Cli, url: str) -> Cli:
    """With a context for the account."""
    offline_cli(f"context add here --server {url} --select", status=0)
    return offline_cli


def consumer(url: str, name: str, **config: Any) -> None:
    wanted = {"durable_name": name, "ack_policy": "explicit", **config}
    js.ask(url, f"CONSUMER.CREATE.ORDERS.{name}", {"stream_name": "ORDERS", "config": wanted})


def state(url: str) -> list[Any]:
    """What a repair could change."""
    consumers = js.ask(url, "CONSUMER.LIST.ORDERS")["consumers"] or []
    return [js.info(url, "ORDERS")["config"], [one["config"] for one in consumers]]


@pytest.fixture
def ill(url: str) -> str:
    """A stream near its limit with a paused consumer, and one whose messages nobody pulls."""
    js.stream(url, "ORDERS", "orders.>", discard="new", max_msgs=10)
    consumer(url, "PAUSED", pause_until=UNTIL, filter_subject="orders.none")
    consumer(url, "NEW")
    js.publish(url, "orders.1", count=9)
    wait_for(lambda: js.info(url, "ORDERS")["state"]["messages"] == 9, "messages are not stored")
    return url


@pytest.mark.slow
@pytest.mark.usefixtures("outputs_are_valid")
def test_the_plan_changes_nothing(cli: Cli, ill: str) -> None:
    before = state(ill)
    shown = cli("doctor --fix --dry-run", status=1)
    assert shown.out.startswith("Would run 2 commands, one after the other:\n1. Stream ORDERS (LIMIT_NEAR): ")
    lines = shown.out.splitlines()
    assert "   jsctl consumer resume ORDERS PAUSED --force --context here" in lines
    assert f"   undone by: jsctl consumer pause ORDERS PAUSED {UNTIL} --force --context here" in lines
    assert "To be fixed by a person:" in lines and "(NOBODY_PULLS)" in shown.out
    assert "3 findings on 1 context, 1 domain, 1 stream and 1 server" in lines
    assert lines[-1] == "Nothing was changed"
    document = cli("doctor --fix --dry-run --json", status=1).json
    assert document["dry_run"] is True and len(document["findings"]) == 3
    assert [(step["code"], step["outcome"]) for step in document["steps"]] == [
        ("LIMIT_NEAR", "not_run"),
        ("CONSUMER_PAUSED", "not_run"),
    ]
    for step in document["steps"]:
        assert shlex.split(step["line"]) == ["jsctl", *step["command"]]
        finding = next(one for one in document["findings"] if one["code"] == step["code"])
        assert step["line"].replace(" --force", "") in finding["fix"], "one source"
    assert state(ill) == before


@pytest.mark.slow
def test_what_is_well_has_no_plan(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    for flags in ("--dry-run", "--yes", ""):
        assert "\nNothing is wrong with 1 context" in cli(f"doctor --fix {flags}", status=0).out
        assert cli(f"doctor --fix {flags} --json", status=0).json["steps"] == []
    consumer(url, "NEW")
    js.publish(url, "orders.1")
    shown = cli("doctor --fix --yes", status=1).out
    assert shown.startswith("No finding has an automatic fix:\n")


@pytest.mark.slow
def test_nothing_is_run_without_a_yes(cli: Cli, ill: str) -> None:
    before = state(ill)
    refused = cli("doctor --fix", status=64)
    assert refused.err == (
        "jsctl: error: cannot ask 'Really run these 2 commands' without a terminal; use --yes, or see the"
        " plan with --dry-run\n"
    )
    assert state(ill) == before
    outcome = cli("doctor --fix", answers=[False])
    assert "jsctl consumer resume ORDERS PAUSED" in outcome.err and "nothing was changed" in outcome.err
    assert state(ill) == before
    cli("doctor --fix", answers=[True], status=1)
    assert state(ill) != before


@pytest.mark.slow
def test_commands_that_help(cli: Cli, ill: str) -> None:
    document = cli("doctor --fix --yes --json", status=1).json
    assert [(step["outcome"], step["why"]) for step in document["steps"]] == [("fixed", None)] * 2
    assert [finding["code"] for finding in document["findings"]] == ["NOBODY_PULLS"]
    assert js.info(ill, "ORDERS")["config"]["max_msgs"] == 20
    assert not js.ask(ill, "CONSUMER.INFO.ORDERS.PAUSED").get("paused")
    cli("consumer rm ORDERS NEW --force", status=0)
    cli(f"consumer pause ORDERS PAUSED {UNTIL} --force", status=0)
    shown = cli("doctor --fix --yes", status=0).out.splitlines()
    assert shown[0] == "Consumer ORDERS > PAUSED (CONSUMER_PAUSED): fixed"
    assert shown[-1].startswith("Nothing is wrong with 1 context")


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        ("BEHIND a, NEAR s", "BEHIND b", ""),
        ("BEHIND a, NEAR s", "", ""),
        ("BEHIND a, NEAR s", "BEHIND a, BEHIND b", "BEHIND (b)"),
        ("NEAR s", "BEHIND b", "BEHIND (b)"),
        (
            "NEAR s, NEAR s",
            "NEAR s, NEAR t",
            "",
        ),
        ("NEAR s", "NEAR s, NEAR s", "NEAR (s)"),
    ],
)
def test_a_finding_that_moves_is_not_new(before: str, after: str, new: str) -> None:
    def parse(text: str) -> list[Trouble]:
        words = (word.split() for word in text.split(", ") if word)
        return [Trouble("", True, code, about=about) for code, about in words]

    assert ", ".join(list_new(parse("NEAR s")[0], parse(before), parse(after))) == new


@pytest.mark.parametrize(
    ("objects", "counts"),
    [
        (["stream hub > OTHER"], False),
        (["consumer hub > OTHER > C", "stream hub > MORE"], False),
        (["stream hub > OTHER from $JS.leaf.API.MORE"], False),
        (["stream hub > ORDERS"], True),
        (["consumer hub > ORDERS > C"], True),
        (["stream leaf > COPY from $JS.hub.API.ORDERS"], True),
        (["stream hub > OTHER", "stream hub > ORDERS"], True),
        (["server n1", "stream hub > OTHER"], True),
        (["domain hub"], True),
        ([], True),
    ],
)
def test_a_finding_of_other_streams_alone_does_not_count(objects: list[str], counts: bool) -> None:
    for step in ("stream hub > ORDERS", "consumer hub > ORDERS > D"):
        first = Trouble("", True, "NEAR", objects=[step])
        came = Trouble("", True, "BEHIND", about="x", objects=objects)
        assert list_new(first, [first], [came]) == (["BEHIND (x)"] if counts else [])


@pytest.mark.slow
@pytest.mark.parametrize(("stream", "outcome"), [("OTHER", "fixed"), ("ORDERS", "undone")])
def test_what_comes_at_the_same_time(
    cli: Cli, url: str, monkeypatch: pytest.MonkeyPatch, stream: str, outcome: str
) -> None:
    """A consumer of another stream that is paused while a step runs undoes nothing."""
    from jsctl.monitor.doctor import repairing

    monkeypatch.setattr(repairing, "LIMIT_SECONDS", 1)
    js.stream(url, "ORDERS", "orders.>", discard="new", max_msgs=10)
    js.publish(url, "orders.1", count=9)
    js.stream(url, "OTHER", "other")
    real_wait = repairing._wait

    async def pause_and_wait(*arguments: Any) -> Any:
        wanted = {"durable_name": "C", "ack_policy": "explicit", "pause_until": UNTIL}
        create = {"stream_name": stream, "config": wanted}
        await asyncio.to_thread(js.ask, url, f"CONSUMER.CREATE.{stream}.C", create)
        return await real_wait(*arguments)

    monkeypatch.setattr(repairing, "_wait", pause_and_wait)
    document = cli("doctor --fix --yes --json", status=1).json
    assert [step["outcome"] for step in document["steps"]] == [outcome]
    assert "CONSUMER_PAUSED" in [finding["code"] for finding in document["findings"]]
    assert js.info(url, "ORDERS")["config"]["max_msgs"] == (20 if outcome == "fixed" else 10)


@pytest.mark.slow
@pytest.mark.cluster
@pytest.mark.parametrize(("returns", "outcome"), [(True, "fixed"), (False, "run")])
def test_a_server_that_goes_away_by_itself_undoes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, returns: bool, outcome: str
) -> None:
    from jsctl.monitor.doctor import repairing

    monkeypatch.setattr(repairing, "LIMIT_SECONDS", 60 if returns else 1)
    cluster = Cluster(tmp_path).start()
    patient = Patient(tmp_path)
    try:
        patient.context("here", ",".join(server.url_for("acc") for server in cluster.servers.values()))
        patient.context("system", cluster.system_url)
        js.stream(cluster.url, "ORDERS", "orders.>", discard="new", max_msgs=10, num_replicas=3)
        js.publish(cluster.url, "orders.1", count=9)
        wait_for(lambda: patient.codes() == ["LIMIT_NEAR"], "the cluster is well otherwise", 60)
        leader = js.info(cluster.url, "ORDERS")["cluster"]["leader"]
        away = next(server for name, server in cluster.servers.items() if name not in (leader, "n1"))
        real_wait = repairing._wait

        async def stop_and_wait(*arguments: Any) -> Any:
            await asyncio.to_thread(away.stop)
            await asyncio.to_thread(
                wait_for, lambda: "REPLICA_OFFLINE" in patient.codes(), "the server is seen to be away", 60
            )
            if returns:
                await asyncio.to_thread(away.start)
            return await real_wait(*arguments)

        monkeypatch.setattr(repairing, "_wait", stop_and_wait)
        [step] = patient.cli("doctor --fix --yes --json --all-contexts").json["steps"]
        assert step["outcome"] == outcome, step
        assert returns or "cannot be judged" in step["why"]
        url = cluster.servers[leader].url_for("acc")
        assert js.info(url, "ORDERS")["config"]["max_msgs"] == 20
    finally:
        cluster.stop()


@pytest.mark.slow
def test_the_schema_requires_what_is_always_there(cli: Cli, ill: str) -> None:
    schema = load_schema("io.jsctl.v1.doctor")
    required = schema["anyOf"][0]["required"]
    assert {"at", "findings", "contexts", "rules"} <= {*required}
    for line in ("doctor", "doctor --fix --dry-run", "doctor --fix --yes"):
        document = cli(f"{line} --json", status=1).json
        assert document["findings"] and validate(document, schema) == [], line
        for key in required:
            assert validate({name: value for name, value in document.items() if name != key}, schema), key


@pytest.mark.slow
def test_what_is_ignored_stays(cli: Cli, ill: str) -> None:
    cli("doctor --fix --yes --ignore consumer_paused", status=1)
    assert js.ask(ill, "CONSUMER.INFO.ORDERS.PAUSED")["paused"]
    assert js.info(ill, "ORDERS")["config"]["max_msgs"] == 20


@pytest.mark.slow
def test_a_command_that_does_not_help_is_undone(cli: Cli, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the limit is still near; the next step is done nevertheless."""
    monkeypatch.setattr("jsctl.monitor.doctor.repairing.LIMIT_SECONDS", 0)
    monkeypatch.setattr("jsctl.monitor.rules.streams.NEARLY", 0.4)
    js.stream(url, "ORDERS", "orders.>")
    for number in range(4):
        consumer(url, f"C{number}")
    cli(f"consumer pause ORDERS C0 {UNTIL} --force", status=0)
    js.ask(url, "STREAM.UPDATE.ORDERS", {**js.info(url, "ORDERS")["config"], "max_consumers": 1})
    assert js.info(url, "ORDERS")["config"]["max_consumers"] == 1
    document = cli("doctor --fix --yes --json", status=1).json
    assert [(step["code"], step["outcome"], step["why"]) for step in document["steps"]] == [
        ("LIMIT_NEAR", "undone", "the finding is still there"),
        ("CONSUMER_PAUSED", "fixed", None),
    ]
    assert js.info(url, "ORDERS")["config"]["max_consumers"] == 1
    assert [finding["code"] for finding in document["findings"]] == ["LIMIT_NEAR"]


@pytest.mark.slow
@pytest.mark.parametrize(("returns", "outcome"), [(True, "fixed"), (False, "not_run")])
def test_a_server_that_fails_before_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, returns: bool, outcome: str
) -> None:
    """Nobody can know whether a command is still needed."""
    monkeypatch.setattr("jsctl.monitor.doctor.repairing.LIMIT_SECONDS", 10 if returns else 1)
    patient = Patient(tmp_path)
    with running(tmp_path, hub()) as [server]:
        url = server.url_for("acc")
        patient.context("hub", url)
        patient.context("other", server.url_for("imp"))
        js.stream(url, "ORDERS", "orders")
        consumer(url, "PAUSED", pause_until=UNTIL, filter_subject="orders")

        async def stop_and_run(steps: Any, planned: Any, look: Any, run: Any) -> Any:
            await asyncio.to_thread(server.stop)
            first = await look()
            if returns:
                await asyncio.to_thread(server.start)

            async def look_again(looks: list[Any] = [first]) -> Any:  # noqa: B006
                return looks.pop() if looks else await look()

            return await run_steps(steps, planned, look_again, run)

        monkeypatch.setattr("jsctl.commands.doctor.run_steps", stop_and_run)
        document = patient.cli("doctor --fix --yes --json --context hub --context other").json
        [step] = document["steps"]
        assert step["outcome"] == outcome
        assert returns or "came before it" in step["why"]


@pytest.mark.slow
def test_a_command_that_is_refused(tmp_path: Path) -> None:
    """Twice the limit is more than the account may store; the other step is done."""
    small = "SMALL: { jetstream: {max_file: 1000000}, users: [{user: small, password: small}] }"
    patient = Patient(tmp_path)
    with running(tmp_path, hub(more=small)) as [server]:
        url = server.url_for("small")
        patient.context("small", url)
        js.stream(url, "ORDERS", "orders", discard="new", max_bytes=600_000)
        js.publish(url, "orders", b"x" * 50_000, count=11)
        consumer(url, "PAUSED", pause_until=UNTIL, filter_subject="none")
        wait_for(lambda: js.info(url, "ORDERS")["state"]["messages"] == 11, "messages are not stored")
        first, second = patient.cli("doctor --fix --yes --json --context small", status=1).json["steps"]
        assert (first["code"], first["outcome"]) == ("LIMIT_NEAR", "failed")
        assert "storage" in first["why"]
        assert (second["code"], second["outcome"]) == ("CONSUMER_PAUSED", "fixed")
        assert js.info(url, "ORDERS")["config"]["max_bytes"] == 600_000


@pytest.mark.slow
def test_a_login_in_the_address_is_kept(tmp_path: Path) -> None:
    """The commands show the address without it."""
    more = "A: { jetstream: enabled, users: [{user: a, password: secret-a}] }"
    patient = Patient(tmp_path)
    with running(tmp_path, hub(more=more)) as [server]:
        url = server.url_for("a").replace("a:a@", "a:secret-a@")
        js.stream(url, "ORDERS", "orders")
        consumer(url, "PAUSED", pause_until=UNTIL)
        [step] = patient.cli(f"doctor --fix --yes --json --server {url}", status=0).json["steps"]
        assert step["outcome"] == "fixed" and "secret-a" not in step["line"]


@pytest.mark.slow
def test_variables_do_not_go_before_contexts(cli: Cli, ill: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.environ["NATS_URL"] = "nats://127.0.0.1:1"
    document = cli("doctor --fix --yes --json --context here", status=1).json
    assert [step["outcome"] for step in document["steps"]] == ["fixed", "fixed"]


@pytest.mark.slow
def test_an_interruption_says_what_was_run(cli: Cli, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    js.stream(url, "ORDERS", "orders.>")
    for number in range(4):
        consumer(url, f"C{number}")
    js.ask(url, "STREAM.UPDATE.ORDERS", {**js.info(url, "ORDERS")["config"], "max_consumers": 1})

    async def interrupt(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.Event().wait()

    monkeypatch.setattr("jsctl.monitor.doctor.repairing._wait", interrupt)
    outcome = cli("doctor --fix --yes", status=130)
    assert "Stream ORDERS (LIMIT_NEAR): run, and neither seen to help nor undone" in outcome.err
    assert "   undone by: jsctl stream edit ORDERS --max-consumers 1 --force --context here" in outcome.err
    assert js.info(url, "ORDERS")["config"]["max_consumers"] == 8


def test_flags_that_need_fix(offline_cli: Cli) -> None:
    assert "--dry-run requires --fix" in offline_cli("doctor --dry-run", status=64).err
    assert "--yes requires --fix" in offline_cli("doctor --yes", status=64).err
    assert "cannot be used with" in offline_cli("doctor --fix --rules", status=64).err
