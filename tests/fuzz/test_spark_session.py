"""Answers of another shape while a session of Spark runs: exports, imports, reports, and queries of what they
wrote. All share one session."""

import random
import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from jsctl.base.units import SECOND
from jsctl.spark.source import options
from tests.fuzz.record import Record, cases, max_seconds
from tests.support import js
from tests.support.hostile import Middleman, middleman, mutate_answer
from tests.support.run import Cli
from tests.support.servers import Account

pytestmark = pytest.mark.spark

LINES = (
    "export stream S --to {}/stream --force",
    "export stream S --to {}/stream --incremental",
    "export stream S --to {}/decoded --decode json --incremental --query",
    "export kv B --to {}/kv --force",
    "export reports --to {}/reports",
    "export rollup --from {}/reports",
    "export query --from {}/stream",
    "export objects O --to {}/objects --force",
    "import {}/rows.json --stream S",
)
MAX_SECONDS = 60
"""Time for a query on a machine that has much to do; none may wait for ever."""


@pytest.fixture
def man(own_account: Account, monkeypatch: pytest.MonkeyPatch) -> Iterator[Middleman]:
    monkeypatch.setattr(options, "RETRY_TIMEOUT", SECOND)
    url = own_account.url
    js.stream(url, "S", "s.>", allow_direct=True)
    js.publish(url, "s.a", b'{"a": 1}', count=20)
    with middleman(own_account.server.port) as raised:
        raised.account_url = url.replace(str(own_account.server.port), str(raised.port))
        yield raised


def _perhaps(chance: random.Random, share: float, _: bytes, payload: bytes) -> bytes:
    return mutate_answer(payload, chance) if chance.random() < share else payload


@pytest.mark.long
def test_commands(spark: Any, man: Middleman, own_account: Account, offline_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text('{"subject": "s.b", "data": "x"}\n' * 3)
    url = {"NATS_URL": own_account.url}
    offline_cli("kv add B", environ=url, status=0)
    offline_cli("kv put B key value", environ=url, status=0)
    offline_cli("object add O", environ=url, status=0)
    faults = []
    with Record("mutated answers of Spark's commands") as record:
        for number in range(cases(len(LINES))):
            line = [word.replace("{}", str(tmp_path)) for word in LINES[number % len(LINES)].split()]
            if "query" in line[1] or line[-1] == "--query":
                line.append("SELECT count(*) FROM S")
            chance = random.Random(number)
            man.change = (
                partial(_perhaps, chance, chance.choice((0.1, 0.5))) if number >= len(LINES) else None
            )
            started = time.monotonic()
            outcome = offline_cli([*line, "--timeout", "500ms"], environ={"NATS_URL": man.account_url})
            spent = time.monotonic() - started
            record.slowest = max(record.slowest, spent)
            record.count(f"status {outcome.status}")
            last = outcome.err.strip().rpartition("\n")[2]
            is_plain = not outcome.status or last.startswith("jsctl: error: ")
            if not is_plain or "bug in jsctl" in outcome.err or "Traceback" in outcome.err:
                faults.append((number, line, outcome.err[-1500:]))
            assert spent < 12 * max_seconds(), (number, line, spent)
    assert not faults, "\n".join(map(str, faults))


PATIENCE = {"requestTimeout": "500ms", "retries": "0", "retryTimeout": "100ms"}
WAYS = ({"fetchMode": "direct"}, {"fetchMode": "consumer"})

BUSY = "Python worker failed to connect back"
"""What Spark says when a new process gets no processor time for long."""


def run_query(spark: Any, url: str, folder: Path, options: dict[str, str]) -> str:
    """Run a streaming query to the end of what there is; return what its error says, empty without one."""
    source = spark.readStream.format("jetstream").options(servers=url, stream="S", **PATIENCE, **options)
    query = None
    try:
        writer = source.option("startingOffsets", "earliest").load().writeStream.format("parquet")
        writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
        query = writer.trigger(availableNow=True).start(str(folder / "table"))
        assert query.awaitTermination(MAX_SECONDS), "the query never ends"
    except Exception as error:
        return str(error)
    finally:
        if query is not None:
            query.stop()
    return ""


@pytest.mark.long
def test_streaming_query(spark: Any, man: Middleman, tmp_path: Path) -> None:
    """What ends it is an error of jsctl; what is tried again after it finds all that is there."""
    faults = []
    with Record("mutated answers of a streaming query") as record:
        for number in range(cases(10)):
            chance = random.Random(number)
            man.change = partial(_perhaps, chance, chance.choice((0.05, 0.2))) if number > 1 else None
            folder = tmp_path / str(number // 2)  # every other one goes on where the last one ended
            started = time.monotonic()
            text = run_query(spark, man.account_url, folder, WAYS[number // 2 % 2])
            record.slowest = max(record.slowest, time.monotonic() - started)
            record.count("refused" if text else "done")
            if text and BUSY not in text and not re.search(r"^(\w+\.)*jsctl\.[\w.]+: \S", text, re.MULTILINE):
                faults.append((number, text))
        assert record.outcomes["done"] > 1
    assert not faults, "\n".join(map(str, faults))
