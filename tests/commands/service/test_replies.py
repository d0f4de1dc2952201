"""What several verbs of `jsctl service` say of the same services."""

import json

import pytest

from tests.support.run import Cli
from tests.support.services import answering, reply


def test_nobody_answers(cli: Cli) -> None:
    assert "No services answered" in cli("service list", status=0).out
    assert cli("service ping --json", status=0).json == []
    assert "not found" in cli("service stats nope", status=3).err
    assert "not a valid service name" in cli("service serve 'a b'", status=64).err


@pytest.mark.slow
def test_malformed_replies_are_named_and_left_out(cli: Cli, url: str) -> None:
    schema = {"request": json.dumps({"type": "object"})}
    endpoint = {"name": "e", "subject": "w.e", "metadata": schema}
    answers = [
        (b"", b"no json"),
        reply("ping"),
        reply("info", id=7),
        reply("info", endpoints=[{"name": "e", "metadata": {"a": 1}}]),
        reply("info", metadata=None, endpoints=[endpoint]),
    ]
    with answering(url, {"$SRV.INFO": answers, "$SRV.INFO.W": answers, "$SRV.PING": [(b"", b"[]")]}):
        listed = cli("service list --json", status=0)
        assert [one["id"] for one in listed.json] == ["1"]
        assert listed.err.count("ignored a reply") == 4
        assert "its type is 'io.nats.micro.v1.ping_response'" in listed.err
        assert '"type": "object"' in cli("service info W", status=0).out
    plain = reply("info", description=None)
    with answering(url, {"$SRV.INFO": [plain]}):
        assert [one["id"] for one in cli("service list --json", status=0).json] == ["1"]
    with answering(url, {"$SRV.>": []}):  # somebody who listens and says nothing
        for line in ("stats nope", "info nope", "ping nope", "stats nope X"):
            assert "nope" in cli(f"service {line}", status=3).err
        assert cli("service ping --json", status=0).json == []
    with answering(url, {"$SRV.INFO": answers[:2]}):
        assert "no reply on $SRV.INFO follows the service protocol" in cli("service list", status=1).err
