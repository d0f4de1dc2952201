"""The keys of the JSON of Spark's verbs: see `tests/support/verb_shapes.py`."""

from pathlib import Path
from typing import Any

import pytest

from tests.support import js, verb_shapes
from tests.support.run import Cli


@pytest.mark.spark
@pytest.mark.timeout(300)
@pytest.mark.usefixtures("outputs_are_valid")
def test_verbs_of_spark(
    cli: Cli, url: str, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verbs, to = verb_shapes.Verbs(), tmp_path / "out"
    js.stream(url, "ORDERS", "ORDERS.>", allow_direct=True)
    js.stream(url, "COPY", "COPY.>", allow_direct=True)
    js.publish(url, "ORDERS.new", b'{"n": 1}', count=5)
    for line in ("kv add B", "kv put B a 1", "object add FILES", "object put FILES pyproject.toml --name p"):
        cli(line, status=0)
    for path, line in {
        "export stream": f"export stream ORDERS --to {to}/streams --incremental",
        "export compact": f"export compact --to {to}/streams",
        "export kv": f"export kv B --to {to}/kv",
        "export objects": f"export objects FILES --to {to}/objects",
        "export reports": f"export reports --to {to}/reports",
        "export rollup": f"export rollup --from {to}/reports",
        "report history": f"report history --from {to}/reports",
        "import": f"import {to}/streams --stream COPY --map ORDERS=COPY",
        "spark warm-up": "spark warm-up --remove",
    }.items():
        if path in ("export stream", "export kv", "export objects", "import"):
            assert cli(f"{line} --dry-run --json", status=0).json
        verbs.check(cli, path, line)
    query = cli(["export", "query", "--from", f"{to}/kv", "SELECT count(*) AS n FROM B", "--json"])
    assert verb_shapes.find_difference("export query", query.status, query.out) == ""
    monkeypatch.delenv("SPARK_HOME", raising=False)  # the quick Spark of tests has not all parts
    verbs.check(cli, "export check", f"export check --to {to}/checked")
    assert verbs.differences == []
