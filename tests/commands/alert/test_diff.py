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
    document = cli(f"alert diff {old} {new} --replay {file} --json", status=0).json
    assert [(change["change"], change["at"][17:19], change["state"]) for change in document["changes"]] == [
        ("added", "01", "pending"),
        ("added", "02", "firing"),
        ("removed", "02", "pending"),
        ("removed", "03", "firing"),
    ]
    assert document["fired"] == {"old": 1, "new": 1}
    assert "1 would have fired by" in cli(f"alert diff {old} {new} --replay {file}", status=0).out
    assert "nothing would have changed" in cli(f"alert diff {old} {old} --replay {file}", status=0).out
    assert "only one file can be stdin" in cli(f"alert diff - - --replay {file}", status=64).err
    for alerts in (old, new):
        alerts.write_text(alerts.read_text().replace("late", "nobody reads them in the night"))
    shown = cli.terminal(f"alert diff {old} {new} --replay {file}", columns=80)
    shown.expect(pexpect.EOF)
    shown.close()
    words = str(shown.before)
    assert "nobody" in words and "them" in words and "night" in words, "names are folded, not cut"
    assert len(re.findall(r" \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ ", words)) == 4, "times are whole"
