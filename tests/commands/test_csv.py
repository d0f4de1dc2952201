"""`--as csv` of every command that lists something: one table, no -1 for never, data as it is."""

import csv
import io

import pytest

from tests.support import js
from tests.support.run import Cli

LISTS = (
    "stream ls -a",
    "stream ls --names",
    "stream report",
    "stream report --raw",
    "stream find",
    "stream find --names",
    "stream subjects S",
    "stream gaps S",
    "consumer ls S",
    "consumer report S",
    "consumer report S --raw",
    "consumer find S",
    "report",
    "rtt",
    "context ls",
    "context validate",
    "errors ls",
)


@pytest.fixture
def streams(cli: Cli, url: str) -> Cli:
    """A stream with a gap and a consumer that has delivered nothing, and a source that does not exist."""
    js.stream(url, "S", "s.>", description='zero\u200dwidth, "quoted"')
    js.stream(url, "M", sources=[{"name": "NOPE"}])
    js.publish(url, "s.a\u200db")
    js.publish(url, "s.z", count=2)
    js.ask(url, "STREAM.MSG.DELETE.S", {"seq": 2})
    js.ask(url, "CONSUMER.CREATE.S.C", {"stream_name": "S", "config": {"durable_name": "C"}})
    return cli


def table(cli: Cli, line: str) -> list[list[str]]:
    """The rows of a command's CSV."""
    return list(csv.reader(io.StringIO(cli(f"{line} --as csv", status=0).out)))


@pytest.mark.parametrize("line", LISTS)
def test_one_table_without_marks_for_never(line: str, streams: Cli) -> None:
    streams("context add here", status=0)
    head, *rows = table(streams, line)
    assert rows
    assert all(len(row) == len(head) == len(set(head)) for row in rows)
    assert "-1" not in [cell for row in rows for cell in row]
    assert "-1" not in streams(f"{line} --as tsv", status=0).out.split("\t")
    for name in ("rtt", "ack_wait", "last_delivery", "last_message", "ack_age", "active"):
        assert name not in head, "a span of time says its unit"


@pytest.mark.parametrize("line", [line for line in LISTS if line not in ("rtt", "errors ls")])
def test_an_empty_table_has_its_heading(line: str, cli: Cli, url: str) -> None:
    if line.split()[-1] == "S" or " S " in line:
        js.stream(url, "S", "s.>")
    result = table(cli, line)
    assert result and result[0][0] in ("name", "stream", "subject", "first", "consumer", "context")


def test_the_heading_does_not_depend_on_the_rows(streams: Cli, url: str) -> None:
    full = table(streams, "consumer report S")[0]
    js.ask(url, "CONSUMER.DELETE.S.C")
    assert table(streams, "consumer report S")[0] == full


def test_text_is_not_escaped(streams: Cli) -> None:
    assert 'zero\u200dwidth, "quoted"' in [row[1] for row in table(streams, "stream ls")]
    assert ["s.a\u200db", "1"] in table(streams, "stream subjects S")


def test_never_is_null_in_json(streams: Cli) -> None:
    (row,) = streams("consumer report S --raw --json", status=0).json["consumers"]
    assert row["ack_age_ns"] is None
    assert "never" in streams("consumer report S --raw", status=0).out
    assert streams("rtt --json", status=0).json[0]["results"][0]["rtt_ns"] > 0


def test_results_without_a_table_name_the_other_formats(streams: Cli) -> None:
    assert "use --json" in streams("export config --as csv", status=64).err
    assert "use --json" in streams("stream get S 1 --as csv", status=64).err
