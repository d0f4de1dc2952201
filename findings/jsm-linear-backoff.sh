#!/bin/sh
# jsm.go 0.5.0, which natscli 0.5.0 uses for `consumer add --backoff linear`: a linear backoff of N steps from a
# shortest to a longest wait never reaches the longest. It grows by (longest - shortest) / N, not by / (N - 1).
# Seen: three steps from 1s to 10s are 1s, 4s, 7s; a single step is the shortest wait.
# Exits non-zero where that is different.
set -eu
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder" && rm -rf "$folder"' EXIT
cd "$folder"
cat > main.go <<'EOF'
package main

import (
	"fmt"
	"time"

	"github.com/nats-io/jsm.go"
)

func main() {
	for _, steps := range []uint{1, 3} {
		waits, err := jsm.LinearBackoffPeriods(steps, time.Second, 10*time.Second)
		fmt.Println(steps, waits, err)
	}
}
EOF
go mod init finding > init.log 2>&1
go get github.com/nats-io/jsm.go@v0.5.0 > get.log 2>&1
go run . | tee output
grep -qx '1 \[1s\] <nil>' output
grep -qx '3 \[1s 4s 7s\] <nil>' output
