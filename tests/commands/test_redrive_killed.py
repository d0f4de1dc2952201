"""`redrive` killed and interrupted at random points, continued until it is done, and undone: exact to the
message."""

import itertools
import random
import shlex
import signal
from pathlib import Path

import pytest

from jsctl.jetstream.redrive.journal import Journal
from jsctl.nats.headers import encode_headers, find_header
from jsctl.nats.message import Message
from tests.support import js
from tests.support.cases import sample
from tests.support.dead_letters import consumer, work_off
from tests.support.killing import REQUESTS, Killer, run_killed
from tests.support.run import Cli
from tests.support.stored import stored

_STREAMS = ("W", "R", "Q")
_PATCHED = {Journal: ["_write"], **REQUESTS}


def read_all(url: str) -> dict[str, list[tuple[int, str, bytes, bytes]]]:
    """Return what the streams hold, but for what others publish meanwhile."""
    return {
        stream: [
            (one.sequence, one.subject, one.header_block, one.data)
            for one in stored(url, stream)
            if one.data != b"other"
        ]
        for stream in _STREAMS
    }


def run_until_done(cli: Cli, url: str, line: list[str], home: Path, chance: random.Random) -> set[int]:
    """Run a line, killed or interrupted at random points, until it ends. Others publish to a target, and
    remove messages of the source meanwhile; return their sequences."""
    removed = set[int]()
    while True:
        killer = Killer(home, chance.randint(1, 250), chance.choice([signal.SIGKILL, signal.SIGINT]))
        if not run_killed(lambda: cli(line), killer, _PATCHED):
            return removed
        if chance.random() < 0.3:
            js.publish(url, "retry.other", b"other")
        if chance.random() < 0.3:
            sequence = chance.choice([one.sequence for one in stored(url, "W") if not is_copy(one)])
            js.ask(url, "STREAM.MSG.DELETE.W", {"seq": sequence})
            removed.add(sequence)


def is_copy(message: Message) -> bool:
    return bool(find_header(message.header_block, "Jsctl-Redrive-Run"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "choice", "seed"),
    sample(
        itertools.product(
            ["--subject retry.x", "--subject retry.>", "--stream R --subject retry.x", "--to-consumer"],
            ["--dead", "--filter w.a", "--match 'n > 30'"],
            range(4),
        ),
        5,
    ),
)
def test_each_message_once_and_none_after_undo(
    cli: Cli, url: str, tmp_path: Path, target: str, choice: str, seed: int
) -> None:
    chance = random.Random(f"{target} {choice} {seed}")
    retention, window = chance.choice(["limits", "workqueue"]), chance.choice([100_000_000, 120 * 10**9])
    js.stream(url, "W", "w.*", retention=chance.choice(["limits", "workqueue"]), duplicate_window=window)
    js.stream(url, "R", "retry.>", retention=retention, duplicate_window=window)
    js.stream(url, "Q", "quarantine.>", duplicate_window=window)
    js.publish(url, "retry.y", b"before", 3)
    consumer(url, "W")
    count = chance.randint(40, 120)
    js.publish_all(url, [(f"w.{chance.choice('ab')}", b'{"n": %d}' % n) for n in range(1, count + 1)])
    for number in range(count + 1, count + 7):  # published again too often
        js.publish_framed(url, "w.a", encode_headers([("Jsctl-Redrive-Count", "5")]), b'{"n": %d}' % number)
    js.wait_for_messages(url, "W", count + 6)
    failing = set(chance.sample(range(1, count + 7), 40))
    if choice == "--dead":
        work_off(url, "W", failing=failing)
    source = {one.sequence: one for one in stored(url, "W")}
    chosen = {
        "--dead": failing,
        "--filter w.a": {number for number, one in source.items() if one.subject == "w.a"},
        "--match 'n > 30'": {number for number in source if number > 30},
    }[choice]
    before = read_all(url)

    journal = tmp_path / "a journal.jsonl"
    line = [
        "redrive",
        "W",
        "C",
        *shlex.split(f"{target} {choice}"),
        "--quarantine",
        "quarantine.>",
        "--force",
    ]
    line += ["--force", "--journal", str(journal), "--rate", str(chance.choice([60, 200, 5000]))]
    removed = run_until_done(cli, url, [*line, "--uncertain", "send"], tmp_path, chance)
    result = cli([*line, "--json"], status=0).json
    assert (result["messages"], result["remaining"]) == (0, 0)
    copies = [one for stream in _STREAMS for one in stored(url, stream) if is_copy(one)]
    numbers = [int(find_header(one.header_block, "Jsctl-Redrive-Sequence")) for one in copies]
    assert len(numbers) == len(set(numbers)), "stored twice"
    assert chosen - removed <= set(numbers) <= chosen
    assert (result["total"], result["stored"]) == (len(numbers) + result["gone"], len(numbers))
    for number, copy in zip(numbers, copies, strict=True):
        own = source[number].subject
        wanted = f"quarantine.{own}" if number > count else {"--s": "retry.x", "--t": own}[target[:3]]
        assert copy.data == source[number].data
        assert copy.subject == (f"retry.{own}" if ">" in target and number <= count else wanted)

    removed |= run_until_done(cli, url, ["redrive", "--undo", str(journal), "--force"], tmp_path, chance)
    before["W"] = [one for one in before["W"] if one[0] not in removed]
    assert read_all(url) == before
    undone = cli(["redrive", "--undo", str(journal), "--force", "--json"], status=0).json
    assert (undone["removed"], undone["undone"], undone["earlier"]) == (0, len(numbers), 0)
