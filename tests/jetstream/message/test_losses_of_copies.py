"""Copies and renames of random streams lack what was said, and nothing else (see `test_losses`)."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from tests.jetstream.message.test_losses import RANDOM, compare, limits, parse_said, scenes
from tests.support.random_streams import Op, Server
from tests.support.run import Cli

Json = dict[str, Any]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(7200)]  # of thousands of cases


@RANDOM
@given(scene=scenes(), data=st.sampled_from(["", " --data"]))
def test_a_copy_leaves_its_origin(cli: Cli, server: Server, scene: tuple[Json, list[Op]], data: str) -> None:
    try:
        stream = server.make(*scene)
        before = server.count(stream)
        subjects = "" if "mirror" in scene[0] else " --subjects copy.>"
        copied = cli(f"stream copy {stream} COPY{data}{subjects}", status=0)
        assert server.count(stream) == before, copied
        lost = before - server.count("COPY")
        assert not (data and lost) or "warning" in copied.err, (lost, copied)
    finally:
        server.clear()


_QUEUE = {"subjects": ["s.>"], "retention": "workqueue", "storage": "file"}
_WORKER = ("consumer", "A", {"ack_policy": "explicit", "max_deliver": 2, "filter_subject": "s.>"})


@example(
    scene=(_QUEUE, [_WORKER, ("publish", "s.c", 2, 1), ("reset", "A", 18)]),
    change={"max_msgs_per_subject": 2},
    retention="",
)
@example(
    scene=(_QUEUE, [_WORKER, ("publish", "s.c", 3, 1), ("reset", "A", 2), ("consume", "A", 1, ["+ACK"])]),
    change={},
    retention="",
)
@RANDOM
@given(scene=scenes(), change=limits, retention=st.sampled_from(["", "interest", "limits", "workqueue"]))
def test_a_rename(
    cli: Cli, server: Server, tmp_path: Path, scene: tuple[Json, list[Op]], change: Json, retention: str
) -> None:
    """A stream with another name holds what the old one did; a plan that would lose messages is refused."""
    try:
        stream = server.make(*scene)
        before, config = server.count(stream), server.ask(f"STREAM.INFO.{stream}")["config"]
        keys = {**change, **({"retention": retention} if retention else {})}
        file = tmp_path / "streams.json"
        file.write_text(json.dumps({"streams": [{"name": "NEW", "renamed_from": stream, **keys}]}))
        outcome, said = cli(f"apply -f {file} --force"), ("exact", 0)
        if outcome.status == 64:
            assert server.count(stream) == before
            said = parse_said(outcome.err)
            outcome = cli(f"apply -f {file} --force --allow-data-loss")
        assert outcome.status in (0, 1), outcome
        event("renamed" if outcome.status == 0 else "refused")
        if outcome.status:
            assert server.ask(f"STREAM.INFO.{stream}")["config"] == config, "a part was done"
        compare(server, stream if outcome.status else "NEW", ("exact", 0) if outcome.status else said, before)
    finally:
        server.clear()
