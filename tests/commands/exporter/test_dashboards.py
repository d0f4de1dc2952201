"""`exporter dashboards`: its expressions use what the exporter has."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from jsctl.monitor.exporter.metrics import HELP
from tests.commands.exporter.test_exporter import parse
from tests.support import js
from tests.support.run import Cli

PLACE = {"context", "domain"}


def list_expressions(folder: Path) -> list[str]:
    """All expressions of the files, with the variables of Grafana replaced."""
    expressions = []
    for file in sorted(folder.glob("*.json")):
        dashboard = json.loads(file.read_text())
        expressions += [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
        queries = [each["query"] for each in dashboard["templating"]["list"] if each["type"] == "query"]
        expressions += [re.sub(r"label_values\((.*), \w+\)", r"\1", query) for query in queries]
    rules = yaml.safe_load((folder / "jetstream-alerts.yaml").read_text())
    expressions += [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    return expressions


def find_selectors(node: Any) -> list[Any]:
    """All selectors of metrics in a parsed expression."""
    import promql_parser as promql

    match node:
        case promql.VectorSelector():
            return [node]
        case promql.MatrixSelector():
            return [node.vector_selector]
        case promql.BinaryExpr():
            return [*find_selectors(node.lhs), *find_selectors(node.rhs)]
        case promql.Call():
            return [selector for argument in node.args for selector in find_selectors(argument)]
        case promql.AggregateExpr() | promql.ParenExpr():
            return find_selectors(node.expr)
        case promql.NumberLiteral():
            return []
    raise AssertionError(f"{type(node)} is not looked into")


@pytest.mark.parametrize("prefix", ["", "nats"])
def test_each_metric_is_one_of_the_exporter(offline_cli: Cli, prefix: str, tmp_path: Path) -> None:
    promql = pytest.importorskip("promql_parser")
    flags = ["--prefix", prefix] if prefix else []
    written = offline_cli(
        ["exporter", "dashboards", "--to", f"{tmp_path}/d", *flags, "--json"], status=0
    ).json
    assert len(written) == 3 and all(Path(row["file"]).stat().st_size == row["bytes"] for row in written)
    names = {re.sub("^(gnatsd|jetstream)_", f"{prefix}_", name) if prefix else name for name in HELP}
    expressions = list_expressions(tmp_path / "d")
    assert len(expressions) > 30
    for expression in expressions:
        selectors = find_selectors(promql.parse(expression))
        assert selectors and {selector.name for selector in selectors} <= names, expression


def test_each_label_is_one_of_its_metric(cli: Cli, url: str, tmp_path: Path) -> None:
    """Of the metrics that a stream, a consumer and a mirror on one server have."""
    promql = pytest.importorskip("promql_parser")
    js.stream(url, "ORDERS", "orders.>")
    js.ask(url, "CONSUMER.CREATE.ORDERS.C", {"stream_name": "ORDERS", "config": {"durable_name": "C"}})
    js.ask(url, "STREAM.CREATE.COPY", {"name": "COPY", "mirror": {"name": "ORDERS"}})
    samples = parse(cli("exporter --textfile - --count 1", status=0).out)
    labels: dict[str, set[str]] = {}
    for name, series in samples.items():
        labels[name] = {label for own, _ in series for label in own}
    cli(f"exporter dashboards --to {tmp_path}/d", status=0)
    tried = 0
    for expression in list_expressions(tmp_path / "d"):
        for selector in find_selectors(promql.parse(expression)):
            used = {matcher.name for matcher in selector.matchers.matchers}
            if selector.name in labels:
                tried += 1
                assert used <= labels[selector.name] | PLACE, expression
    assert tried > 15


def test_files_are_replaced_only_when_asked(offline_cli: Cli, tmp_path: Path) -> None:
    line = f"exporter dashboards --to {tmp_path}/d"
    offline_cli(line, status=0)
    (tmp_path / "d" / "jetstream-alerts.yaml").write_text("mine")
    (tmp_path / "d" / "jetstream-streams.json").unlink()
    refused = offline_cli(line, status=64).err
    assert "--force" in refused, refused
    assert f"replace jetstream-overview.json, jetstream-alerts.yaml in {tmp_path}/d" in refused
    shown = offline_cli(f"{line} --dry-run", status=0).out
    assert f"Would write {tmp_path}/d/jetstream-streams.json\n" in shown
    assert f"Would replace {tmp_path}/d/jetstream-alerts.yaml\n" in shown
    document = offline_cli(f"{line} --dry-run --json", status=0).json
    assert [file["replaces"] for file in document["files"]] == [True, False, True]
    assert (tmp_path / "d" / "jetstream-alerts.yaml").read_text() == "mine"
    offline_cli(f"{line} --force", status=0)
    assert "JetStreamUnreachable" in (tmp_path / "d" / "jetstream-alerts.yaml").read_text()
    for words, status, says in (
        (f"{tmp_path}/d/jetstream-alerts.yaml", 64, "is not a folder"),
        (f"{tmp_path}/e --prefix 1", 64, "not a valid prefix"),
        (f"{tmp_path}/e --dry-run", 0, "Nothing was changed"),
    ):
        outcome = offline_cli(f"exporter dashboards --to {words}", status=status)
        assert says in outcome.out + outcome.err
    assert not (tmp_path / "e").exists()
