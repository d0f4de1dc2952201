"""Recorded reports of another shape: one line, soon, in little memory; and those that find no space."""

import json
import random
from pathlib import Path

import pytest

from jsctl.monitor.report import recording
from jsctl.monitor.report.recording import Recording, encode_round
from tests.fuzz.record import Record, cases
from tests.support import js
from tests.support.hostile import mutate_bytes, mutate_json
from tests.support.run import Cli

TIME = slice(recording._HEADER.size - 8, recording._HEADER.size)
LINES = (
    *("report --replay {} --json", "report --replay {}", "report --replay {} --problems --count 1"),
    *(f"report --replay {{}} --part {part}" for part in ("buckets", "schedules")),
)


@pytest.mark.slow
def test_mutated_rounds(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "S", "s.>")
    js.ask(url, "CONSUMER.DURABLE.CREATE.S.C", {"stream_name": "S", "config": {"durable_name": "C"}})
    js.publish(url, "s.a", b"x", count=3)
    js.stream(url, "KV_B", "$KV.B.>", allow_msg_schedules=True)
    cli("schedule add KV_B '$KV.B.plan' '{}' --every 5m --dest '$KV.B.run'", status=0)
    file = tmp_path / "rounds"
    cli(f"report --record {file} --watch 100ms --count 2 --json", status=0)
    assert cli(f"report --replay {file}", status=0).out
    original = Recording(file)
    documents = [original.load(number) for number in range(2)]
    times = original.times
    with Record("recorded reports") as record:
        for number in range(cases(60)):
            chance = random.Random(number)
            changed = [mutate_json(document, chance) for document in documents]
            if number % 2:  # deeper than mutate_json reaches in most cases
                changed = json.loads(json.dumps(documents))
                place = chance.choice(changed)["places"][0]
                key = chance.choice(list(place))
                place[key] = mutate_json(place[key], chance)
            parts = [encode_round(document, times[0]) for document in changed if isinstance(document, dict)]
            if chance.random() < 0.2:  # another time, in ms
                later = chance.choice((0, 1 << 50, 253402300800000, (1 << 64) - 1)).to_bytes(8, "little")
                parts = [part[: TIME.start] + later + part[TIME.stop :] for part in parts]
            data = b"".join(parts) or b"x"
            file.write_bytes(mutate_bytes(data, chance) if number % 5 == 4 else data)
            for line in LINES:
                outcome = cli(line.format(file))
                assert "bug in" not in outcome.err and "Traceback" not in outcome.err, (number, outcome.err)
                assert outcome.status in (0, 1, 4, 64), (number, line, outcome)
                record.count(f"status {outcome.status}")
        assert record.outcomes["status 0"] and record.outcomes["status 64"]


def test_a_full_disk(cli: Cli) -> None:
    refused = cli("report --record /dev/full --watch 100ms --count 2", status=1)
    assert refused.err.startswith("jsctl: error: cannot write /dev/full: No space left on device")
    assert refused.err.count("\n") == 1
