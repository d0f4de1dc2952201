"""Planning for a stream of 10^10 messages, which a server only says that it has."""

import asyncio
import json
import threading
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import nats
import pytest

from jsctl.contexts.settings import Settings
from jsctl.spark.export.layout import PLAIN
from jsctl.spark.export.message_reads import MessageReads
from jsctl.spark.export.stream_plan import Selection, StreamSource, plan_read
from jsctl.spark.source.planning import with_connection
from tests.support import js

MESSAGES, SIZE = 10**10, 2 * 10**12
PREFIX = "HUGE"


@contextmanager
def huge(url: str) -> Iterator[None]:
    """Answer requests with the prefix HUGE as the server does, but with the numbers of a huge stream."""
    ready, stop = threading.Event(), threading.Event()

    async def serve() -> None:
        connection = await nats.connect(url)

        async def answer(message: Any) -> None:
            subject = message.subject.replace(f"{PREFIX}.", "$JS.API.", 1)
            response = await connection.request(subject, message.data, headers=message.headers)
            if ".STREAM.INFO." in subject:
                info = json.loads(response.data)
                info["state"] |= {"messages": MESSAGES, "bytes": SIZE, "first_seq": 1, "last_seq": MESSAGES}
                await message.respond(json.dumps(info).encode())
                return
            await connection.publish(message.reply, response.data, headers=response.headers)

        await connection.subscribe(f"{PREFIX}.>", cb=answer)
        await connection.flush()
        ready.set()
        await asyncio.to_thread(stop.wait)
        await connection.close()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(20), "nobody answers"
        yield
    finally:
        stop.set()
        thread.join()


@pytest.mark.long
@pytest.mark.spark
def test_ten_thousand_million_messages_are_planned_in_seconds(url: str) -> None:
    js.stream(url, "S", "S.>", allow_direct=True)
    js.publish(url, "S.a", b"x")
    source = StreamSource(Settings(url=url, js_api_prefix=PREFIX), "S", "S")
    reads = MessageReads(Selection(), PLAIN)
    options = reads.build_options(source)
    with huge(url):
        tracemalloc.start()
        begin = time.process_time()
        planned = with_connection(options, lambda link: plan_read(link, options, Selection(), None))
        parts = reads.build_reader(source, planned).partitions()
        took = time.process_time() - begin
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert (planned.start, planned.end, planned.messages) == (1, MESSAGES + 1, MESSAGES)
    ranges = [(part.job.start, part.job.end) for part in parts]
    assert ranges[0][0] == 1 and ranges[-1][1] == MESSAGES + 1
    assert all(first[1] == second[0] for first, second in pairwise(ranges))
    sizes = [end - start for start, end in ranges]
    assert len(ranges) == 10_000 and max(sizes) - min(sizes) <= 1
    assert took < 5 and peak < 64 << 20, (took, peak)
