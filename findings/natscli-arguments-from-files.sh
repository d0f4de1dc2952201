#!/bin/sh
# natscli 0.5.0 (fisk 0.9.1): a word of the command line that begins with @ names a file, and is replaced by the
# file's lines, one argument each, without those that are empty or begin with #. So a value such as @alice cannot be
# given in a word of its own, and a payload @FILE with two lines is two arguments; no help page says so.
# Seen: `--description @alice` lacks its value, `--description=@alice` and a word after `--` are the text itself.
# Exits non-zero where that is different.
set -eu
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder" && rm -rf "$folder"' EXIT
export XDG_CONFIG_HOME="$folder/config"
GOBIN="$folder" go install github.com/nats-io/natscli/nats@v0.5.0
cd "$folder"
printf '# which context\n\nfirst\nsecond\n' > words
./nats context add one --description @alice 2>&1 | grep "expected argument for flag '--description'"
./nats context add @words 2>&1 | grep "unexpected argument second"
./nats context add @alice 2>&1 | grep 'failed to open arguments file "alice"'
./nats context add two --description=@alice | grep "Description: @alice"
if ./nats context add --help 2>&1 | grep @; then exit 1; fi
