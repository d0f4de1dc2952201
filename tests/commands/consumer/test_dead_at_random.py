"""`consumer dead` beside a model: random acknowledgements, refusals and ends of deliveries on streams of each
retention, with several consumers that acknowledge each message or all before; what was given up is known
here, and is listed exactly."""

import asyncio
import itertools
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import nats
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from jsctl.base.units import SECOND
from jsctl.nats.subjects import matches
from tests.support import js
from tests.support.cases import sample
from tests.support.run import Cli
from tests.support.stored import stored

_ACK_WAIT = 500_000_000
_HOUR = 3_600_000_000_000
_FILTERS: Sequence[list[str]] = ([], ["s.a"], ["s.b", "s.c"], ["*.a", "*.c"], [">"])


_KINDS = [
    *itertools.product(["limits", "interest"], ["explicit", "all"]),
    ("workqueue", "explicit"),
]
"""Retention and acknowledgement policy; servers refuse any but `explicit` on a work queue."""


@dataclass
class Model:
    """A consumer, and what has become of its messages. counts: deliveries. late: acknowledged after they were
    given up. passed: the answer came late, or an acknowledgement of a later message was for these, too, after
    their last delivery, so that the server may count them or not."""

    name: str
    filters: list[str]
    max_deliver: int
    policy: str
    counts: dict[int, int] = field(default_factory=dict)
    passed: set[int] = field(default_factory=set)
    acked: set[int] = field(default_factory=set)
    late: set[int] = field(default_factory=set)
    terminated: dict[int, tuple[int, str]] = field(default_factory=dict)
    delayed: set[int] = field(default_factory=set)
    replies: dict[int, str] = field(default_factory=dict)

    def takes(self, subject: str) -> bool:
        return not self.filters or any(matches(one, subject) for one in self.filters)

    def pass_all_before(self, sequence: int) -> None:
        """Acknowledge all that was delivered before a message."""
        waiting = self.counts.keys() - self.acked - self.terminated.keys() - self.passed
        before = {one for one in waiting if one < sequence}
        spent = {one for one in before - self.delayed if self.counts[one] == self.max_deliver}
        self.passed |= spent
        self.acked |= before - spent
        self.delayed -= before

    def list_dead(self, published: dict[int, str], removed: set[int]) -> list[dict[str, Any]]:
        """Return what it gave up. published: subjects by sequence. removed: from the stream."""
        dead = []
        for sequence, subject in sorted(published.items()):
            if sequence in self.terminated:
                deliveries, detail = self.terminated[sequence]
                one = {"reason": "terminated", "deliveries": deliveries, "detail": detail}
            elif sequence in self.delayed & removed:
                one = {"reason": "removed", "deliveries": 1, "detail": "Unacknowledged message was deleted"}
            elif self.takes(subject) and sequence not in self.acked | self.delayed | self.passed:
                one = {"reason": "max_deliver", "deliveries": self.max_deliver, "detail": ""}
            else:
                continue
            dead.append({"sequence": sequence, **one})
        return dead


def draw_models(chance: random.Random, retention: str, *, policy: str, prefix: str) -> list[Model]:
    filters: list[list[str]] = (
        chance.choice([[["s.a"], ["s.b", "s.c"]], [["s.a"], ["s.b"], ["s.c"]], [[]], [[">"]]])
        if retention == "workqueue"
        else [chance.choice(_FILTERS) for _ in range(chance.randint(1, 3))]
    )
    return [
        Model(f"C{number}", [one.replace("s.", f"{prefix}.") for one in each], chance.randint(1, 3), policy)
        for number, each in enumerate(filters)
    ]


async def work_off(client: Client, stream: str, model: Model, chance: random.Random) -> None:
    """Answer every delivery at random until the consumer has nothing left that it may deliver soon."""
    context = client.jetstream()
    subscription = await context.pull_subscribe_bind(model.name, stream)
    while True:
        began = time.monotonic()
        for message in await fetch(subscription, chance.randint(1, 20)):
            await answer(client, model, message, chance, began)
        subject = f"$JS.API.CONSUMER.INFO.{stream}.{model.name}"
        info = json.loads((await client.request(subject, timeout=10)).data)
        if not info["num_pending"] and info["num_ack_pending"] == len(model.delayed):
            return


async def fetch(subscription: Any, count: int) -> list[Msg]:
    try:
        return list(await subscription.fetch(count, timeout=0.3))
    except TimeoutError:
        return []


async def answer(client: Client, model: Model, message: Msg, chance: random.Random, began: float) -> None:
    """Answer a message at random. began: when it was asked for, of the monotonic clock."""
    sequence, count = message.metadata.sequence.stream, message.metadata.num_delivered
    model.replies[sequence], model.counts[sequence] = message.reply, count
    kind = chance.choices(
        ["ack", "nak", "delay", "later", "term", "progress", "nothing"], [6, 3, 2, 0.5, 1, 1, 2]
    )[0]
    if kind == "later" and count == model.max_deliver:
        kind = "nak"  # with its last delivery over, it is given up when the delay is
    if sequence in model.acked or sequence in model.terminated:
        kind = "ack"  # it was on its way again
    body = {
        "ack": b"+ACK",
        "nak": b"-NAK",
        "delay": b'-NAK {"delay":50000000}',
        "later": b'-NAK {"delay":%d}' % _HOUR,
        "term": b"+TERM no good",
        "progress": b"+WPI",
        "nothing": b"",
    }[kind]
    if kind == "term" and chance.random() < 0.5:
        body = b"+TERM"
    if body:
        await client.request(message.reply, body, timeout=10)
    if kind in ("ack", "term"):
        if model.policy == "all":
            model.pass_all_before(sequence)
        if count == model.max_deliver and time.monotonic() - began > _ACK_WAIT / SECOND / 2:
            model.passed.add(sequence)  # it may have been given up before
            return
    if kind == "ack":
        model.acked.add(sequence)
    elif kind == "term":
        model.terminated[sequence] = count, "no good" if b"good" in body else ""
    elif kind == "later":
        model.delayed.add(sequence)


async def give_up(url: str, cases: list[tuple[str, list[Model], random.Random]]) -> None:
    client = await nats.connect(url.split(","))
    try:
        await asyncio.gather(
            *(work_off(client, stream, model, chance) for stream, models, chance in cases for model in models)
        )
        for _, models, chance in cases:
            for model in (one for one in models if one.policy == "explicit"):
                given_up = model.replies.keys() - model.acked - model.terminated.keys() - model.delayed
                for sequence in sorted(given_up):
                    if chance.random() < 0.15:  # the client was slow
                        await client.request(model.replies[sequence], b"+ACK", timeout=10)
                        model.acked.add(sequence)
                        model.late.add(sequence)
    finally:
        await client.close()


def remove_some(url: str, stream: str, chance: random.Random, kept: set[int]) -> set[int]:
    """Remove some messages from a stream, but those that are kept; return their sequences."""
    removed = set[int]()
    for message in stored(url, stream):
        if chance.random() < 0.1 and message.sequence not in kept:
            js.ask(url, f"STREAM.MSG.DELETE.{stream}", {"seq": message.sequence})
            removed.add(message.sequence)
    return removed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "captured", "seed"),
    sample(
        itertools.product(_KINDS, [True, False], range(4)),
        8,
    ),
)
def test_what_was_given_up_is_listed_exactly(
    cli: Cli, url: str, kind: tuple[str, str], captured: bool, seed: int
) -> None:
    retention, policy = kind
    if captured:
        cli("consumer dead --capture --max-bytes 1MiB -f", status=0)
    cases: list[tuple[str, list[Model], random.Random]] = []
    published: dict[str, dict[int, str]] = {}
    for number in range(6):
        chance = random.Random(f"{retention} {policy} {seed} {number}")
        stream = f"S{number}"
        js.stream(
            url,
            stream,
            f"s{number}.*",
            retention=retention,
            allow_direct=chance.random() < 0.5,
            storage=chance.choice(["file", "memory"]),
        )
        models = draw_models(chance, retention, policy=policy, prefix=f"s{number}")
        for model in models:
            config = {"durable_name": model.name, "ack_policy": policy, "ack_wait": _ACK_WAIT}
            config |= {"max_deliver": model.max_deliver, "filter_subjects": model.filters}
            js.ask(url, f"CONSUMER.CREATE.{stream}.{model.name}", {"stream_name": stream, "config": config})
        subjects = [f"s{number}.{chance.choice('abc')}" for _ in range(chance.randint(1, 60))]
        if retention == "interest":  # what no consumer wants is not stored
            subjects = [one for one in subjects if any(model.takes(one) for model in models)]
        js.publish_all(url, [(subject, b"x") for subject in subjects])
        published[stream] = dict(enumerate(subjects, 1))
        cases.append((stream, models, chance))
    asyncio.run(give_up(url, cases))
    for stream, models, chance in cases:
        # Of what is acknowledged late, and then removed, nobody can tell that it was acknowledged.
        # Where one acknowledgement is for all, the removal of a message that waits passes those before it.
        waiting = [model.delayed for model in models if model.policy == "all"]
        kept = set[int]().union(*waiting, *(model.late for model in models))
        removed = remove_some(url, stream, chance, kept)
        for model in models:
            expected = model.list_dead(published[stream], removed)
            expected = [one for one in expected if is_known(one, retention, captured, removed)]
            outcome = cli(f"consumer dead {stream} {model.name} --json", status=0)
            keys = ("sequence", "reason", "deliveries", "detail")
            found = [one for one in outcome.json if one["sequence"] not in model.passed]
            assert [{key: one[key] for key in keys} for one in found] == expected, (stream, model)
            if kind == ("interest", "all") and len(models) == 1:  # what it holds was given up before
                held = {one.sequence for one in stored(url, stream)}
                listed = {one["sequence"] for one in outcome.json}
                assert model.passed & held == model.passed & listed, (stream, model)
            assert ("what clients terminated is not known" in outcome.err) == (not captured)


def is_known(letter: dict[str, Any], retention: str, captured: bool, removed: set[int]) -> bool:
    """Return whether it can be known that a message was given up."""
    if letter["reason"] != "max_deliver":
        return captured
    # Of what was given up and then removed, advisories tell; other streams remove what was acknowledged late.
    return letter["sequence"] not in removed or (captured and retention == "limits")
