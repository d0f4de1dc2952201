#!/bin/sh
# natscli 0.5.0: `i` is declared as an alias of two commands of one group, `nats auth account info` and
# `nats auth account imports`. Both pages of help name it, but it means imports alone, the later declaration.
# Seen: the help of `auth account i` is that of imports, and that of `auth account info` says "Command Aliases: i".
# Exits non-zero where that is different.
set -eu
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder" && rm -rf "$folder"' EXIT
GOBIN="$folder" go install github.com/nats-io/natscli/nats@v0.5.0
"$folder/nats" auth account i --help 2>&1 | head -1 | tee "$folder/alias"
grep -q "auth account imports" "$folder/alias"
"$folder/nats" auth account info --help 2>&1 | grep "Aliases: i," # which does not lead to it
