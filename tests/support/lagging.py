"""A stand-in for a replica of a stream that lags, or that misses messages."""

import asyncio
import json
import random
import threading
from collections.abc import Callable
from typing import Any

import nats


def with_client(url: str, work: Callable[[Any], Any]) -> Any:
    """Run `await work(client)` with nats-py."""

    async def run() -> Any:
        client = await nats.connect(url)
        try:
            return await work(client)
        finally:
            await client.close()

    return asyncio.run(run())


class Lagging:
    """A JetStream API on the prefix LAG that passes requests to the real one, except half of the direct gets.

    Those it answers like a replica that lags, with one message or none, as a real replica cannot be made to
    lag at will. With `hole` it answers like one that lacks the first message. Last messages of subjects it
    knows up to sequence `STALE` only.
    """

    STALE = 3

    def __init__(self, url: str, hole: bool = False) -> None:
        self.url = url
        self.hole = hole
        self.short = 0
        self._random = random.Random(1)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: with_client(url, self._serve))

    def __enter__(self) -> "Lagging":
        self._thread.start()
        assert self._ready.wait(20)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def _serve(self, client: Any) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()

        async def answer(message: Any) -> None:
            real = message.subject.replace("LAG", "$JS.API", 1)
            if ".DIRECT.GET." not in real or self._random.random() < 0.5:
                await client.publish(real, message.data, reply=message.reply)
                return
            self.short += 1
            body = json.loads(message.data)
            if "multi_last" in body:
                stale = {**body, "up_to_seq": self.STALE}
                await client.publish(real, json.dumps(stale).encode(), reply=message.reply)
                return
            if self.hole:
                other = {**body, "seq": body["seq"] + 1, "batch": max(1, body["batch"] - 1)}
                await client.publish(real, json.dumps(other).encode(), reply=message.reply)
                return
            end = {"Status": "404", "Description": "Message Not Found"}
            if self._random.random() < 0.5:
                first = {name: value for name, value in body.items() if name in ("seq", "next_by_subj")}
                one = await client.request("$JS.API.DIRECT.GET.S", json.dumps(first).encode())
                if "Status" not in one.headers:
                    headers = {**one.headers, "Nats-Num-Pending": "0", "Nats-Last-Sequence": "0"}
                    await client.publish(message.reply, one.data, headers=headers)
                    end = {"Status": "204", "Description": "EOB"}
            line = f"NATS/1.0 {end['Status']} {end['Description']}\r\nNats-Num-Pending: 0\r\n\r\n".encode()
            head = f"HPUB {message.reply} {len(line)} {len(line)}\r\n".encode()
            await client._send_command(head + line + b"\r\n")
            await client._flush_pending()

        await client.subscribe("LAG.>", cb=answer)
        await client.flush()
        self._ready.set()
        await self._stop.wait()
