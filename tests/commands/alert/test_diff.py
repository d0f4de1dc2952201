"""`alert diff`."""

import re
from pathlib import Path

import pexpect

from tests.support import js
from tests.support.rounds import with_lag, write_rounds
from tests.support.run import Cli


def test_what_a_change_of_rules_changes(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.ask(url, "CONSUMER.CREATE.ORDERS.C", {"stream_name": "ORDERS", "config": {"durable_name": "C"}})
    cli(f"report --record {tmp_path}/real --count 1", status=0)
    file = write_rounds(
        tmp_path / "real", tmp_path / "rounds", [with_lag(lag) for lag in (0, 60, 200, 200, 0)]
    )
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text("alerts: [{name: late, when: lag > 100 for 1s}]")
    new.write_text("alerts: [{name: late, when: lag > 50 for 1s}]")
    document = cli(f"alert diff {old} {new} --replay {file} --json", status=2).json
    assert [(change["change"], change["at"][17:19], change["state"]) for change in document["changes"]] == [
        ("added", "01", "pending"),
        ("removed", "02", "pending"),
        ("added", "02", "firing"),
        ("removed", "03", "firing"),
    ]
    assert document["fired"] == {"old": 1, "new": 1}
    assert "1 would have fired by" in cli(f"alert diff {old} {new} --replay {file}", status=2).out
    assert "nothing would have changed" in cli(f"alert diff {old} {old} --replay {file}", status=0).out
    assert "only one file can be stdin" in cli(f"alert diff - - --replay {file}", status=64).err
    for alerts in (old, new):
        alerts.write_text(alerts.read_text().replace("late", "nobody reads them in the night"))
    shown = cli.terminal(f"alert diff {old} {new} --replay {file}", columns=80)
    shown.expect(pexpect.EOF)
    shown.close()
    words = str(shown.before)
    assert "nobody" in words and "them" in words and "night" in words, "names are folded, not cut"
    assert "pending" in words, "short words are whole"
    assert len(re.findall(r" \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ ", words)) == 4, "times are whole"


def test_who_is_told_and_of_what(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>")
    cli(f"report --record {tmp_path}/real --count 1", status=0)
    rest = "{name: wait, when: messages < 1 for 1m}]\nreceivers: [{name: ops, stderr: true}, {name: log, "
    rest += "command: cat, pending: true}]\n"
    files = {
        "old": f"alerts: [{{name: few, when: messages < 1}}, {rest}",
        "to": f"alerts: [{{name: few, when: messages < 1, to: ops}}, {rest}",
        "high": f"alerts: [{{name: few, when: messages < 1, severity: high}}, {rest}",
        "off": f"alerts: [{{name: few, when: messages < 1}}, {rest}silences: [{{alert: few}}]",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    for name, to, severity in (("to", ["ops"], None), ("high", ["ops", "log"], "high"), ("off", [], None)):
        line = f"alert diff {tmp_path}/old {tmp_path}/{name} --replay {tmp_path}/real"
        removed, added = cli(f"{line} --json", status=2).json["changes"]
        assert (removed["alert"], removed["to"]) == ("few", ["ops", "log"])
        assert (added["to"], added["severity"]) == (to, severity)
    assert f"1 (1 silenced) by {tmp_path}/off" in cli(line, status=2).out
    tried = cli(f"report --alert {tmp_path}/old --replay {tmp_path}/real", status=0).out
    assert "messages 0, to ops and log" in tried and "messages 0, to log" in tried
