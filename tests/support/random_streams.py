"""Random streams on a real server, with messages, and consumers that have read and acknowledged some."""

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Awaitable
from typing import Any, TypeVar

from hypothesis import strategies as st

from jsctl.base.units import MINUTE, format_rfc3339
from jsctl.contexts.settings import Settings
from jsctl.errors import ApiError
from jsctl.jetstream.api import Api
from jsctl.jetstream.backup.copy_resume import write_snapshot
from jsctl.jetstream.backup.snapshot import restore_snapshot
from jsctl.nats.acks import Metadata
from jsctl.nats.codec import encode_publish
from jsctl.nats.connection import Connection
from jsctl.nats.headers import encode_headers
from jsctl.nats.message import Message
from tests.support.waiting import wait_for

Json = dict[str, Any]
T = TypeVar("T")
Op = tuple[Any, ...]

SUBJECTS = ("s.a", "s.b", "s.a.x", "s.b.y", "s.c")
FILTERS: tuple[tuple[str, ...], ...] = (
    (),
    (),
    ("s.>",),
    ("s.a",),
    ("s.b",),
    ("s.a.>",),
    ("s.*",),
    ("s.*.x",),
    ("s.a", "s.b"),
    ("s.a", "s.b.>"),
    ("none",),
)
CONSUMERS = ("A", "B", "C", "D")

subject_filters = st.sampled_from(FILTERS)
publishing = st.tuples(
    st.just("publish"), st.sampled_from(SUBJECTS), st.integers(1, 6), st.sampled_from([1, 10, 300])
)
consuming = st.tuples(
    st.just("consume"),
    st.sampled_from(CONSUMERS),
    st.integers(1, 8),
    st.lists(st.sampled_from(["+ACK", "+ACK", "-NAK", "+TERM", ""]), min_size=1, max_size=8),
)
deleting = st.tuples(st.just("delete"), st.integers(1, 20))
taking = st.tuples(
    st.just("taker"), st.sampled_from(["mirror", "source"]), st.sampled_from(["", "s.>", *SUBJECTS])
)
resetting = st.tuples(st.just("reset"), st.sampled_from(CONSUMERS), st.integers(1, 20))


def with_filters(config: Json, filters: tuple[str, ...]) -> Json:
    """Return a consumer's configuration with these filters, as a server has them."""
    bare = {key: value for key, value in config.items() if not key.startswith("filter_subject")}
    if len(filters) == 1:
        return {**bare, "filter_subject": filters[0]}
    return {**bare, "filter_subjects": list(filters)} if filters else bare


@st.composite
def consumers(draw: st.DrawFn, *, queue: bool = False) -> Json:
    """Draw the configuration of a consumer without its name."""
    config: Json = {
        "ack_policy": "explicit" if queue else draw(st.sampled_from(["explicit"] * 3 + ["all", "none"]))
    }
    if config["ack_policy"] != "none":
        config["max_deliver"] = draw(st.sampled_from([-1, -1, -1, 1, 2]))
    if not queue:
        config["deliver_policy"] = draw(
            st.sampled_from(["all"] * 5 + ["new", "last", "last_per_subject", "by_start_sequence"])
        )
    if config.get("deliver_policy") == "by_start_sequence":
        config["opt_start_seq"] = draw(st.integers(1, 12))
    filters = draw(subject_filters)
    if config.get("deliver_policy") == "last_per_subject":
        filters = filters or ("s.>",)
    return with_filters(config, filters)


@st.composite
def streams(draw: st.DrawFn, *retentions: str) -> Json:
    """Draw the configuration of a stream without its name. It may copy a stream ORIGIN."""
    copies = draw(st.sampled_from(["", "", "", "", "mirror", "source"]))
    origin = {"name": "ORIGIN", "subject_transforms": [{"src": "o.>", "dest": "s.>"}]}
    copying: Json = {"subjects": ["s.>"]}
    if copies == "mirror":
        copying = {"mirror": origin}
    if copies == "source":
        copying["sources"] = [origin]
    retention = draw(
        st.sampled_from(retentions or ("limits", "interest", "interest", "interest", "workqueue"))
    )
    return {
        **copying,
        "retention": retention,
        "storage": draw(st.sampled_from(["file", "memory"])),
        "discard": draw(st.sampled_from(["old", "old", "new"])),
        "allow_direct": draw(st.booleans()),
        "max_msgs_per_subject": draw(st.sampled_from([-1, -1, 3])),
    }


@st.composite
def histories(draw: st.DrawFn, *, queue: bool, least: int = 0) -> list[Op]:
    """Draw what happens to a stream: at least so many consumers first, as otherwise nothing is stored for
    want of interest, and later."""
    ops: list[Op] = [
        ("consumer", name, draw(consumers(queue=queue))) for name in CONSUMERS[: draw(st.integers(least, 3))]
    ]
    rest = st.one_of(
        *([] if queue else [taking]),
        publishing,
        publishing,
        consuming,
        consuming,
        deleting,
        resetting,
        st.tuples(st.just("consumer"), st.sampled_from(CONSUMERS), consumers(queue=queue)),
    )
    return [*ops, draw(publishing), draw(publishing), *draw(st.lists(rest, max_size=8))]


class Server:
    """Requests of tests on one connection."""

    def __init__(self, url: str) -> None:
        self._runner = asyncio.Runner()
        self._connection = self._runner.run(Connection.open(Settings(url=url)))
        self.api = Api(self._connection)
        self._numbers = itertools.count()
        self._fed: dict[str, int] = {}
        # A server (2.15) removes the folder of an account's last stream in the background, and may refuse one
        # that is created meanwhile (10049).
        self.ask("STREAM.CREATE.KEPT", {"name": "KEPT", "subjects": ["kept"]})

    def close(self) -> None:
        self._runner.run(self._connection.close())
        self._runner.close()

    def run(self, work: Awaitable[T]) -> T:
        async def wait() -> T:
            return await work

        return self._runner.run(wait())

    def ask(self, subject: str, body: Any = None) -> Json:
        """Send a request; return the reply."""
        return self.run(self.api.call(subject, body))

    def try_to(self, subject: str, body: Any = None) -> Json | None:
        """Send a request that the server may refuse; None if it does."""
        try:
            return self.ask(subject, body)
        except ApiError:
            return None

    def publish(self, subject: str, data: bytes) -> None:
        """Publish one message to a stream."""
        self.run(self._connection.request(subject, data))

    def count(self, stream: str) -> int:
        """Return how many messages a stream has."""
        return int(self.ask(f"STREAM.INFO.{stream}")["state"]["messages"])

    def make(self, stream: Json, history: list[Op]) -> str:
        """Create a stream with a name that none has had, let things happen to it, and return its name; what
        the server refuses does not happen."""
        name = f"S{next(self._numbers)}"
        copies = stream.get("mirror") or stream.get("sources")
        if copies:
            self.ask("STREAM.CREATE.ORIGIN", {"name": "ORIGIN", "subjects": ["o.>"]})
        self.ask(f"STREAM.CREATE.{name}", {**stream, "name": name})
        for op in history:
            self.run(self._do(name, op, prefix="o" if stream.get("mirror") else "s"))
            if copies:
                self._fed["ORIGIN"] = time.monotonic_ns()
                self.run(self._do(name, ("publish", "s.b", 1, 10), prefix="o"))
                self.wait_for_copies()
        self.wait_for_copies()
        wait_for(lambda: not self._count_unacknowledged(name), "copies have not acknowledged what they have")
        return name

    def has_taker(self) -> bool:
        """Return whether a stream copies the one that was made."""
        return any(name.startswith("TAKER") for name in self.ask("STREAM.NAMES")["streams"])

    def wait_for_copies(self) -> None:
        """Wait until all mirrors and sources have what there is."""

        def are_complete() -> bool:
            infos = self.ask("STREAM.LIST")["streams"]
            last = {info["config"]["name"]: info["state"]["last_seq"] for info in infos}
            links = [
                link for info in infos for link in (info.get("mirror"), *(info.get("sources") or ())) if link
            ]
            mirrors = [info for info in infos if (info.get("mirror") or {}).get("name") == "ORIGIN"]
            if any(last[info["config"]["name"]] < last["ORIGIN"] for info in mirrors):
                return False
            now = time.monotonic_ns()  # a lag of 0 may be from before the last message
            return all(
                (0 <= link["active"] <= now - self._fed.get(link["name"], 0) and not link["lag"])
                or not last[link["name"]]
                for link in links
            )

        wait_for(are_complete, "copies are incomplete")

    def _count_unacknowledged(self, stream: str) -> int:
        """Return how many messages copies of a stream have, and have not acknowledged: they do so once a
        second, and what nobody else needs goes then."""
        infos = self.ask(f"CONSUMER.LIST.{stream}")["consumers"]
        return sum(int(info["num_ack_pending"]) for info in infos if info["name"].startswith("JS_"))

    def restore(self, stream: Json, messages: list[tuple[str, int, str]]) -> str:
        """Create a stream with old messages, and return its name. messages: subjects, each with its age in
        minutes and its TTL, empty for none; the oldest first."""
        name = str(stream["name"])
        state = {"messages": 0, "bytes": 0, "first_seq": 1, "last_seq": 0, "consumer_count": 0}
        now = time.time_ns()

        async def iterate() -> AsyncIterator[Message]:
            for number, (subject, age, ttl) in enumerate(messages, 1):
                block = encode_headers([("Nats-TTL", ttl)] if ttl else [])
                stored = Metadata(name, number, format_rfc3339(now - age * MINUTE))
                yield Message(subject, b"x", header_block=block, metadata=stored)

        self.run(restore_snapshot(self.api, stream, state, write_snapshot(iterate(), state)))
        return name

    def clear(self) -> None:
        """Remove all streams that tests have made."""
        for name in set(self.ask("STREAM.NAMES")["streams"]) - {"KEPT"}:
            self.ask(f"STREAM.DELETE.{name}")

    async def _do(self, stream: str, op: Op, prefix: str) -> None:
        """Let something happen. prefix: of the subjects that are published to."""
        call = self.api.call
        try:
            match op:
                case ("publish", subject, count, size):
                    for _ in range(count):
                        await self._connection.request(prefix + subject[1:], b"x" * size)
                case ("taker", kind, subject):
                    name = f"TAKER{next(self._numbers)}"
                    origin = {"name": stream, "filter_subject": subject}
                    copying = {"mirror": origin} if kind == "mirror" else {"sources": [origin]}
                    await call(f"STREAM.CREATE.{name}", {**copying, "name": name})
                case ("delete", sequence):
                    await call(f"STREAM.MSG.DELETE.{stream}", {"seq": sequence})
                case ("consumer", name, config):
                    subject = f"CONSUMER.CREATE.{stream}.{name}"
                    subject += f".{config['filter_subject']}" if config.get("filter_subject") else ""
                    whole = {**config, "name": name, "durable_name": name}
                    await call(subject, {"stream_name": stream, "config": whole, "action": "create"})
                case ("reset", name, sequence):
                    await call(f"CONSUMER.INFO.{stream}.{name}")  # nobody answers for a missing one
                    await call(f"CONSUMER.RESET.{stream}.{name}", {"seq": sequence})
                case ("consume", name, count, replies):
                    await call(f"CONSUMER.INFO.{stream}.{name}")
                    await self._consume(stream, name, count, replies)
        except ApiError:
            pass

    async def _consume(self, stream: str, consumer: str, count: int, replies: list[str]) -> None:
        """Fetch messages, and answer them in turn."""
        messages: list[Message] = []
        has_ended = asyncio.Event()

        def handle(message: Message) -> None:
            if message.status[0]:
                has_ended.set()
                return
            messages.append(message)
            if len(messages) == count:
                has_ended.set()

        inbox = self._connection.new_inbox()
        body = json.dumps({"batch": count, "no_wait": True}).encode()
        async with self._connection.receive(inbox, handle):
            subject = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"
            await self._connection.send(encode_publish(subject, body, inbox))
            async with asyncio.timeout(10):
                await has_ended.wait()
        config = (await self.api.call(f"CONSUMER.INFO.{stream}.{consumer}"))["config"]
        if config["ack_policy"] == "none":
            return
        for message, reply in zip(messages, replies * count, strict=False):
            if reply:
                await self._connection.request(message.reply, reply.encode())
