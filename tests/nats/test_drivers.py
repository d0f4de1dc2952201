"""Both drivers of a connection, and the change from the blocking to the asyncio one, method by method."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jsctl.base import loops
from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, Denied, JsctlError, NoResponders, RequestTimeout, Unreachable
from jsctl.nats.connection import Connection
from jsctl.nats.headers import encode_headers, find_header
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.nats.outcomes import only_reads
from jsctl.nats.replies import request_many
from tests.support import js
from tests.support.hostile import hostile_server
from tests.support.relay import relay
from tests.support.servers import Account, RealServer, free_port

Ask = Callable[[Connection], Awaitable[Any]]

SERVER = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
accounts { A: { jetstream: enabled, users: [
  {user: all, password: x},
  {user: quiet, password: x, permissions: {publish: {deny: ["refused"]}}},
  {user: deaf, password: x, permissions: {subscribe: {deny: [">"]}}}
] } }
"""


class Driver:
    """One of the three ways to come to a connection."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.events: list[object] = []

    def run(self, settings: Settings, ask: Ask) -> Any:
        async def work() -> Any:
            connection = await Connection.open(settings, on_event=self.events.append)
            try:
                if self.name == "moved":
                    await loops.enter_event_loop()
                return await ask(connection)
            finally:
                await connection.close()

        return (loops.run_in_loop if self.name == "asyncio" else loops.run)(work())


@pytest.fixture(params=["blocking", "asyncio", "moved"])
def driver(request: pytest.FixtureRequest) -> Driver:
    return Driver(request.param)


@pytest.fixture
def settings(url: str) -> Settings:
    return Settings(url=url)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    server = RealServer(tmp_path_factory.mktemp("drivers"), SERVER).start()
    yield server
    server.stop()


async def get_properties(connection: Connection) -> None:
    assert connection.server_info["max_payload"] == connection.max_payload > 0
    host, _, port = connection.url.removeprefix("nats://").partition(":")
    assert "@" not in connection.url and connection.is_connected
    assert connection.socket_info("peername")[:2] == (host, int(port))
    assert connection.socket_info("sockname")[1] > 0
    assert connection.socket_info("ssl_object") is None
    assert connection.settings.timeout


async def request(connection: Connection) -> None:
    reply = await connection.request("$JS.API.INFO")
    assert b"account_info_response" in reply.data
    with pytest.raises(BadInput, match="not a valid subject"):
        await connection.request("a b")


async def request_message(connection: Connection) -> None:
    block = encode_headers([("Nats-Expected-Last-Sequence", "7")])
    reply = await connection.request_message(OutgoingMessage("orders.new", b"1", "", block))
    assert b"wrong last sequence" in reply.data
    reply = await connection.request_message(OutgoingMessage("orders.new", b"1"))
    assert b'"seq":1' in reply.data.replace(b" ", b"")


async def collect_replies(connection: Connection) -> None:
    assert len(await request_many(connection, "$JS.API.INFO", expect=1)) == 1
    with pytest.raises(NoResponders):
        await request_many(connection, "nobody.there")


async def _wait_for_messages(connection: Connection, count: int) -> None:
    """A stream stores a message some time after the server has it."""
    while b'"messages":%d' % count not in (await connection.request("$JS.API.STREAM.INFO.ORDERS")).data:
        pass


async def publish(connection: Connection) -> None:
    await connection.publish("orders.new", b"two")
    await connection.publish("orders.new", b"three")
    await connection.flush()
    await _wait_for_messages(connection, 2)
    with pytest.raises(BadInput, match="not a valid subject"):
        await connection.publish("", b"")


async def check_size(connection: Connection) -> None:
    for send in (connection.publish, connection.request):
        with pytest.raises(BadInput, match="the server accepts"):
            await send("orders.new", bytes(connection.max_payload + 1))
    connection.check_size(OutgoingMessage("orders.new", b""))


async def subscribe(connection: Connection) -> None:
    async with connection.subscribe("news.*") as subscription:
        await connection.publish("news.1", b"one", reply="back")
        message = await subscription.next(5 * SECOND)
        assert message and (message.subject, message.data, message.reply) == ("news.1", b"one", "back")
        assert await subscription.next(SECOND // 100) is None
    await connection.publish("news.2", b"two")
    await connection.flush()


async def receive(connection: Connection) -> None:
    received: list[Message] = []
    async with connection.receive("news.*", received.append, queue="workers"):
        await connection.send(OutgoingMessage("news.1", b"", "", encode_headers([("K", "V")])).encode(""))
        await connection.flush()
    await connection.publish("news.2")
    await connection.flush()
    assert [(m.subject, find_header(m.header_block, "K")) for m in received] == [("news.1", "V")]


async def listen(connection: Connection) -> None:
    received: list[Message] = []
    await connection.listen("news.*", received.append)
    await connection.publish("news.1")
    await connection.flush()
    assert [message.subject for message in received] == ["news.1"]


async def send(connection: Connection) -> None:
    frames = [OutgoingMessage("orders.new", b"1").encode("") for _ in range(3)]
    await connection.send(*frames)
    await connection.send_now(*frames)
    connection.post(frames[0])
    connection.post(frames[0], now=True)
    await connection.settle()
    await _wait_for_messages(connection, 8)
    assert connection.read_now(0) is False


async def take_turns(connection: Connection) -> None:
    """Requests at once, and one after the other."""
    replies = await loops.gather(connection.request("$JS.API.INFO") for _ in range(20))
    assert len({reply.subject for reply in replies}) == 20
    started = [loops.start(connection.request("$JS.API.INFO")) for _ in range(3)]
    assert len([await work for work in started]) == 3


async def measure(connection: Connection) -> None:
    assert 0 < await connection.measure_rtt() < 5 * SECOND
    await connection.wait_until_connected()
    assert connection.is_connected
    assert connection.new_inbox() != connection.new_inbox() and connection.new_inbox().startswith("_INBOX.")


async def watch(connection: Connection) -> None:
    with connection.watching(lambda event: False):
        await connection.flush()


async def close(connection: Connection) -> None:
    await connection.close()
    assert not connection.is_connected
    await connection.close()


@pytest.mark.parametrize(
    "ask",
    [
        *(get_properties, request, request_message, collect_replies, publish, check_size, subscribe, receive),
        *(listen, send, take_turns, measure, watch, close),
    ],
)
def test_methods(driver: Driver, settings: Settings, url: str, ask: Ask) -> None:
    js.stream(url, "ORDERS", "orders.>")
    driver.run(settings, ask)


def test_each_public_name_is_tried() -> None:
    tried = Path(__file__).read_text(encoding="utf-8")
    names = {name for name in dir(Connection) if not name.startswith("_")}
    assert {name for name in names if f"connection.{name}" not in tried.lower()} == set()


def test_failures_of_requests(driver: Driver, server: RealServer) -> None:
    async def ask_nobody(connection: Connection) -> None:
        with pytest.raises(NoResponders, match=r"nobody answers on nobody\.there"):
            await connection.request("nobody.there")

    async def ask_the_mute(connection: Connection) -> None:
        with pytest.raises(RequestTimeout, match=r"no answer on a in 0\.2s"):
            await connection.request("a", timeout=SECOND // 5)

    async def ask_the_refused(connection: Connection) -> None:
        with pytest.raises(Denied, match="not allowed to publish to refused"):
            await connection.request("refused")
        with pytest.raises(Denied, match="not allowed to publish to refused"):
            await request_many(connection, "refused")

    async def ask_deaf(connection: Connection) -> None:
        with pytest.raises(Denied, match="not allowed to subscribe"):
            await connection.request("$JS.API.INFO")

    driver.run(Settings(url=server.url_for("all", "x")), ask_nobody)
    driver.run(Settings(url=server.url_for("quiet", "x")), ask_the_refused)
    driver.run(Settings(url=server.url_for("deaf", "x")), ask_deaf)
    with hostile_server() as url:
        driver.run(Settings(url=url), ask_the_mute)


def test_a_refused_login(driver: Driver, server: RealServer) -> None:
    with pytest.raises(Denied, match="refuses the login"):
        driver.run(Settings(url=server.url_for("all", "y")), request)


@pytest.mark.parametrize(
    "settings",
    [
        Settings(url=f"nats://127.0.0.1:{free_port()}"),
        Settings(url=f"ws://127.0.0.1:{free_port()}"),
        Settings(url="nats://127.0.0.1", socks_proxy=f"socks5://127.0.0.1:{free_port()}"),
    ],
    ids=["nats", "websocket", "proxy"],
)
def test_no_server(driver: Driver, settings: Settings) -> None:
    with pytest.raises(Unreachable, match=r"refused|proxy at .* cannot be reached"):
        driver.run(settings, request)


@pytest.mark.slow
def test_a_server_that_goes_away(driver: Driver, tmp_path: Path) -> None:
    """What may change something is not sent again."""
    server = RealServer(tmp_path, SERVER).start()
    settings = Settings(url=server.url_for("all", "x"))._replace(timeout=SECOND)

    async def ask(connection: Connection) -> None:
        await connection.request("$JS.API.INFO")
        server.kill()
        for work in (
            connection.request("$JS.API.STREAM.DELETE.A"),
            connection.flush(),
            connection.measure_rtt(),
        ):
            with pytest.raises(Unreachable):
                await work

    try:
        driver.run(settings, ask)
    finally:
        server.stop()


def test_what_only_reads_is_asked_again(driver: Driver, server: RealServer) -> None:
    with relay(server.port) as line:
        settings = Settings(url=f"nats://all:x@127.0.0.1:{line.port}")

        async def ask(connection: Connection) -> None:
            for _ in range(3):
                line.cut_at_answer()
                began = time.monotonic()
                assert b"memory" in (await connection.request("$JS.API.INFO")).data
                assert time.monotonic() - began < 4, "it waited for an answer that was lost"

        driver.run(settings, ask)


@pytest.mark.parametrize(
    ("subject", "is_read"),
    [
        ("$JS.API.STREAM.INFO.ORDERS", True),
        ("$JS.hub.API.CONSUMER.LIST.ORDERS", True),
        ("$JS.API.STREAM.MSG.GET.ORDERS", True),
        ("$JS.API.DIRECT.GET.ORDERS.a", True),
        ("$JS.API.INFO", True),
        ("$JS.API.STREAM.DELETE.INFO", False),
        ("$JS.API.CONSUMER.DELETE.STREAM.INFO", False),
        ("$JS.API.CONSUMER.DELETE.DIRECT.GET", False),
        ("$JS.API.STREAM.MSG.DELETE.ORDERS", False),
        ("orders.new", False),
    ],
)
def test_what_may_be_sent_again(subject: str, is_read: bool) -> None:
    assert only_reads(subject) is is_read


def test_questions_may_come_between_requests(own_account: Account) -> None:
    """A verb that began without an event loop goes on in one, with the asyncio driver."""

    async def work() -> None:
        connection = await Connection.open(Settings(url=own_account.url))
        assert loops.is_stepped()
        await connection.request("$JS.API.INFO")
        await asyncio.sleep(0)  # as a question does
        await loops.enter_event_loop()
        await connection.request("$JS.API.INFO")
        await connection.close()

    loops.run(work())


def test_a_request_that_was_sent_ahead_keeps_its_reply(own_account: Account) -> None:
    """It may change something, so that it cannot be sent again."""
    js.stream(own_account.url, "ORDERS", "orders.>")

    async def work() -> Message:
        connection = await Connection.open(Settings(url=own_account.url))
        abandoned = loops.start(connection.request("orders.new"))
        await loops.cancel_all([abandoned])
        started = loops.start(connection.request("orders.new"))
        await loops.enter_event_loop()
        try:
            return await started
        finally:
            await connection.close()

    assert b'"seq":2' in loops.run(work()).data.replace(b" ", b"")


def test_an_error_of_the_second_connection_is_raised(tmp_path: Path) -> None:
    server = RealServer(tmp_path, SERVER).start()

    async def work() -> None:
        connection = await Connection.open(Settings(url=server.url_for("all", "x")))
        server.stop()
        with pytest.raises(JsctlError, match="connection refused"):
            await loops.enter_event_loop()
        await connection.close()

    try:
        loops.run(work())
    finally:
        server.stop()
