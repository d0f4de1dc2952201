"""Clients that read from streams without a consumer, and that use buckets."""

import asyncio
import io
import json

from jsctl.base.command_lines import build_line
from jsctl.base.json_text import parse_json
from jsctl.base.units import SECOND
from jsctl.bench.client import Client, Exchange, parse_refusal
from jsctl.bench.meter import now
from jsctl.errors import BadInput, JsctlError, NotFound, RequestTimeout
from jsctl.jetstream.kv.bucket import Bucket, open_bucket
from jsctl.jetstream.message.publish import parse_ack
from jsctl.jetstream.object import download, requests, upload
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.codec import encode_publish
from jsctl.nats.direct_get import NO_MESSAGE, BatchDecoder, parse_direct_reply
from jsctl.nats.headers import VERSION
from jsctl.nats.message import Message, OutgoingMessage


async def get_sync(client: Client) -> None:
    """Get the messages of a stream one after the other, and begin again after the last."""
    plan, api, meter, pace = client.plan, client.api, client.meter, client.pace
    info = await streams.fetch_info(api, plan.name)
    first, last = int(info["state"]["first_seq"]), int(info["state"]["last_seq"])
    if not info["state"]["messages"]:
        raise _build_empty_error(plan.name)
    direct = bool(info["config"].get("allow_direct"))
    subject = f"{api.prefix}.{'DIRECT.GET' if direct else 'STREAM.MSG.GET'}.{plan.name}"
    async with Exchange(client) as exchange:
        sequence = first
        await client.start()
        while client.wants_more:
            began = now() if pace.is_free else await pace.wait_until_due(meter.done)
            body = b'{"seq":%d}' % sequence
            message = await exchange.ask(encode_publish(subject, body, exchange.reply), subject)
            sequence = sequence + 1 if sequence < last else first
            if _is_deleted(message):
                continue
            if not direct and (error := parse_refusal(message, subject)):
                raise error
            meter.add_operation(
                began, 1, _compute_direct_size(message) if direct else _compute_stored_size(message)
            )


def _is_deleted(message: Message) -> bool:
    if message.header_block[:12] == b"NATS/1.0 404":
        return True
    return not message.header_block and b'"err_code":10037' in message.data


def _compute_direct_size(message: Message) -> int:
    """Return the bytes of payload and headers as stored, without the headers that the server adds."""
    reply = parse_direct_reply(message.header_block)
    stored = len(reply.headers) + 4 if reply and len(reply.headers) > len(VERSION) else 0
    return len(message.data) + stored


def _compute_stored_size(message: Message) -> int:
    stored = parse_json(message.data).get("message") or {}
    return sum(len(stored.get(key, "")) * 3 // 4 for key in ("data", "hdrs"))


def _build_empty_error(stream: str) -> NotFound:
    return NotFound(f"stream {stream} has no message", f"{build_line('bench js pub async')} stores some")


async def get_batches(client: Client) -> None:
    """Get the messages of a stream in batches (ADR-31), and begin again after the last."""
    plan, api = client.plan, client.api
    info = await streams.fetch_info(api, plan.name)
    if not info["config"].get("allow_direct"):
        raise BadInput(
            f"stream {plan.name} does not allow direct gets",
            f"{build_line('stream edit', plan.name, flags=['--allow-direct'])} allows them",
        )
    if not info["state"]["messages"]:
        raise _build_empty_error(plan.name)
    await _Batches(client, int(info["state"]["first_seq"])).run()


class _Batches:
    """Batch requests, one at a time."""

    def __init__(self, client: Client, first: int) -> None:
        self._client = client
        self._first = self._sequence = first
        self._inbox = client.connection.new_inbox()
        self._decoder = BatchDecoder(client.plan.name)
        self._done = asyncio.Event()

    def _receive(self, reply: Message) -> None:
        self._decoder.decode(reply)
        if self._decoder.is_ended:
            self._done.set()

    async def run(self) -> None:
        """Read all messages. Raises NotFound for a stream without matching messages."""
        client, meter, pace = self._client, self._client.meter, self._client.pace
        async with client.connection.receive(self._inbox, self._receive):
            await client.connection.flush()
            await client.start()
            was_empty = False
            while client.wants_more:
                began = now() if pace.is_free else await pace.wait_until_due(meter.done)
                await self._read(client.limit_burst(client.plan.batch, meter.done))
                if messages := self._decoder.messages:
                    was_empty = False
                    self._sequence = self._decoder.last + 1
                    meter.add_operation(began, len(messages), sum(message.size for message in messages))
                elif was_empty:
                    raise NotFound(f"stream {client.plan.name} has no message on {client.plan.filters[0]}")
                else:
                    was_empty, self._sequence = True, self._first

    async def _read(self, count: int) -> None:
        client = self._client
        self._decoder = BatchDecoder(client.plan.name)
        self._done.clear()
        body = json.dumps({"seq": self._sequence, "next_by_subj": client.plan.filters[0], "batch": count})
        subject = f"{client.api.prefix}.DIRECT.GET.{client.plan.name}"
        await client.connection.send(encode_publish(subject, body.encode(), self._inbox))
        try:
            async with asyncio.timeout(client.timeout / SECOND):
                await self._done.wait()
        except TimeoutError:
            raise RequestTimeout(f"no answer on {subject} in {client.timeout / SECOND:g}s") from None
        status = self._decoder.status
        if self._decoder.is_broken or self._decoder.is_single:
            raise JsctlError(f"stream {client.plan.name} does not answer whole batches")
        if status and status[0] > NO_MESSAGE:
            raise JsctlError(f"stream {client.plan.name} refuses the batch: {status[1]} ({status[0]})")


async def put_values(client: Client) -> None:
    """Store values in a bucket, each after the acknowledgement of the last."""
    plan, meter, pace = client.plan, client.meter, client.pace
    bucket = await open_bucket(client.api, plan.name)
    client.connection.check_size(OutgoingMessage("", plan.payload))
    async with Exchange(client) as exchange:
        await client.start()
        while client.wants_more:
            subject = bucket.target + _choose_key(client)
            began = now() if pace.is_free else await pace.wait_until_due(meter.done)
            message = await exchange.ask(encode_publish(subject, plan.payload, exchange.reply), subject)
            if not message.data.startswith(b'{"stream":'):
                parse_ack(subject, message)
            meter.add_operation(began, 1, len(plan.payload))


async def get_values(client: Client) -> None:
    """Get values of a bucket, one after the other."""
    meter, pace = client.meter, client.pace
    bucket = await open_bucket(client.api, client.plan.name)
    async with Exchange(client) as exchange:
        await client.start()
        while client.wants_more:
            key = _choose_key(client)
            subject, body = _get_request(bucket, key)
            began = now() if pace.is_free else await pace.wait_until_due(meter.done)
            message = await exchange.ask(encode_publish(subject, body, exchange.reply), subject)
            if _is_deleted(message):
                raise NotFound(
                    f"bucket {bucket.name} has no key {key}",
                    f"{build_line('bench kv put', flags=['--msgs', 'N'])} stores N keys",
                )
            if not bucket.allows_direct and (error := parse_refusal(message, subject)):
                raise error
            size = len(message.data) if bucket.allows_direct else _compute_stored_size(message)
            meter.add_operation(began, 1, size)


def _get_request(bucket: Bucket, key: str) -> tuple[str, bytes]:
    subject = bucket.prefix + key
    if bucket.allows_direct:
        return f"{bucket.api.prefix}.DIRECT.GET.{bucket.stream}.{subject}", b""
    body = json.dumps({"last_by_subj": subject}).encode()
    return f"{bucket.api.prefix}.STREAM.MSG.GET.{bucket.stream}", body


def _choose_key(client: Client) -> str:
    if client.plan.keys:
        return str(client.choose_random(client.plan.keys))
    return str(client.offset + client.meter.done)


async def put_objects(client: Client) -> None:
    """Store objects, one after the other."""
    plan, meter, pace = client.plan, client.meter, client.pace
    await client.start()
    while client.wants_more:
        name = f"object-{_choose_key(client)}"
        began = now() if pace.is_free else await pace.wait_until_due(meter.done)
        source = upload.Source(io.BytesIO(plan.payload))
        await upload.put(client.api, plan.name, name, source, upload.PutOptions(), upload.PutObserver())
        meter.add_operation(began, 1, len(plan.payload))


async def get_objects(client: Client) -> None:
    """Get the objects of a bucket one after the other, and begin again after the last."""
    plan, meter, pace = client.plan, client.meter, client.pace
    infos = [info for info in await requests.list_all(client.api, plan.name) if not info.damage]
    if not infos:
        raise NotFound(f"bucket {plan.name} has no object", f"{build_line('bench object put')} stores some")
    await client.start()
    while client.wants_more:
        began = now() if pace.is_free else await pace.wait_until_due(meter.done)
        at = client.choose_random(len(infos)) if plan.random else meter.done % len(infos)
        await download.get(client.api, infos[at], lambda block: None)
        meter.add_operation(began, 1, infos[at].size)
