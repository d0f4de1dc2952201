"""`report history`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jsctl.monitor.report.recording import encode_round
from jsctl.schema.catalog import load_schema
from jsctl.schema.validator import validate
from tests.support import js
from tests.support.run import Cli

EARLIER = Path(__file__).parents[2] / "golden" / "recorded_rounds.jsonl"
"""Rounds as they were recorded before a figure was declared once. They stay as they are."""


def test_history_of_a_recording(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.stream(url, "other", "other.>")
    file = tmp_path / "rounds"
    cli(f"report --record {file} --count 1 --watch 60s", status=0)
    js.publish(url, "orders.new", count=7)
    cli(f"report --record {file} --count 2 --watch 1s", status=0)
    history = cli(f"report history --from {file} --stream 'OR*' --json", status=0).json
    rows = history["streams"]
    assert sum(row["stored"] for row in rows) == 7, "also where the hour ends between two rounds"
    assert {row["stream"] for row in rows} == {"ORDERS"}
    assert rows[-1]["messages"] == 7
    assert "ORDERS" in cli(f"report history --from {file} --daily", status=0).out
    assert "nothing was sampled" in cli(f"report history --from {file} --until 2001-01-01", status=0).out


def test_days_until_a_stream_is_full(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>", max_bytes=1 << 30)
    file = tmp_path / "rounds"
    cli(f"report --record {file} --count 1 --watch 60s", status=0)
    js.publish(url, "orders.new", b"x" * 1000, count=50)
    cli(f"report --record {file} --count 1 --watch 60s", status=0)
    (row,) = cli(f"report history --from {file} --daily --json", status=0).json["streams"][-1:]
    seconds = row["stored"] / row["message_rate"]
    days = ((1 << 30) - row["bytes"]) / (row["growth"] / seconds) / 86_400
    assert row["days_to_limit"] == pytest.approx(days)


def test_history_of_a_recording_in_a_pipe(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>")
    file = tmp_path / "rounds"
    cli(f"report --record {file} --count 2 --watch 1s", status=0)
    wanted = cli(f"report history --from {file} --json", status=0).json

    def read(writer: str) -> subprocess.CompletedProcess[str]:
        line = f"{sys.executable} -m jsctl report history --json --from <({writer})"
        environ = {**os.environ, **cli.environ}
        return subprocess.run(
            ["bash", "-c", line], env=environ, capture_output=True, text=True, timeout=60, check=False
        )

    assert json.loads(read(f"cat {file}").stdout) == wanted
    other = read("echo text")
    assert other.returncode == 64 and "is not a recorded report" in other.stderr
    assert len(other.stderr.splitlines()) == 1


def test_rounds_of_an_earlier_version_are_read(offline_cli: Cli, tmp_path: Path) -> None:
    """A figure that was added since has no value in them, or its default."""
    file, cli = tmp_path / "rounds", offline_cli
    documents = [json.loads(line) for line in EARLIER.read_text().splitlines()]
    file.write_bytes(b"".join(encode_round(document, 1000.0 + at) for at, document in enumerate(documents)))
    replayed = [json.loads(line) for line in cli(f"report --replay {file} --json", status=0).out.splitlines()]
    assert len(replayed) == 2
    for document in replayed:
        assert not validate(document, load_schema("io.jsctl.v1.report"))
        [report] = document["reports"]
        figures = {row["stream"]: (row["messages"], row["bytes"]) for row in report["streams"]}
        assert figures == {"ORDERS": (3, 123), "COPY": (3, 81)}
        assert [(row["consumer"], row["unprocessed"]) for row in report["consumers"]] == [("NEW", 3)]
        assert [(row["origin"], row["lag"]) for row in report["replication"]] == [("ORDERS", 0)]
    assert "ORDERS" in cli(f"report --replay {file}", status=0).out
    history = cli(f"report history --from {file} --json", status=0).json
    assert {row["stream"]: row["messages"] for row in history["streams"]} == {"ORDERS": 3, "COPY": 3}
