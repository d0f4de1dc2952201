#!/bin/sh
# orbit.go kvcodec 0.1.2: a chain of key codecs in which path comes after base64 encodes keys that it cannot decode. The
# path codec's decoding turns the dots between encoded tokens into slashes, which are no base64. A bucket with such a chain
# stores and gets values by key, while Keys fails, ListKeys leaves the keys out, and a watch shows them encoded.
# Seen: "a.b" becomes "YQ.Yg", which does not decode; with path before base64, "a/b" becomes "YQ.Yg" and "a/b" again.
# Exits non-zero where that is different.
set -eu
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder" && rm -rf "$folder"' EXIT
cd "$folder"
cat > main.go <<'EOF'
package main

import (
	"fmt"

	"github.com/synadia-io/orbit.go/kvcodec"
)

func try(label, key string, codecs ...kvcodec.KeyCodec) {
	chain, err := kvcodec.NewKeyChainCodec(codecs...)
	if err != nil {
		panic(err)
	}
	stored, err := chain.EncodeKey(key)
	if err != nil {
		panic(err)
	}
	decoded, err := chain.DecodeKey(stored)
	fmt.Printf("%s: %s -> %s -> %q, %v\n", label, key, stored, decoded, err != nil)
}

func main() {
	try("base64, path", "a.b", kvcodec.Base64Codec(), kvcodec.PathCodec())
	try("path, base64", "a/b", kvcodec.PathCodec(), kvcodec.Base64Codec())
}
EOF
go mod init finding > init.log 2>&1
go get github.com/synadia-io/orbit.go/kvcodec@v0.1.2 > get.log 2>&1
go run . | tee output
grep -qx 'base64, path: a.b -> YQ.Yg -> "", true' output
grep -qx 'path, base64: a/b -> YQ.Yg -> "a/b", false' output
