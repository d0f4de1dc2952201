"""Archives of audits whose documents have another shape: one line, whatever reads them."""

import json
import random
import zipfile
from pathlib import Path

import pytest

from tests.fuzz.record import Record, cases
from tests.support import js
from tests.support.hostile import mutate_answer
from tests.support.run import Cli
from tests.support.servers import Account

READING = (
    "audit analyze {}",
    *(f"server report {what} --archive {{}}" for what in ("jetstream", "connections", "accounts", "health")),
    *(f"server report {what} --archive {{}}" for what in ("leafnodes", "routes", "gateways", "cpu", "mem")),
    "server report downgrade 1 --archive {}",
    "server list --archive {}",
)


@pytest.mark.long
def test_documents(own_account: Account, offline_cli: Cli, tmp_path: Path) -> None:
    js.stream(own_account.url, "S", "s.>", metadata={"io.nats.monitor.lag-critical": "1"})
    consumer = {"stream_name": "S", "config": {"durable_name": "C", "ack_policy": "explicit"}}
    js.ask(own_account.url, "CONSUMER.DURABLE.CREATE.S.C", consumer)
    good, bad = tmp_path / "good.zip", tmp_path / "bad.zip"
    url = own_account.server.url_for("admin")
    offline_cli(["audit", "gather", "--output", str(good), "-s", url, "--no-server-profiles"], status=0)
    with zipfile.ZipFile(good) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    documents = sorted(name for name, data in files.items() if name.endswith(".json") and len(data) > 2)
    with Record("documents of an archive") as record:
        for number in range(cases(6 * len(READING))):
            chance = random.Random(number)
            changed = dict(files)
            for name in chance.sample(documents, chance.randint(1, max(1, len(documents) // 4))):
                changed[name] = mutate_answer(files[name], chance)
            with zipfile.ZipFile(bad, "w") as archive:
                for name, data in changed.items():
                    archive.writestr(name, data)
            line = READING[number % len(READING)].format(bad)
            outcome = offline_cli(line)
            assert "bug in jsctl" not in outcome.err and "Traceback" not in outcome.err, (
                number,
                line,
                outcome.err[-900:],
            )
            record.count(f"status {outcome.status}")
    assert json.loads(files["capture/misc/manifest.json"])
