"""Networks of real nats-servers for tests of your own: URLs, contexts, and faults, without Docker.

    from jsctl.testing import Network

    with Network("hub-leaf") as net:
        program.connect(net.url("hub"))
        net.kill("leaf")
        ...
        net.heal()

With pytest, the fixtures `jsctl_network` and `jsctl_network_factory` do the same (see
`jsctl.pytest_plugin`). Servers end with the `with` block, or when the process that started them is killed.
"""

import asyncio
import os
import shlex
import subprocess
import threading
from collections.abc import Coroutine, Iterable, Mapping
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any, TypeVar

from jsctl.base.command_lines import format_arguments
from jsctl.base.files import temporary_folder
from jsctl.base.loops import wait_for_thread
from jsctl.base.units import MS, SECOND
from jsctl.base.user_folders import expand_home
from jsctl.contexts.environment import forget_secrets
from jsctl.errors import JsctlError, NotFound
from jsctl.localserver import binary, identities, links, networks, processes
from jsctl.localserver import folder as folders
from jsctl.localserver.compile import compile_network
from jsctl.localserver.network import Network as Servers
from jsctl.localserver.network import Plan, open_private_store
from jsctl.localserver.networks import LocalNetwork
from jsctl.localserver.process import build_module_command
from jsctl.localserver.ready import READY_SECONDS, find_missing, wait_until_ready
from jsctl.localserver.short_forms import load_named
from jsctl.localserver.spec_reader import BUILTIN
from jsctl.localserver.state import NodeState, load_state
from jsctl.registry import find_noun

__all__ = ["JsctlError", "Network"]

T = TypeVar("T")

_OWN_VARIABLES = ("NATS_", "JSCTL_NETWORK")
_LOG_LINES = 15


class Network:
    """A running network of servers on free ports of this machine.

    All methods may also be called from asynchronous tests: they block, but do not use the caller's event
    loop.

    source: a network that comes with jsctl (`single`, `cluster`, `hub-leaf`, `hub-spokes`, `supercluster`),
    or the path of a YAML file as `jsctl server network topology` prints it. folder: for data, configurations
    and logs; by default a temporary one, removed at the end.
    """

    def __init__(self, source: str | Path, folder: Path | None = None) -> None:
        self.source = str(source)
        self._user_folder = folder
        self._folder: Path | None = None
        self._temporary = ExitStack()
        self._stack: AsyncExitStack | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> "Network":
        self.start_network()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def start_network(self) -> None:
        """Start all servers, and wait until the network is ready. Raises JsctlError after stopping them
        all.
        """
        if self._loop is not None:
            raise JsctlError(f"network {self.source} is already running")
        folder = self._user_folder or self._temporary.enter_context(temporary_folder("jsctl-network-"))
        self._folder = folder = folder.absolute()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="jsctl network", daemon=True)
        self._thread.start()
        try:
            self._run(self._open(folder))
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """Stop all servers, and remove the network's own temporary folder. It may be called again."""
        if self._loop is None or self._thread is None:
            return
        try:
            self._run(self._close())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._loop = self._thread = None
            self._temporary.close()
            if self._user_folder is None:
                self._folder = None

    # -- servers and contexts ---------------------------------------------------------------------

    @property
    def folder(self) -> Path:
        """The folder with the configuration, the log and the data of each server."""
        if self._folder is None:
            raise JsctlError(f"network {self.source} is not running", "use it in a with block")
        return self._folder

    @property
    def servers(self) -> dict[str, str]:
        """The client URL of each server, without a login, by the server's name."""
        return {node.name: node.url for node in self._load_network().state.nodes}

    @property
    def contexts(self) -> dict[str, dict[str, Any]]:
        """The contexts of the network by name, as their files have them: hub, leaf, system for `hub-leaf`."""
        store = open_private_store(self.folder)
        return {name: dict(store.load(name).raw) for name in store.names()}

    @property
    def links(self) -> list[str]:
        """The names of the links that can be disturbed."""
        return list(self._load_network().state.links)

    def url(self, context: str) -> str:
        """Return the URL of a context, with user and password if it has them, joined by commas.

        Raises JsctlError.
        """
        raw = self._find_context(context)
        if not raw.get("user"):
            return str(raw["url"])
        login = f"//{raw['user']}:{raw['password']}@"
        return ",".join(url.replace("//", login, 1) for url in str(raw["url"]).split(","))

    def creds(self, context: str) -> Path | None:
        """Return the credentials file of a context, in a network with an operator; else None."""
        path = self._find_context(context).get("creds")
        return Path(path) if path else None

    @property
    def environ(self) -> dict[str, str]:
        """The environment variables for programs that should see only these contexts: `jsctl`, `nats`, your
        own.
        """
        environ = {name: value for name, value in os.environ.items() if not name.startswith(_OWN_VARIABLES)}
        forget_secrets(environ)
        environ.update(identities.list_variables(self.folder))
        environ[networks.VARIABLE] = str(self.folder)
        return environ

    def jsctl(self, line: str | Iterable[str], *, context: str = "", stdin: str = "") -> str:
        """Run a command line of jsctl, such as `stream ls`, and return its output.

        context: by default the first of the network. Raises JsctlError with what the command said.
        """
        args = shlex.split(line) if isinstance(line, str) else list(line)
        if context:
            self._find_context(context)
            args += ["--context", context]
        completed = subprocess.run(
            build_module_command("jsctl", *args),
            input=stdin,
            capture_output=True,
            text=True,
            env=self.environ,
            check=False,
        )
        if completed.returncode:
            said = completed.stderr.strip() or completed.stdout.strip()  # such as what each server answered
            reason = said or f"exit status {completed.returncode}"
            raise JsctlError(f"{format_arguments(args)}: {reason}")
        return completed.stdout

    def log(self, server: str) -> str:
        """Return the log of a server since its last start."""
        self._load_network().state.find_node(server)
        return (self.folder / f"{server}.log").read_text(encoding="utf-8", errors="replace")

    def last_lines(self) -> dict[str, str]:
        """Return the last lines of each server's log, for a report on a test that failed."""
        logs = {name: self.folder / f"{name}.log" for name in self.servers}
        return {name: "\n".join(folders.read_last_lines(path, _LOG_LINES)) for name, path in logs.items()}

    # -- faults -----------------------------------------------------------------------------------

    def kill(self, *names: str) -> None:
        """Kill servers (kill -9). names: of servers or clusters, here and below; all without names."""
        self._run(networks.apply_action(*self._select(names), networks.KILL))

    def stop(self, *names: str) -> None:
        """Shut servers down gracefully, and wait until they have ended."""
        self._run(networks.apply_action(*self._select(names), networks.STOP))

    def start(self, *names: str) -> None:
        """Start stopped servers, and wait until they accept clients. `wait` also waits for leaders."""
        self._run(networks.start_nodes(*self._select(names), os.environ))

    def restart(self, *names: str) -> None:
        """Stop servers, and start them with their present configurations."""
        self.stop(*names)
        self.start(*names)

    def pause(self, *names: str) -> None:
        """Suspend servers (SIGSTOP), like a machine that hangs: connections stay open, and nothing
        answers.
        """
        self._run(networks.apply_action(*self._select(names), networks.PAUSE))

    def resume(self, *names: str) -> None:
        """Let paused servers continue."""
        self._run(networks.apply_action(*self._select(names), networks.RESUME))

    def link_down(self, *links: str) -> None:
        """End the connections of links, and refuse new ones. links: all without names, here and below."""
        self._disturb(links, down=True)

    def link_drop(self, *links: str) -> None:
        """Drop everything on links whose connections stay open."""
        self._disturb(links, drop=True)

    def link_delay(self, *links: str, seconds: float) -> None:
        """Delay everything on links, in each direction."""
        self._disturb(links, delay_ms=int(seconds * SECOND) // MS)

    def link_limit(self, *links: str, bytes_per_second: int) -> None:
        """Limit the throughput of links, in each direction."""
        self._disturb(links, limit=bytes_per_second)

    def isolate(self, *clusters: str) -> None:
        """End all connections of clusters with others, in both directions, and refuse new ones."""
        self._run(links.isolate(self._load_network(), clusters))

    def link_up(self, *links: str) -> None:
        """Undo the faults of links."""
        self._disturb(links)

    def heal(self, seconds: float = READY_SECONDS) -> None:
        """Undo every fault: links as they were, all servers running, and the network ready as after `wait`.

        After a link was down for more than 10 s this may take a minute: nats-server asks for the origin of a
        mirror again after 10, 20, 30, ... 120 s, and waits up to 30 s for each answer.
        """
        self.link_up()
        self.start()
        self.wait(seconds)

    def wait(self, seconds: float = READY_SECONDS) -> None:
        """Wait until every server that should run is healthy, links are up, messages pass between all
        servers, and every mirror, source and replica has what its origin had when this began. Raises
        JsctlError with what is missing.
        """
        self._run(wait_until_ready(self._load_network(), lambda _: None, seconds))

    def missing(self) -> list[str]:
        """Return what `wait` would wait for, one sentence each; an empty list when the network is ready.

        Servers that were stopped, killed or paused with this object are not waited for. Where only time can
        tell, such as whether a mirror still hears from its origin, this takes up to 5 s.
        """
        return self._run(find_missing(self._load_network()))

    # -- private ----------------------------------------------------------------------------------

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop is None:
            work.close()
            raise JsctlError(f"network {self.source} is not running", "use it in a with block")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return wait_for_thread(future)
        except BaseException:  # ctrl-C: the work in the loop must end, too
            future.cancel()
            raise

    async def _open(self, folder: Path) -> None:
        self._stack = AsyncExitStack()
        spec = load_named(self.source)
        source = self.source if self.source in BUILTIN else str(expand_home(self.source).absolute())
        plan = Plan(compile_network(spec, folder), folder, port=0, private=True, source=source)
        await self._stack.enter_async_context(
            Servers.start(
                plan, binary.find(os.environ), os.environ
            )  # its guard outlives a kill of this process
        )
        await wait_until_ready(self._load_network(), lambda _: None)

    async def _close(self) -> None:
        if self._stack is not None:
            stack, self._stack = self._stack, None
            await stack.aclose()
            await processes.stop(list(processes.find_all(self.folder).values()))

    def _load_network(self) -> LocalNetwork:
        """Return the network as its files describe it now: commands may have changed it."""
        state = load_state(self.folder)
        if state is None:
            raise JsctlError(f"there is no network in {self.folder}")
        return LocalNetwork(self.folder, state)

    def _select(self, names: tuple[str, ...]) -> tuple[LocalNetwork, list[NodeState]]:
        local = self._load_network()
        return local, local.state.select(names)

    def _find_context(self, name: str) -> Mapping[str, Any]:
        contexts = self.contexts
        if name not in contexts:
            raise NotFound(*find_noun("context").missing(name, existing=list(contexts)))
        return contexts[name]

    def _disturb(self, names: tuple[str, ...], **settings: Any) -> None:
        local = self._load_network()
        self._run(links.disturb(local, names or list(local.state.links), **settings))
