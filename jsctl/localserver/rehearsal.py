"""A copy of a JetStream on this machine, to rehearse a change on: its streams, consumers and buckets, and the
newest messages."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass

from jsctl.base.files import temporary_folder
from jsctl.base.units import SECOND, pluralize
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message import browse
from jsctl.jetstream.message.publish import PublishTotals
from jsctl.jetstream.message.publish_acked import publish_with_acks
from jsctl.jetstream.message.republishing import DROPPED, drop_headers
from jsctl.jetstream.state import is_silent
from jsctl.jetstream.stream import requests as streams
from jsctl.localserver import identities
from jsctl.localserver.binary import Binary
from jsctl.localserver.compile import compile_network
from jsctl.localserver.network import Network, Plan, open_private_store
from jsctl.localserver.networks import KILL, STOP, LocalNetwork, apply_action, start_nodes
from jsctl.localserver.originals import Original
from jsctl.localserver.readiness import read_context_settings
from jsctl.localserver.spec_reader import parse_spec
from jsctl.localserver.state import load_state
from jsctl.monitor.server.roll import fetch_rolling_servers
from jsctl.nats.connection import Connection
from jsctl.nats.headers import encode_headers
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.nats.subjects import matches

RECOVERY_SECONDS = 30.0
"""How long leaders may take to be elected after servers were killed."""

_NOTICE_SECONDS = 12.0
"""After which servers take one for offline that they do not hear (nats-server: lostQuorumInterval, 10 s)."""

_BURST = 500


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """Servers that run. environ: of commands, which know no other contexts. original: what they are a copy
    of."""

    network: Network
    environ: Mapping[str, str]
    original: Original

    @property
    def contexts(self) -> Sequence[str]:
        """The contexts of the copied accounts that have streams, and those of the change."""
        return sorted({*self.original.documents, self.original.context, *self.original.named})

    @contextmanager
    def use_login(self) -> Iterator[None]:
        """Log in to the context of the change as the original's user, whose permissions it has meanwhile."""
        store, name = open_private_store(self.network.folder), self.original.context
        full = store.load(name).raw
        store.save(name, {**full, **self.original.login})
        try:
            yield
        finally:
            store.save(name, full)

    def check_servers(self, names: Sequence[str]) -> None:
        """Raise BadInput for a name of no server."""
        if unknown := sorted({*names} - self.network.servers.keys()):
            raise BadInput(
                f"the copy has no server {', '.join(unknown)}",
                f"its servers are {', '.join(self.network.servers)}; --servers makes more",
            )

    async def stop_servers(self, names: Sequence[str]) -> float | None:
        """Kill servers. Return the seconds until JetStream answers again; None if it does not."""
        local = self._load_network()
        await apply_action(local, [local.state.find_node(name) for name in names], KILL)
        seconds = await self._wait_until_answering()
        if seconds is not None:
            await asyncio.sleep(max(0, _NOTICE_SECONDS - seconds))
        return seconds

    async def roll_servers(self, binary: Binary) -> float | None:
        """Restart one server after the other with another nats-server, in the order and with the waits of
        `fetch_rolling_servers`. Return the seconds from the last start until JetStream answers; None if it
        does not. Raises JsctlError for a server that may not be restarted, or does not start."""
        local = self._load_network()
        left = {node.name for node in local.state.nodes}
        while left:
            node = local.state.find_node(await self._wait_for_next(left))
            await apply_action(local, [node], STOP)
            node.argv[0] = binary.path
            await start_nodes(local, [node], self.environ)
            left.remove(node.name)
        seconds = await self._wait_until_answering()
        with suppress(JsctlError):  # what is not current by then is found by doctor
            await self._wait_for_next(left)
        return seconds

    async def _wait_for_next(self, left: Collection[str]) -> str:
        """Return which server may be restarted next; if none is left, empty once each may. Raises JsctlError
        if none may for RECOVERY_SECONDS."""
        waits: Sequence[str] = ["they do not answer"]
        begin = time.monotonic()
        while time.monotonic() < begin + RECOVERY_SECONDS:
            with suppress(JsctlError):
                async with self.open_api(self.original.system) as api:
                    rows = await fetch_rolling_servers(api.connection)
                if free := [row.server for row in rows if row.server in left and not row.waits]:
                    return free[0]
                waits = [text for row in rows for text in row.waits]
                if not left and not waits and len(rows) == len(self.network.servers):
                    return ""
            await asyncio.sleep(0.2)
        raise JsctlError(f"{', '.join(sorted(left))} cannot be restarted: {', '.join(waits[:1])}")

    async def _wait_until_answering(self) -> float | None:
        """Return the seconds until all streams answer; None if they do not within RECOVERY_SECONDS."""
        begin = time.monotonic()
        while time.monotonic() < begin + RECOVERY_SECONDS:
            with suppress(JsctlError):
                for context in self.contexts:
                    async with self.open_api(context) as api:
                        listed = await streams.collect(api, lambda info: is_silent(info) or None)
                    if listed.missing or listed.offline or listed.items:
                        break
                else:
                    return time.monotonic() - begin
            await asyncio.sleep(0.2)
        return None

    def _load_network(self) -> LocalNetwork:
        state = load_state(self.network.folder)
        if state is None:
            raise JsctlError(f"{self.network.folder} no longer exists")
        return LocalNetwork(self.network.folder, state)

    @asynccontextmanager
    async def open_api(self, context: str) -> AsyncIterator[Api]:
        """Open the JetStream of a context of the copy. Raises JsctlError."""
        raw = open_private_store(self.network.folder).load(context).raw
        settings = read_context_settings(raw)._replace(timeout=10 * SECOND)
        connection = await Connection.open(settings, on_event=lambda _: None)
        try:
            yield Api(connection)
        finally:
            await connection.close()


@asynccontextmanager
async def open_rehearsal(
    binary: Binary, environ: Mapping[str, str], original: Original
) -> AsyncIterator[Rehearsal]:
    """Start the servers of a copy, and remove them in the end; the folder that a killed process left is
    removed by the next one. Raises JsctlError."""
    with temporary_folder("jsctl-rehearsal-") as path:
        spec = parse_spec(json.dumps(original.network), "rehearsal.json")
        plan = Plan(compile_network(spec, path), path, 0, temporary=True, private=True)
        async with Network.start(plan, binary, environ) as network:
            variables = {
                name: value for name, value in environ.items() if not name.startswith(("NATS_", "JSCTL_"))
            }
            variables |= identities.list_variables(network.folder)
            yield Rehearsal(network, variables, original)


async def copy_messages(origin: Api, copy: Api, stream: Json, count: int) -> str:
    """Publish the newest messages of a stream to its copy. Return why the copy lacks some of them; empty if
    it does not. Raises what reading raises.

    Messages on subjects that the stream does not take itself are left to its sources: published, they would
    be those of another stream.
    """
    config, state = stream["config"], stream["state"]
    skipped = 0
    last = int(state["last_seq"])
    newest = browse.read(
        origin,
        str(config["name"]),
        start=max(int(state["first_seq"]), last - count + 1),
        last=last,
        bulk=bool(config.get("allow_direct")),
    )

    async def list_bursts() -> AsyncIterator[Sequence[OutgoingMessage]]:
        nonlocal skipped
        burst: list[OutgoingMessage] = []
        async for message in newest:
            if any(matches(subject, message.subject) for subject in config.get("subjects") or ()):
                burst.append(_publish_again(message))
            else:
                skipped += 1
            if len(burst) >= _BURST:
                yield burst
                burst = []
        if burst:
            yield burst

    try:
        await publish_with_acks(copy.connection, list_bursts(), PublishTotals(), lambda *_: None)
    except JsctlError as error:
        return error.message
    finally:
        await newest.aclose()
    if not skipped or config.get("sources"):
        return ""
    return f"{pluralize(skipped, 'message')} on subjects that it does not take"


def _publish_again(message: Message) -> OutgoingMessage:
    headers = drop_headers(message.headers, DROPPED)
    block = encode_headers(headers) if headers else b""
    return OutgoingMessage(message.subject, message.data, header_block=block)
