"""`jsctl report --watch` over nine servers: the hub dies and returns, a replica lags, a stream is recreated,
an account's user loses his rights. The screen is fed by real rounds; the hub dies on a terminal, too.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.monitor.report.places import Place, Places
from jsctl.screen.drawing import Line, draw, settle
from jsctl.screen.model import build_first_model, with_board, with_part, with_size
from jsctl.testing import Network
from jsctl.views.board import Start
from jsctl.views.report.board import board
from tests.support.emulator import Watched
from tests.support.run import Cli

pytestmark = pytest.mark.cluster

EVERY = 0.5  #: seconds
MESSAGES = 500
FASTEST = 20 * MESSAGES / EVERY
"""Messages per second: no test publishes more between two rounds."""
HUB = ("srv-4222", "srv-4232", "srv-4282")


@pytest.fixture(scope="module")
def net() -> Iterator[Network]:
    """The nine servers, with ORDERS on the hub and its copies on both spokes."""
    with Network("hub-spokes") as network:
        for line in (
            "stream add ORDERS --subjects orders.> --replicas 3 --defaults --context hub",
            "stream add COPY --mirror ORDERS@hub --defaults --context spoke-1",
            "stream add COPY --mirror ORDERS@hub --defaults --context spoke-2",
            "consumer add ORDERS WORK --pull --defaults --context hub",
        ):
            network.jsctl(line)
        yield network


@pytest.fixture
def healthy(net: Network) -> Network:
    """The same with everything running, and every message copied."""
    net.heal(60)
    return net


class Screen:
    """The screen of `report --watch` as lines of cells, fed by real rounds. beside: the same on a terminal,
    which is read meanwhile."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.model = with_size(build_first_model(Start("jsctl report"), round(EVERY * SECOND)), 120, 40)
        self.known: Sequence[Place] = ()
        self.part = "streams"
        self.beside: Watched | None = None
        self._number = 0

    def show(self, part: str) -> None:
        """Show another part from the next round on."""
        self.part = part

    @property
    def lines(self) -> list[Line]:
        return draw(self.model, self.model.width, self.model.height)

    @property
    def text(self) -> str:
        return "\n".join("".join(text for _, text in line) for line in self.lines)

    def row(self, *words: str) -> Line:
        """The line with these words."""
        found = [line for line in self.lines if all(one in "".join(t for _, t in line) for one in words)]
        assert len(found) == 1, f"{words}:\n{self.text}"
        return found[0]

    async def until(self, is_there: Callable[[], object], seconds: float = 40) -> None:
        """Ask in rounds until a function finds something on the screen; no rate is ever negative or huge."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            due = time.monotonic() + EVERY
            self._number += 1
            async for known in self.places.one_round(EVERY):
                self.known = known
                shown = board(self.known, time.time(), self._number)
                self.model = settle(with_board(self.model, shown))
                if self.model.part != self.part:
                    self.model = with_part(self.model, self.part)
                self._check_rates()
                if is_there():
                    return
            while self.beside is not None and time.monotonic() < due:
                await asyncio.to_thread(self.beside.read)
            await asyncio.sleep(due - time.monotonic())
        raise AssertionError(f"it is not on the screen:\n{self.text}")

    def _check_rates(self) -> None:
        for place in self.known:
            rates = [line.rate for line in place.tracker.streams or ()]
            rates += [rate for line in place.tracker.streams or () for rate in line.rates]
            for consumer in place.tracker.consumers or ():
                rates += [consumer.delivered, consumer.acknowledged]
            wrong = [rate for rate in rates if rate is not None and not 0 <= rate <= FASTEST]
            assert not wrong, f"{place.title}: {wrong}"


@asynccontextmanager
async def watching(net: Network, *contexts: str, seconds: int = 2) -> AsyncIterator[Screen]:
    """A screen over contexts of the network. seconds: that answers may take."""
    cli = Cli(Path(net.environ["XDG_CONFIG_HOME"]))
    targets = [settings(cli, one)._replace(timeout=seconds * SECOND) for one in contexts]
    screen: Screen

    places = Places(targets, pattern="", with_consumers=True, needs="screen")
    screen = Screen(places)
    try:
        yield screen
    finally:
        await places.close()


def settings(cli: Cli, context: str) -> Settings:
    """What a context of the network says."""
    from jsctl.contexts.layers import resolve
    from jsctl.contexts.store import ContextStore

    return resolve({}, ContextStore.from_environment(cli.environ).find(context))


def is_dim(line: Line) -> bool:
    """Whether everything in a line is dimmed."""
    return all("dim" in style.split() for style, text in line if text.strip())


async def publish(net: Network, count: int = MESSAGES) -> None:
    await asyncio.to_thread(net.jsctl, f"pub orders.new x --count {count} -J", context="hub")


def test_the_hub_dies_and_returns(healthy: Network) -> None:
    net = healthy
    cli = Cli(Path(net.environ["XDG_CONFIG_HOME"]))
    watched = Watched(
        cli.terminal("report --watch 500ms --context hub --context spoke-1", columns=80, rows=24)
    )

    async def run() -> None:
        async with watching(net, "hub", "spoke-1", "spoke-2") as screen:
            screen.beside = watched
            await publish(net)
            await screen.until(lambda: screen.text.count(f" {MESSAGES} ") >= 3)
            assert not is_dim(screen.row("hub", "ORDERS"))
            await asyncio.to_thread(watched.until, f" {MESSAGES} ")
            await asyncio.to_thread(net.kill, *HUB)
            await screen.until(lambda: "hub unreachable, its numbers are 3s old" in screen.text)
            assert is_dim(screen.row("hub", "ORDERS", f" {MESSAGES} ")), "the numbers stay, dimmed"
            assert not is_dim(screen.row("spoke-1", "COPY", f" {MESSAGES} "))
            await asyncio.to_thread(watched.until, "hub unreachable, its numbers are")
            await asyncio.to_thread(net.start, *HUB)
            await screen.until(lambda: "unreachable" not in screen.text and "late" not in screen.text, 60)
            assert not is_dim(screen.row("hub", "ORDERS", f" {MESSAGES} "))
            await publish(net)
            await screen.until(lambda: screen.text.count(f" {2 * MESSAGES:,} ") >= 3, 90)

    asyncio.run(run())
    watched.until(lambda text: text.count(f" {2 * MESSAGES:,} ") == 2 and "unreachable" not in text)
    watched.press("q")
    assert watched.end() == 0
    assert not watched.screen.alternate


def test_a_replica_lags(healthy: Network) -> None:
    net = healthy

    async def run() -> None:
        async with watching(net, "hub") as screen:
            await screen.until(lambda: "ORDERS" in screen.text)
            [stream] = screen.known[0].tracker.streams or ()
            replica = stream.row.peers[0].rstrip("!")
            await asyncio.to_thread(net.pause, replica)
            await publish(net)
            await screen.until(lambda: f"replica {replica} " in screen.text)
            assert any("warn" in style or "bad" in style for style, _ in screen.row("ORDERS"))
            screen.show("problems")
            await screen.until(lambda: f"replica {replica} not seen for" in screen.text)
            screen.show("servers")
            await screen.until(
                lambda: any("behind" in one for one in screen.text.splitlines() if replica in one)
            )
            await asyncio.to_thread(net.resume, replica)
            screen.show("streams")
            await screen.until(lambda: "replica" not in screen.text and " 0 " in screen.text)

    asyncio.run(run())


def test_a_stream_is_recreated(healthy: Network) -> None:
    net = healthy

    async def run() -> None:
        async with watching(net, "hub", "spoke-1") as screen:
            await publish(net)
            await screen.until(lambda: "ORDERS" in screen.text and "COPY" in screen.text)
            await screen.until(lambda: screen.model.rows)
            await asyncio.to_thread(net.jsctl, "stream rm ORDERS --force", context="hub")
            await screen.until(lambda: "ORDERS" not in screen.text)
            add = "stream add ORDERS --subjects orders.> --replicas 3 --defaults"
            await asyncio.to_thread(net.jsctl, add, context="hub")
            await publish(net, 7)
            await screen.until(lambda: screen.text.count(" 7 ") and "ORDERS" in screen.text)
            # Deleted and made between two rounds: only its time of creation tells.
            again = "stream rm ORDERS --force --context hub", f"{add} --context hub"
            await asyncio.to_thread(lambda: [net.jsctl(line) for line in again])
            await publish(net, 3)
            await screen.until(lambda: "ORDERS" in screen.text and " 3 " in screen.text)
            await asyncio.to_thread(net.jsctl, "stream rm COPY --force", context="spoke-1")
            await asyncio.to_thread(
                net.jsctl, "stream add COPY --mirror ORDERS@hub --defaults", context="spoke-1"
            )
            screen.show("replication")
            await screen.until(lambda: "COPY" in screen.text and "●" not in screen.text)

    asyncio.run(run())


def test_a_user_loses_his_rights(healthy: Network) -> None:
    """A revoked user is cut off and refused: his numbers stay, with their age, until he is allowed again."""
    net = healthy
    store = f"--store {net.folder / 'auth'}"
    url = net.contexts["spoke-1"]["url"].split(",")[0]
    creds = net.folder / "watcher.creds"

    def auth(*lines: str) -> None:
        for line in lines:
            net.jsctl(f"auth {line} {store}")
        net.jsctl(f"auth account push TEST {store} --context system --timeout 20s")

    net.jsctl(f"auth user add watcher TEST --defaults --credential {creds} {store}")
    net.jsctl(f"context add watcher --server {url} --creds {creds}")

    async def run() -> None:
        async with watching(net, "spoke-2", "watcher") as screen:
            await screen.until(lambda: screen.text.count("COPY") == 2)
            await asyncio.to_thread(auth, "account revocations add watcher TEST")
            await screen.until(lambda: "watcher spoke-1 failed, its numbers are" in screen.text)
            assert is_dim(screen.row("watcher", "COPY")) and not is_dim(screen.row("spoke-2", "COPY"))
            await asyncio.to_thread(auth, "account revocations rm watcher TEST --force")
            await screen.until(lambda: "watcher spoke-1 failed" not in screen.text)
            assert not is_dim(screen.row("watcher", "COPY"))

    asyncio.run(run())


def test_an_account_is_sent_after_a_server_died(healthy: Network) -> None:
    """The other servers still count each one that was killed, twice when it is back."""
    net = healthy
    net.kill("srv-4232")
    net.start("srv-4232")
    net.heal(60)
    servers = json.loads(net.jsctl("server ls --json", context="system"))
    known = max(server["statsz"]["active_servers"] for server in servers)
    assert len(servers) == 9 < known, "the servers forget it sooner than this test expects"
    pushed = net.jsctl(f"auth account push TEST --store {net.folder / 'auth'} --context system")
    assert pushed.count("updated") == 9


def test_an_account_loses_its_jetstream(healthy: Network) -> None:
    """The servers hold its streams and do not run them when it gets JetStream back, until they start anew."""
    net = healthy
    store = f"--store {net.folder / 'auth'}"
    cli = Cli(Path(net.environ["XDG_CONFIG_HOME"]))

    def auth(change: str) -> None:
        net.jsctl(f"auth account edit TEST {change} {store}")
        net.jsctl(f"auth account push TEST {store} --context system --timeout 20s --allow-data-loss")

    async def run() -> None:
        # Servers answer after 4 seconds when a stream is silent.
        async with watching(net, "hub", seconds=6) as screen:
            await screen.until(lambda: "ORDERS" in screen.text)
            await asyncio.to_thread(auth, "--no-jetstream")
            await screen.until(lambda: "hub unreachable, its numbers are" in screen.text)
            assert is_dim(screen.row("ORDERS", "srv-"))
            await asyncio.to_thread(auth, "--jetstream")
            await screen.until(lambda: "offline: no answer" in screen.text)
            found = await asyncio.to_thread(lambda: cli("doctor --context hub", status=1))
            assert "if all run, restart" in found.out
            for server in HUB:
                await asyncio.to_thread(net.restart, server)
            await screen.until(lambda: "offline" not in screen.text and "ORDERS" in screen.text, 90)
            assert "unreachable" not in screen.text

    asyncio.run(run())
