"""A figure that is added to the declaration of a list is in the report, its forms, and what is made of it."""

import subprocess
import sys
from pathlib import Path

import pytest

from jsctl.monitor.report.figures.lists import FIGURES
from tests.support import js

PROGRAM = """
import importlib, json, sys
from jsctl.monitor.report.figures.figure import ColumnPlacement, Figure, Metric

url, kind, module, name = sys.argv[1:]
declared = importlib.import_module(f"jsctl.monitor.report.figures.{module}")
new = Figure(
    *("answer", "natural", "Answer", "count", lambda line: 42, "about it"),
    metric=Metric("jsctl_answer", "Its help"),
    stored="answer",
    own=ColumnPlacement(),
)
setattr(declared, name, (*getattr(declared, name), new))

from pathlib import Path
from tests.support.run import Cli
from jsctl.schema.catalog import load_schema
from jsctl.schema.validator import validate
from jsctl.spark.export.report_tables import SCHEMAS
from jsctl.views.shared.figures import build_columns

cli = Cli(Path("."), url)
document = cli(f"report --json --part {kind}", status=0).json
assert [row["answer"] for row in document["reports"][0][kind]] == [42], document
assert not validate(document, load_schema("io.jsctl.v1.report"))
assert "Answer" in cli(f"report --part {kind} --sort answer", status=0).out
assert "answer" in cli(f"report --part {kind} --as csv", status=0).out.splitlines()[0]
cli(["report", "--part", kind, "--fail-on", "answer == 42", "--allow-unchecked"], status=1)
cli(["report", "--part", kind, "--fail-on", "answer == 41", "--allow-unchecked"], status=0)
assert "answer" in [column.key for column in build_columns(kind, "screen")]
if kind in ("streams", "consumers"):
    noun = kind.removesuffix("s")
    shown = cli(f"{noun} report --sort answer", status=0)
    assert "Answer" in shown.out and "42" in shown.out
    assert "answer" in cli(f"{noun} report --as csv", status=0).out.splitlines()[0]
    assert cli(f"{noun} report --json", status=0).json[kind][0]["answer"] == 42
text = cli("exporter --textfile - --count 1", status=0).out
assert "# HELP jsctl_answer Its help" in text and "jsctl_answer{" in text, text
assert SCHEMAS[kind].columns[-1 if kind != "streams" else -3].about == "about it"
cli(f"report --record rounds --count 2 --watch 1s --part {kind}", status=0)
from jsctl.monitor.report.replay import Replay
from jsctl.spark.export.report_tables import build_recorded_rows
from datetime import UTC, datetime

answers = Replay(Path("rounds")).places(0)[0].answers
assert [row["answer"] for row in build_recorded_rows(answers, "", "", datetime.now(UTC))[kind]] == [42]
replayed = cli(f"report --replay rounds --part {kind} --json", status=0).out.splitlines()
assert json.loads(replayed[0])["reports"][0][kind][0]["answer"] == 42
"""
DECLARED = {
    "streams": ("streams", "STREAMS"),
    "replication": ("replication", "LINKS"),
    "consumers": ("consumers", "CONSUMERS"),
    "servers": ("servers", "SERVERS"),
    "accounts": ("accounts", "ACCOUNTS"),
}


def test_all_lists_are_tried() -> None:
    assert DECLARED.keys() == FIGURES.keys()


@pytest.mark.slow
@pytest.mark.parametrize("kind", DECLARED)
def test_a_new_figure_is_everywhere(kind: str, url: str, system_url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.ask(url, "CONSUMER.CREATE.ORDERS.C", {"stream_name": "ORDERS", "config": {"durable_name": "C"}})
    if kind == "replication":
        js.ask(url, "STREAM.CREATE.COPY", {"name": "COPY", "mirror": {"name": "ORDERS"}})
    used = system_url if kind == "servers" else url
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, used, kind, *DECLARED[kind]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
