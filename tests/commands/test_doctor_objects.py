"""What `doctor` says of streams, copies and consumers, as `report` and `consumer why` do, with what mends it.

Each line is pasted: the finding is gone afterwards, and nothing else.
"""

import json
import re
import shlex
from typing import Any

import pytest

from jsctl.base.command_lines import ASKING, WITHOUT_TERMINAL
from jsctl.monitor.doctor.diagnosis import CODES
from tests.support import js
from tests.support.run import Cli
from tests.support.subscribing import subscribing
from tests.support.waiting import wait_for


def findings(cli: Cli) -> list[dict[str, Any]]:
    """The findings about this account."""
    found: list[dict[str, Any]] = cli("doctor --json").json["findings"]
    return found


def codes(cli: Cli) -> list[str]:
    return [finding["code"] for finding in findings(cli)]


def reported(cli: Cli) -> list[str]:
    """The codes in a report; the exporter has the same."""
    (report,) = cli("report --json").json["reports"]
    rows = [*report["streams"], *report["replication"], *(report["consumers"] or ())]
    found = sorted(code for row in rows for code in row["codes"])
    text = cli("exporter --textfile - --count 1", status=0).out
    exported = sorted(
        match[1] for match in re.finditer(r'^jsctl_problem\{.*code="(\w+)".*\} 1$', text, re.MULTILINE)
    )
    assert sorted(set(found)) == sorted(set(exported))
    return found


def lines_of(fix: str) -> list[str]:
    """The command lines in what a finding says; of several to choose from, the first."""
    _, _, line = fix.partition(": jsctl ")
    note = WITHOUT_TERMINAL in fix
    assert line and not re.search(r"<\w+>|CONTEXT| rm | purge ", line), fix
    lines = [part.removeprefix("jsctl ") for part in re.split(r" && |; [\w ]+: ", line)]
    assert len({*lines}) == len(lines), "a line stands there twice"
    assert note == any(" ".join(shlex.split(line)[:2]) in ASKING for line in lines), fix
    return lines if " && " in line else lines[:1]


def paste(cli: Cli, fix: str) -> None:
    for line in lines_of(fix):
        words = shlex.split(line)
        cli([*words, *["--force"] * (" ".join(words[:2]) in ASKING and "--force" not in words)], status=0)


def only(cli: Cli, code: str) -> dict[str, Any]:
    """The only finding; a report has the same one."""
    wait_for(lambda: codes(cli) == [code], f"it is not {code}", 20)
    [finding] = findings(cli)
    assert reported(cli) == [code]
    condition = f"'{code}' in codes"
    assert cli(["report", "--fail-on", condition]).status == 1
    assert finding["why"] and code in CODES
    assert cli(f"doctor --ignore {code}").status == 0
    return finding


@pytest.fixture
def cli(offline_cli: Cli, url: str) -> Cli:
    """With a context for the account, so that lines can be pasted."""
    offline_cli(f"context add here --server {url} --select", status=0)
    return offline_cli


@pytest.fixture
def well(url: str) -> str:
    """The address of an account that is well."""
    js.stream(url, "ORDERS", "orders.>")
    return url


def consumer(url: str, name: str = "NEW", stream: str = "ORDERS", **config: Any) -> None:
    wanted = {"durable_name": name, "ack_policy": "explicit", **config}
    js.ask(url, f"CONSUMER.CREATE.{stream}.{name}", {"stream_name": stream, "config": wanted})


def stored(url: str, stream: str = "ORDERS") -> int:
    return int(js.info(url, stream)["state"]["messages"])


@pytest.mark.slow
def test_a_consumer_at_its_limit_of_acks(cli: Cli, well: str) -> None:
    consumer(well, max_ack_pending=2)
    js.publish(well, "orders.1", count=3)
    cli("consumer next ORDERS NEW --count 2 --no-ack", status=0)
    wait_for(lambda: "ACKS_FULL" in codes(cli), "it is not full")
    found = only(cli, "ACKS_FULL")
    assert found["objects"] == [found["about"]] and "ORDERS > NEW" in found["about"]
    assert "2 messages wait for acknowledgement" in found["seen"]
    assert cli("consumer why ORDERS NEW --json").json["causes"][0]["code"] == "ACKS_FULL"
    paste(cli, found["fix"])
    assert codes(cli) == [] and stored(well) == 3


@pytest.mark.slow
def test_a_push_consumer_without_a_subscriber(cli: Cli, well: str) -> None:
    consumer(well, deliver_subject="to.me")
    js.publish(well, "orders.1", count=3)
    found = only(cli, "NO_SUBSCRIBER")
    assert found["fix"].startswith("start the client that subscribes to it")
    with subscribing(well, "to.me"):
        wait_for(lambda: codes(cli) == [], "the subscriber is not seen")
    assert stored(well) == 3


@pytest.mark.slow
def test_messages_that_nobody_pulls(cli: Cli, well: str) -> None:
    consumer(well)
    js.publish(well, "orders.1", count=3)
    found = only(cli, "NOBODY_PULLS")
    paste(cli, found["fix"])
    info = js.ask(well, "CONSUMER.INFO.ORDERS.NEW")
    assert (info["num_pending"], info["num_ack_pending"]) == (2, 1)  # what was shown comes again


@pytest.mark.slow
def test_messages_that_were_given_up(cli: Cli, well: str) -> None:
    consumer(well, max_deliver=1, ack_wait=200_000_000)
    js.publish(well, "orders.1", count=2)
    cli("consumer next ORDERS NEW --count 2 --no-ack", status=0)
    found = only(cli, "GIVEN_UP")
    assert "list them: jsctl consumer dead ORDERS NEW" in found["fix"]
    paste(cli, found["fix"].partition("deliver them again with what was acknowledged after them")[2])
    assert "GIVEN_UP" not in codes(cli)
    cli("consumer next ORDERS NEW --count 2 --timeout 2s", status=0)
    assert codes(cli) == [] and stored(well) == 2


@pytest.mark.slow
def test_dead_letters_among_acknowledged_messages(cli: Cli, well: str) -> None:
    """The first line that delivers them again delivers nothing else."""
    consumer(well, max_deliver=1, ack_wait=200_000_000)
    js.publish(well, "orders.1", count=1)
    cli("consumer next ORDERS NEW --no-ack", status=0)
    js.publish(well, "orders.2", count=3)
    cli("consumer next ORDERS NEW --count 3", status=0)
    wait_for(lambda: "GIVEN_UP" in codes(cli), "it is not given up")
    causes = cli("consumer why ORDERS NEW --json").json["causes"]
    [cause] = [cause for cause in causes if cause["code"] == "GIVEN_UP"]
    assert [line["line"] for line in cause["lines"]] == [
        "jsctl consumer dead ORDERS NEW",
        "jsctl redrive ORDERS NEW --dead --to-consumer",
        "jsctl consumer reset ORDERS NEW --sequence 1",
    ]
    cli(f"{cause['lines'][1]['line'].removeprefix('jsctl ')} --force", status=0)
    got = cli("consumer next ORDERS NEW --count 9 --timeout 1s").out
    assert got.count("orders.1") >= 1 and "orders.2" not in got


@pytest.mark.slow
def test_two_things_wrong_with_one_consumer(cli: Cli, well: str) -> None:
    """Each has its own line in doctor and the exporter, so that an alert on either is raised."""
    consumer(well, max_deliver=1, ack_wait=200_000_000)
    js.publish(well, "orders.1", count=3)
    cli("consumer next ORDERS NEW --count 2 --no-ack", status=0)
    both = ["NOBODY_PULLS", "GIVEN_UP"]
    wait_for(lambda: codes(cli) == both, "one of them is missing", 30)
    assert reported(cli) == sorted(both)


@pytest.mark.slow
def test_a_paused_consumer(cli: Cli, well: str) -> None:
    consumer(well, pause_until="2090-01-01T00:00:00Z")
    paste(cli, only(cli, "CONSUMER_PAUSED")["fix"])
    assert codes(cli) == []


@pytest.mark.slow
def test_a_filter_of_a_source_that_never_matches(cli: Cli, well: str) -> None:
    js.stream(well, "OTHER", "other")
    js.publish(well, "orders.1", count=3)
    js.publish(well, "other", count=2)
    js.stream(
        well, "ALL", "own", sources=[{"name": "OTHER"}, {"name": "ORDERS", "filter_subject": "ordres.>"}]
    )
    js.publish(well, "own")
    wait_for(lambda: stored(well, "ALL") == 3, "the source copies nothing")
    found = only(cli, "FILTER_EMPTY")
    assert "takes orders.> alone" in found["seen"]
    paste(cli, found["fix"])
    wait_for(lambda: stored(well, "ALL") == 6, "the source copies nothing")
    assert codes(cli) == []


@pytest.mark.slow
def test_a_filter_of_a_mirror_and_of_a_consumer_that_never_matches(cli: Cli, well: str) -> None:
    js.stream(well, "COPY", mirror={"name": "ORDERS", "filter_subject": "ordres.>"})
    assert "create another mirror" in only(cli, "FILTER_EMPTY")["fix"]
    cli("stream rm COPY --force", status=0)
    consumer(well, filter_subject="ordres.>")
    found = only(cli, "FILTER_EMPTY")
    paste(cli, found["fix"])
    assert codes(cli) == []


@pytest.mark.slow
def test_an_interest_stream_without_consumers(cli: Cli, well: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jsctl.monitor.trouble.YOUNG", 0)
    js.stream(well, "EVENTS", "events", retention="interest")
    found = only(cli, "INTEREST_MISSING")
    [line] = lines_of(found["fix"])
    cli([*shlex.split(line), "READER", "--pull", "--defaults"], status=0)  # it asks for the name
    assert codes(cli) == []


@pytest.mark.slow
def test_a_restore_that_has_not_ended(cli: Cli, well: str) -> None:
    js.stream(well, "HALF", "half", metadata={"jsctl.unfinished": "restore 2026-11-23T10:00:00Z"})
    found = only(cli, "STREAM_UNFINISHED")
    assert "2026-11-23T10:00:00Z" in found["seen"]


@pytest.mark.slow
def test_limits(cli: Cli, well: str) -> None:
    js.stream(well, "FULL", "full", discard="new", max_msgs=10)
    js.publish(well, "full", count=9)
    wait_for(lambda: stored(well, "FULL") == 9, "messages are not stored")
    paste(cli, only(cli, "LIMIT_NEAR")["fix"])
    assert codes(cli) == [] and stored(well, "FULL") == 9
    js.stream(well, "SEALED", "sealed", discard="new", max_msgs=10)
    js.publish(well, "sealed", count=10)
    wait_for(lambda: stored(well, "SEALED") == 10, "messages are not stored")
    assert codes(cli) == ["LIMIT_NEAR"]
    cli("stream seal SEALED --force", status=0)
    assert codes(cli) == [], "nothing more is to be stored in it"
    js.stream(well, "USED", "used", max_consumers=1)
    consumer(well, stream="USED")
    paste(cli, only(cli, "LIMIT_NEAR")["fix"])
    assert codes(cli) == []


@pytest.mark.slow
def test_a_missing_origin_costs_the_copy_nothing(cli: Cli, well: str) -> None:
    js.stream(well, "OWN", "own", sources=[{"name": "ORDERS"}, {"name": "ORDRES"}])
    js.publish(well, "own", count=3)
    found = only(cli, "ORIGIN_MISSING")
    [line] = lines_of(found["fix"])
    cli([*shlex.split(line), "--subjects", "ordres", "--defaults"], status=0)  # it asks for the subjects
    wait_for(lambda: codes(cli) == [], "it is still missing", 20)
    assert stored(well, "OWN") == 3


def test_each_rule_says_what_it_looked_at(cli: Cli, well: str) -> None:
    consumer(well)
    rules = {rule["code"]: rule for rule in cli("doctor --json", status=0).json["rules"]}
    assert rules["NOBODY_PULLS"]["looked_at"] == 1 and rules["NOBODY_PULLS"]["not_checked"] == []
    assert (
        rules["CLOCKS_APART"]["looked_at"] == 0
        and "system account" in rules["CLOCKS_APART"]["not_checked"][0]
    )
    assert "several rounds" in rules["FALLING_BEHIND"]["not_checked"][0]
    assert list(rules) == list(CODES)


@pytest.mark.slow
def test_a_healthy_account(cli: Cli, well: str) -> None:
    js.stream(well, "COPY", mirror={"name": "ORDERS"})
    js.stream(well, "SOME", "more.>", sources=[{"name": "ORDERS", "filter_subject": "orders.new.*"}])
    js.stream(well, "WORK", "work", retention="workqueue")
    js.stream(well, "EVENTS", "events", retention="interest")
    js.bucket(well, "CONFIG")
    consumer(well, "A")
    consumer(well, "B", stream="WORK", deliver_subject="to.b")
    consumer(well, "C", stream="EVENTS")
    js.publish(well, "orders.1")
    cli("consumer next ORDERS A", status=0)
    assert json.dumps(findings(cli)) == "[]"
    assert reported(cli) == []
