"""Starts a network of real servers on this machine, waits until it replies, and stops it."""

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from jsctl.contexts.settings import Settings
from jsctl.contexts.store import ContextStore
from jsctl.errors import BadInput, Denied, JsctlError, Unreachable
from jsctl.jetstream.api import Api
from jsctl.json_text import parse_json
from jsctl.localserver import contexts, folder
from jsctl.localserver.binary import Binary
from jsctl.localserver.failure import explain
from jsctl.localserver.process import Guarded
from jsctl.localserver.topology import CLIENT, Login, Node, Topology
from jsctl.nats.connection import Connection
from jsctl.units import MS, SECOND

T = TypeVar("T")

START_SECONDS = 120
"""How long servers may take until they accept clients. A server first reads all of its data."""

ANSWER_SECONDS = 20
"""How long it may then take until everything that a login should reach replies."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to start, and where.

    port: the client port of the first node; None for the default, 0 for free ports everywhere.
    extra: more arguments for each nats-server. temporary: remove the contexts when the network stops.
    """

    topology: Topology
    folder: Path
    port: int | None = None
    store: Path | None = None  #: JetStream's store folder, for a configuration without one
    extra: Sequence[str] = ()
    temporary: bool = False


@dataclass(slots=True)
class Server:
    """A node that runs. info: the INFO that the server sends to clients."""

    node: Node
    pid: int
    log: Path
    url: str = ""
    info: Mapping[str, Any] = field(default_factory=dict)


class Ended(Exception):
    """A server ended with status 0 before it was ready, as after `--help`. Its text is the output."""


class Network:
    """Servers that run. Create it with `start`; they stop when its context ends, unless `leave` is called."""

    def __init__(self, plan: Plan, guarded: Guarded, ports: Mapping[str, int]) -> None:
        self.plan = plan
        self.folder = plan.folder
        self.servers: dict[str, Server] = {}
        self.contexts: dict[str, str] = {}  #: name of a login -> name of its context
        self.edited: list[str] = []  #: configurations that somebody edited, which stay
        self._guarded = guarded
        self._ports = ports
        self._left = False

    @classmethod
    @contextlib.asynccontextmanager
    async def start(cls, plan: Plan, binary: Binary, environ: Mapping[str, str]) -> AsyncIterator["Network"]:
        """Start a network, wait until it replies, and write its contexts.

        Raises JsctlError when it does not start, after it has stopped everything; Ended.
        """
        lock = folder.lock(plan.folder)
        try:
            guarded = await Guarded.open(lock, plan.folder, environ)
            folder.write_pid(lock, guarded.pid)
            for stale in plan.folder.glob("nats-server_*.ports"):  # left by a killed server
                stale.unlink()
        finally:
            os.close(lock)
        try:
            with _reserve(plan) as (ports, release):
                network = cls(plan, guarded, ports)
                network.edited = folder.write_configs(plan.folder, plan.topology, ports)
                release()
            async with asyncio.timeout(START_SECONDS):
                for node in plan.topology.nodes:
                    await network._launch(node, binary)
            for login in plan.topology.logins:
                await network._ready(login)
            network._save_contexts(ContextStore.from_environment(environ))
        except TimeoutError:
            await guarded.close()
            raise JsctlError(
                f"the servers did not start within {START_SECONDS}s", f"their logs are in {plan.folder}"
            ) from None
        except BaseException:
            await guarded.close()
            raise
        try:
            yield network
        finally:
            if not network._left:
                await guarded.close()

    async def leave(self) -> None:
        """Let the servers run when the context ends. `stop` stops them."""
        self._left = True
        await self._guarded.leave()

    async def failed(self) -> JsctlError | None:
        """Wait until a server ends. Returns why it ended; None when somebody stopped the network."""
        ended = {self._guarded.ended(name): name for name in self.servers}
        await asyncio.wait(ended, return_when=asyncio.FIRST_COMPLETED)
        if self._guarded.stopping:
            return None
        name, future = next((n, f) for f, n in ended.items() if f.done())
        server = self.servers[name]
        return explain(name, future.result(), server.log)

    async def _launch(self, node: Node, binary: Binary) -> None:
        """Start a node and wait until it accepts clients."""
        argv = [binary.path, "-c", str(node.file.absolute() if node.file else f"{node.name}.conf")]
        argv += ["--ports_file_dir", str(self.folder)]
        if node.file and self.plan.port is not None:
            argv += ["-p", str(self.plan.port or -1)]
        if self.plan.store:
            argv += ["-js", "-sd", str(self.plan.store)]
        # A configuration of the user's is run in the current folder, as by nats-server itself.
        cwd = Path.cwd() if node.file else self.folder
        log = folder.start_log(self.folder, node.name)
        pid = await self._guarded.start(node.name, [*argv, *self.plan.extra], cwd, log)
        server = self.servers[node.name] = Server(node, pid, log)
        server.url = await self._while_running(_read_url(self.folder, pid))
        server.info = await self._while_running(_read_info(server.url))

    async def _while_running(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of `work`. Raises JsctlError or Ended when a server ends before that."""
        task = asyncio.ensure_future(work)
        running = {self._guarded.ended(name): server for name, server in self.servers.items()}
        try:
            waiting: list[asyncio.Future[Any]] = [task, *running]
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            ended = next((done for done in running if done.done()), None)
            if ended is None:
                return await task
        finally:
            if not task.done():
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
        status, server = ended.result(), running[ended]
        if status == 0:
            output = server.log.read_text(encoding="utf-8", errors="replace")
            if output.startswith("flag "):  # nats-server ends with 0 for a wrong flag, too
                raise BadInput(f"nats-server: {output.splitlines()[0]}")
            raise Ended(output)
        raise explain(server.node.name, status, server.log, str(self.plan.store or self.folder))

    async def _ready(self, login: Login) -> None:
        """Wait until everything that a login should reach replies. Raises JsctlError."""
        if not login.domains and not login.servers:
            return
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._while_running(_wait_for_replies(self.servers[login.node].url, login))
        except TimeoutError:
            edited = f"{', '.join(self.edited)} was edited; " if self.edited else ""
            raise JsctlError(
                f"the servers run, but user {login.user or 'without a login'} did not reach all of them in"
                f" {ANSWER_SECONDS}s",
                f"{edited}logs are in {self.folder}",
            ) from None

    def _save_contexts(self, store: ContextStore) -> None:
        for login in self.plan.topology.logins:
            raw = {
                "description": login.description,
                "url": self.servers[login.node].url,
                "user": login.user,
                "password": login.password,
            }
            self.contexts[login.name] = contexts.save(store, login.name, raw, self.folder)
            if self.plan.temporary:
                self._guarded.forget([self.contexts[login.name]], self.folder)


async def stop(where: Path) -> None:
    """Stop the network that runs in a folder. Raises JsctlError when there is none."""
    if not folder.in_use(where):
        raise JsctlError(f"no local server runs in {where}")
    pid = folder.pid(where)
    if pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 15)
    for _ in range(200):
        if not folder.in_use(where):
            return
        await asyncio.sleep(0.05)
    raise JsctlError(f"the local server in {where} did not stop", f"its process is {pid}")


@contextlib.contextmanager
def _reserve(plan: Plan) -> Iterator[tuple[dict[str, int], Callable[[], None]]]:
    """Yield the ports of a plan by `node.purpose`, and a function that releases those that are reserved."""
    ports: dict[str, int] = {}
    held: list[socket.socket] = []
    for number, node in enumerate(plan.topology.nodes):
        for purpose, default in node.ports.items():
            port = default
            if plan.port == 0:
                holder = socket.socket()
                holder.bind(("127.0.0.1", 0))
                held.append(holder)
                port = int(holder.getsockname()[1])
            elif plan.port and number == 0 and purpose == CLIENT:
                port = plan.port
            ports[f"{node.name}.{purpose}"] = port

    def release() -> None:
        for holder in held:
            holder.close()

    try:
        yield ports, release
    finally:
        release()


async def _read_url(where: Path, pid: int) -> str:
    """Return the URL in a server's ports file, which it writes when it accepts clients."""
    while True:
        for path in where.glob(f"*_{pid}.ports"):
            try:
                urls = [str(url) for url in json.loads(path.read_text())["nats"]]
            except (OSError, ValueError, KeyError, TypeError):
                continue  # the server is writing it
            local = [url for url in urls if "//127.0.0.1:" in url]
            if urls:
                return (local or urls)[0]
        await asyncio.sleep(0.01)


async def _read_info(url: str) -> Mapping[str, Any]:
    """Return the INFO of a server; empty for one that starts with TLS."""
    host, _, port = url.rpartition("//")[2].rpartition(":")
    while True:
        try:
            reader, writer = await asyncio.open_connection(host.strip("[]"), int(port), limit=1 << 20)
        except OSError:
            await asyncio.sleep(0.01)
            continue
        try:
            async with asyncio.timeout(2):
                line = await reader.readline()
            info = parse_json(line.removeprefix(b"INFO "))
            return info if isinstance(info, dict) else {}
        except (TimeoutError, ValueError, OSError):
            return {}
        finally:
            writer.close()


async def _wait_for_replies(url: str, login: Login) -> None:
    """Wait until every domain and server of a login has replied."""
    settings = Settings(url=url, user=login.user, password=login.password, timeout=2 * SECOND)
    while True:
        try:
            connection = await Connection.open(settings)
        except (Unreachable, Denied):
            await asyncio.sleep(0.05)
            continue
        try:
            for domain in login.domains:
                await _wait_for_jetstream(Api(connection, domain=domain))
            while login.servers:
                replies = await connection.request_many(
                    "$SYS.REQ.SERVER.PING", expect=login.servers, stall=100 * MS
                )
                if len(replies) >= login.servers:
                    break
            return
        finally:
            await connection.close()


async def _wait_for_jetstream(api: Api) -> None:
    while True:
        try:
            await api.call("INFO")
            return
        except JsctlError:  # not ready; the caller limits the time
            await asyncio.sleep(0.05)
