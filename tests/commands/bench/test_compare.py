"""`bench compare`."""

import json
from pathlib import Path

from tests.support.benching import run
from tests.support.run import Cli


def test_compare(cli: Cli, tmp_path: Path) -> None:
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    measured = run(cli, "pub events --msgs 200 --processes 0")
    before.write_text(json.dumps(measured))
    after.write_text(json.dumps({**measured, "messages_per_second": measured["messages_per_second"] / 2}))
    line = f"bench compare {before} {after}"
    assert "-50.0" in cli(line, status=0).out
    (rate,) = (row for row in cli(f"{line} --json", status=0).json if row["measure"] == "Messages/s")
    assert rate["change"] == -0.5
    assert "Worse" not in cli(f"{line} --tolerance 60", status=0).out
    assert "Worse by more than 10%: Messages/s" in cli(f"{line} --tolerance 10", status=1).out


def test_a_file_of_something_else(offline_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("{}")
    outcome = offline_cli(f"bench compare {tmp_path}/other.json {tmp_path}/none.json", status=64)
    assert "other.json" in outcome.err and len(outcome.err.splitlines()) == 1
