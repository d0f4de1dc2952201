#!/bin/sh
# orbit.go pcgroups 0.2.2, nats-server 2.15.1: the names of a static consumer group's consumers are GROUP-MEMBER, and
# DeleteStatic removes every consumer of the stream whose name begins with "GROUP-". So the removal of group `a` also
# removes the consumers of group `a-b`, with the state of what its members had acknowledged, though `a-b` stays listed.
# Seen: the consumers a-m1 and a-b-m1 are there before, none afterwards; the listed groups are [a-b].
# Exits non-zero where that is different.
set -eu
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder" && rm -rf "$folder"' EXIT
cd "$folder"
cat > main.go <<'EOF'
package main

import (
	"context"
	"fmt"
	"sort"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/synadia-io/orbit.go/pcgroups"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func names(ctx context.Context, stream jetstream.Stream) []string {
	found := []string{}
	for name := range stream.ConsumerNames(ctx).Name() {
		found = append(found, name)
	}
	sort.Strings(found)
	return found
}

func main() {
	ctx := context.Background()
	ns, err := server.NewServer(&server.Options{Port: -1, JetStream: true, StoreDir: "store", NoLog: true, NoSigs: true})
	check(err)
	ns.Start()
	defer ns.Shutdown()
	ns.ReadyForConnections(10 * time.Second)
	nc, err := nats.Connect(ns.ClientURL())
	check(err)
	js, err := jetstream.New(nc)
	check(err)
	stream, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"0.>"}})
	check(err)
	handle := func(message jetstream.Msg) { check(message.Ack()) }
	for _, group := range []string{"a", "a-b"} {
		_, err = pcgroups.CreateStatic(ctx, js, "S", group, 1, nil, []string{"m1"}, nil)
		check(err)
		config := jetstream.ConsumerConfig{AckPolicy: jetstream.AckExplicitPolicy}
		member, err := pcgroups.StaticConsume(ctx, js, "S", group, "m1", handle, config)
		check(err)
		member.Stop()
		<-member.Done()
	}
	fmt.Println("before:", names(ctx, stream))
	check(pcgroups.DeleteStatic(ctx, js, "S", "a"))
	groups, err := pcgroups.ListStaticConsumerGroups(ctx, js, "S")
	check(err)
	fmt.Println("after:", names(ctx, stream), "groups:", groups)
}
EOF
go mod init finding > init.log 2>&1
go get github.com/synadia-io/orbit.go/pcgroups@v0.2.2 github.com/nats-io/nats-server/v2@v2.15.1 > get.log 2>&1
go run . | tee output
grep -qx 'before: \[a-b-m1 a-m1\]' output
grep -qx 'after: \[\] groups: \[a-b\]' output
