"""Verbs that take several contexts know when two of them lead to the same JetStream."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.commands.exporter.test_exporter import parse
from tests.support import js
from tests.support.run import Cli
from tests.support.servers import HubLeaf


@pytest.fixture
def filled(pair: Cli, hub_leaf: HubLeaf) -> Cli:
    """A stream in each of both JetStreams, and a bucket in that of the leaf node."""
    js.stream(hub_leaf.url, "H", "h")
    js.stream(hub_leaf.leaf.url_for("acc"), "L", "l", metadata={"a": "b"})
    pair("kv add B --context leaf", status=0)
    return pair


def test_a_report_shows_it_once(filled: Cli) -> None:
    line = "report --context leaf --context hub --context local --js-domain hub --js-domain leaf"
    once = filled(f"{line} --json", status=0)
    assert [(one["context"], one["domain"]) for one in once.json["reports"]] == [
        ("leaf", "hub"),
        ("leaf", "leaf"),
    ]
    assert [len(one["streams"]) for one in once.json["reports"]] == [1, 2]
    assert (
        "context hub, domain leaf is the JetStream of context leaf, domain leaf, and is shown once"
        in once.err
    )
    assert once.err.count("shown once") == 4
    assert filled("report --context leaf --context hub", status=0).err == ""


def test_a_screen_shows_it_once(filled: Cli, tmp_path: Path) -> None:
    line = "report --watch 200ms --count 3 --json --context hub --context local"
    rounds = filled(line, status=0)
    assert rounds.out.count('"reports"') == 3 and rounds.out.count('"context":') == 3
    assert rounds.err.count("shown once") == 1


def test_an_exported_configuration_has_it_once(filled: Cli, tmp_path: Path) -> None:
    file = tmp_path / "all.yaml"
    line = f"export config --context leaf --context hub --context local --output {file}"
    assert "local is the JetStream of hub, written once" in filled(line, status=0).err
    assert "Nothing to change: 2 streams are" in filled(f"diff -f {file}", status=0).out


def test_metrics_count_it_once_and_name_its_server(filled: Cli) -> None:
    line = "exporter --textfile - --count 1 --context hub --context leaf --js-domain hub --js-domain leaf"
    samples = parse(filled(line, status=0).out)
    assert len(samples["jsctl_up"]) == 4 and all(number == 1 for _, number in samples["jsctl_up"])
    streams = samples["jetstream_stream_total_messages"]
    found = {(labels["stream_name"], labels["server_name"], labels["domain"]) for labels, _ in streams}
    assert found == {
        ("H", "hub-server", "hub"),
        ("L", "leaf-server", "leaf"),
        ("KV_B", "leaf-server", "leaf"),
    }
    assert len(streams) == 3
    totals = {labels["server_id"]: number for labels, number in samples["jetstream_server_total_streams"]}
    assert totals == {"hub-server": 1, "leaf-server": 2}


def test_a_doctor_looks_once(filled: Cli) -> None:
    document = filled("doctor --context hub --context leaf --context local --json").json
    assert [one["streams"] for one in document["domains"]] == [1, 2]


def test_a_copy_onto_itself_is_refused(filled: Cli) -> None:
    ends = "--from-context leaf --to-context hub --to-domain leaf"
    for line in (f"stream copy L L {ends}", f"stream copy L L --data {ends}"):
        assert "the name of its source in the same JetStream" in filled(line, status=64).err
    filled("stream copy L L --data --from-context leaf --to-context hub", status=0)


def test_a_difference_from_itself(filled: Cli) -> None:
    same = filled("kv diff B B --from-context leaf --to-context local --to-domain leaf", status=0)
    assert same.out == "B of leaf and B@leaf of local, the same bucket, hold the same values (0 of them)\n"
    filled("kv add B --context hub", status=0)
    assert filled("kv diff B B --from-context leaf --to-context hub", status=0).err == ""


@pytest.mark.spark
def test_a_stream_is_exported_once(filled: Cli, spark: Any, tmp_path: Path) -> None:
    places = "--context hub --context leaf --context renamed --js-domain leaf --js-domain hub"
    done = filled(f"export stream L L H --to {tmp_path}/out {places} --json", status=0)
    assert sorted(row["table"] for row in done.json["streams"]) == ["hub_hub_H", "hub_leaf_L"]
    assert "context leaf, domain leaf is the JetStream of context hub, domain leaf, and is exported once" in (
        done.err
    )
    assert done.err.count("exported once") == 4


@pytest.mark.spark
def test_reports_are_sampled_once(filled: Cli, spark: Any, tmp_path: Path) -> None:
    line = f"export reports --to {tmp_path}/out --every 10ms --for 30ms --context hub --context local --json"
    done = filled(line, status=0)
    assert done.err.count("context local, domain hub is the JetStream of context hub, domain hub") == 1
    rows = pq.read_table(tmp_path / "out" / "streams").to_pylist()
    assert {(row["context"], row["stream"]) for row in rows} == {("hub", "H")}
    assert len(rows) == len({row["sampled_at"] for row in rows}) > 1
