"""`report --alert`: live, and tried on a recording."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import js
from tests.support.emulator import Watched
from tests.support.rounds import with_lag, write_rounds
from tests.support.run import Cli

LATE = 'alerts: [{name: late, when: "lag > 100", for: 2s}]\n'


@pytest.fixture
def real(cli: Cli, url: str, tmp_path: Path) -> Path:
    """A recorded round with a stream and a consumer."""
    js.stream(url, "ORDERS", "orders.>")
    js.ask(url, "CONSUMER.CREATE.ORDERS.C", {"stream_name": "ORDERS", "config": {"durable_name": "C"}})
    cli(f"report --record {tmp_path / 'real'} --count 1", status=0)
    return tmp_path / "real"


def read_messages(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text().splitlines() if line]


def list_states(document: Any) -> list[tuple[str, str, str]]:
    return [(event["at"][17:19], event["alert"], event["state"]) for event in document["events"]]


def test_tried_on_a_recording(cli: Cli, real: Path, tmp_path: Path) -> None:
    (tmp_path / "late.yaml").write_text(LATE)
    lags = [0, 200, 200, 200, 200, None, 200, 0, 200, 0, None, None, None]
    file = write_rounds(real, tmp_path / "rounds", [None if lag is None else with_lag(lag) for lag in lags])
    outcome = cli(f"report --alert {tmp_path}/late.yaml --replay {file} --json", status=0)
    assert list_states(outcome.json) == [
        ("01", "late", "pending"),
        ("03", "late", "firing"),
        ("05", "late", "pending"),
        ("06", "late", "resolved"),
        ("07", "late", "resolved"),
        ("08", "late", "pending"),
        ("09", "late", "resolved"),
        ("10", "late", "pending"),
        ("12", "late", "no data"),
    ]
    fired = outcome.json["events"][1]
    assert (fired["stream"], fired["consumer"], fired["values"]) == ("ORDERS", "C", {"lag": 200})
    assert outcome.json["rounds"] == len(lags) and outcome.json["firing"] == []
    shown = cli(f"report --alert {tmp_path}/late.yaml --replay {file}", tty=True, status=0).out
    assert "1 firing, 1 no data, 4 pending, 3 resolved" in shown and "consumer ORDERS > C" in shown


@pytest.mark.parametrize("when", ["fills_in < 1h", "messages < 0", "lag < 100", "replicas <= 1"])
def test_a_condition_is_about_the_rows_that_have_what_it_compares(
    cli: Cli, real: Path, tmp_path: Path, when: str
) -> None:
    """A stream that never fills is not full soon, and a server has no replicas."""
    (tmp_path / "f").write_text(f"alerts: [{{name: a, when: {when}}}]")
    document = cli(f"report --alert {tmp_path / 'f'} --replay {real} --json", status=0).json
    kinds = {event["kind"] for event in document["events"]}
    assert kinds == {"lag < 100": {"consumer"}, "replicas <= 1": {"stream"}}.get(when, set())


def test_silences_and_what_ends_an_alert(cli: Cli, real: Path, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "alerts: [{name: late, when: lag > 100, until: lag < 50 for 2s, consumer: 'C*'}]\n"
        "silences: [{alert: late, stream: 'ORD*'}]\n"
    )
    lags = [200, 70, 200, 10, 70, 10, 10, 10]
    file = write_rounds(real, tmp_path / "rounds", [with_lag(lag) for lag in lags])
    document = cli(f"report --alert {tmp_path}/a.yaml --replay {file} --json", status=0).json
    assert list_states(document) == [("00", "late", "firing"), ("07", "late", "resolved")]
    assert all(event["silenced"] for event in document["events"])


def test_what_is_wrong_is_one_line(cli: Cli, real: Path, tmp_path: Path) -> None:
    (tmp_path / "late.yaml").write_text(LATE)
    for line, words in (
        (f"report --alert {tmp_path}/none.yaml --replay {real}", "none.yaml"),
        (f"report --alert {tmp_path}/late.yaml --replay {tmp_path}/late.yaml", "not a recorded report"),
        (f"report --alert-state x --replay {real}", "--alert-state needs --alert"),
        (f"report --alert {tmp_path}/late.yaml --replay {real} --record x", "--replay shows a recorded file"),
    ):
        err = cli(line, status=64).err
        assert words in err and len(err.splitlines()) == 1, err
    err = cli(f"report --alert - --replay {real}", stdin="alerts:\n- {name: a}\n", status=64).err
    assert "stdin:2: the alert 'a' needs a condition" in err


@pytest.mark.slow
def test_a_recording_gives_the_alerts_of_the_live_report(
    cli: Cli, url: str, real: Path, tmp_path: Path
) -> None:
    """And a condition of --fail-on that has to hold for a time ends the report when the alert fires."""
    js.publish(url, "orders.new", count=200)
    said = tmp_path / "said"
    (tmp_path / "a.yaml").write_text(
        "alerts: [{name: late, when: 'lag > 100 for 400ms'}, {name: never, when: 'lag > 1000'}]\n"
        f"receivers: [{{command: [sh, -c, 'cat >> {said}'], pending: true}}]\n"
    )
    record = f"report --watch 200ms --alert {tmp_path}/a.yaml --record {tmp_path}/rounds"
    cli([*record.split(), "--fail-on", "lag > 100 for 1s"], status=1)
    live = [event for message in read_messages(said) for event in message["events"]]
    replayed = cli(f"report --alert {tmp_path}/a.yaml --replay {tmp_path}/rounds --json", status=0).json
    keys = ("alert", "state", "was", "row", "values")
    assert [[event[key] for key in keys] for event in live] == [
        [event[key] for key in keys] for event in replayed["events"]
    ]
    assert [event["state"] for event in live] == ["pending", "firing"]
    told = read_messages(said)
    cli([*record.split(), "--count", "2"], status=0)
    assert read_messages(said) == told, "a restart repeats nothing"


@pytest.mark.slow
def test_the_screen_names_what_fires(cli: Cli, real: Path, url: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("alerts: [{name: late, when: lag > 100}]")
    watched = Watched(cli.terminal(f"report --watch 200ms --alert {tmp_path / 'f'}"))
    watched.until(lambda text: "ORDERS" in text and "late fires" not in text)
    js.publish(url, "orders.new", count=200)
    watched.until(lambda text: "late fires: " in text and "consumer ORDERS > C" in text)
    js.ask(url, "STREAM.PURGE.ORDERS")
    watched.until(lambda text: "late fires" not in text)
    watched.press("q")
    assert watched.end() == 0


@pytest.mark.slow
@pytest.mark.parametrize(("key", "shown"), [("\r", "Subjects"), ("p", "paused")])
def test_rounds_go_on_under_a_page_and_in_a_pause(
    cli: Cli, real: Path, url: str, tmp_path: Path, key: str, shown: str
) -> None:
    """They are recorded, alerts fire, and a condition of --fail-on ends the report."""
    said, rounds = tmp_path / "said", tmp_path / "rounds"
    (tmp_path / "f").write_text(
        f"alerts: [{{name: late, when: lag > 100}}]\nreceivers: [{{command: [sh, -c, 'cat >> {said}']}}]\n"
    )
    line = f"report --watch 200ms --alert {tmp_path / 'f'} --record {rounds}"
    watched = Watched(cli.terminal([*line.split(), "--fail-on", "lag > 100 for 1s"]))
    watched.until("ORDERS")
    watched.press(key)
    watched.until(shown)
    js.publish(url, "orders.new", count=200)
    assert watched.end() == 1
    assert [event["state"] for event in read_messages(said)[0]["events"]] == ["firing"]
    document = cli(f"report --alert {tmp_path / 'f'} --replay {rounds} --json", status=0).json
    assert [event["state"] for event in document["events"]] == ["firing"]
