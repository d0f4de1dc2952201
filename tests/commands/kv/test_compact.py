"""`kv compact`."""

import pytest

from jsctl.jetstream.api import Api, Json
from tests.support import js
from tests.support.buckets import operations
from tests.support.run import Cli


def test_compact(config: Cli) -> None:
    dry = config("kv compact CONFIG --dry-run --json", status=0).json
    would = "remove the earlier values of 1 deleted key of bucket CONFIG"
    assert dry.pop("place").startswith("nats://127.0.0.1:")
    assert dry == {"dry_run": True, "would": would, "bucket": "CONFIG", "keys": 1, "markers": 0}
    questions = config("kv compact CONFIG", answers=[False], status=0).asked[0]
    assert "the earlier values of 1 deleted key of bucket CONFIG" in questions
    config("kv compact CONFIG --force", status=0)
    assert operations(config, "user.2") == ["DELETE"], "a new marker stays"
    config("kv compact CONFIG --older 1ms --force", status=0)
    assert "key user.2 not found" in config("kv history CONFIG user.2", status=3).err
    assert operations(config, "user.1") == ["PUT", "PUT"]
    assert "Removed 0 messages" in config("kv compact CONFIG --force", terminal_error=True, status=0).err


def _delete(url: str, *keys: str) -> None:
    for key in keys:
        js.publish_framed(url, f"$KV.CONFIG.{key}", b"NATS/1.0\r\nKV-Operation: DEL\r\n\r\n", b"")


def _count_purges(trace: str) -> int:
    return trace.count(">>> $JS.API.STREAM.PURGE.")


def test_many_deleted_keys_take_few_requests(cli: Cli, url: str) -> None:
    """A request for each of 100,000 keys takes the server 20 s."""
    js.bucket(url, "CONFIG", max_msgs_per_subject=5)
    keys = [f"{part}.{number}" for part in ("user", "order") for number in range(20)]
    js.publish_all(url, [("$KV.CONFIG.live.1", b"x"), ("$KV.CONFIG.live.1", b"y")])
    js.publish_all(url, [(f"$KV.CONFIG.{key}", b"x") for key in keys])
    _delete(url, *keys)
    js.publish(url, "$KV.CONFIG.live.2", b"z")
    dry = cli("kv compact CONFIG --dry-run", status=0).out
    assert "remove the earlier values of 40 deleted keys of bucket CONFIG" in dry
    compacted = cli("kv compact CONFIG --force --trace", terminal_error=True, status=0)
    assert "Removed 40 messages of 40 deleted keys" in compacted.err
    assert _count_purges(compacted.err) <= 2
    assert operations(cli, "user.7") == ["DELETE"], "a new marker stays"
    compacted = cli("kv compact CONFIG --older 1ms --force --trace", terminal_error=True, status=0)
    assert "Removed 40 messages of 40 deleted keys" in compacted.err
    assert _count_purges(compacted.err) == 2, "one for each part of the bucket in which no key has a value"
    assert operations(cli, "live.1") == ["PUT", "PUT"]
    assert js.info(url, "KV_CONFIG")["state"]["messages"] == 3


def test_deleted_keys_among_others(cli: Cli, url: str) -> None:
    """Before the first value that stays, one request removes all; after it, each key has its own."""
    js.bucket(url, "CONFIG", max_msgs_per_subject=5)
    js.publish_all(url, [(f"$KV.CONFIG.a{number}", b"x") for number in range(20)])
    _delete(url, *[f"a{number}" for number in range(18)])
    js.publish_all(url, [("$KV.CONFIG.a18", b"new"), ("$KV.CONFIG.a20", b"x")])
    _delete(url, "a19")
    compacted = cli("kv compact CONFIG --older 1ms --force --trace", terminal_error=True, status=0)
    assert "Removed 38 messages of 19 deleted keys" in compacted.err
    assert operations(cli, "a18") == ["PUT", "PUT"]
    js.publish_all(url, [(f"$KV.CONFIG.b{number}", b"x") for number in range(20)])
    cli("kv purge CONFIG a18 --force", status=0)
    _delete(url, *[f"b{number}" for number in range(20)])
    compacted = cli("kv compact CONFIG --older 1ms --force --trace", terminal_error=True, status=0)
    assert "Removed 41 messages of 21 deleted keys" in compacted.err
    assert cli("kv ls CONFIG", status=0).out == "a20\n"


@pytest.mark.slow
def test_keys_that_need_a_request_each_do_not_wait_for_one_another(
    cli: Cli, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """100,000 of them took 20 s, and take 7: the server needs that long. Here it is counted."""
    js.bucket(url, "CONFIG")
    for kind in ("live", "dead"):
        js.publish_all(url, [(f"$KV.CONFIG.{kind}{number}", b"x") for number in range(400)])
    _delete(url, *[f"dead{number}" for number in range(400)])
    waits = []
    call = Api.call

    async def count_call(self: Api, *args: object, **flags: object) -> Json:
        waits.append(args)
        return await call(self, *args, **flags)  # type: ignore[arg-type]

    monkeypatch.setattr(Api, "call", count_call)
    assert (
        "Removed 400 messages"
        in cli("kv compact CONFIG --older 1ms --force", terminal_error=True, status=0).err
    )
    assert len(waits) < 20
    assert js.info(url, "KV_CONFIG")["state"]["messages"] == 400
    assert "live399" in cli("kv ls CONFIG", status=0).out
