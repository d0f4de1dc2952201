#!/bin/sh
# orbit.go pcgroups 0.2.2, nats-server 2.15.1: an elastic consumer group with two partitioning filters takes a mapping of
# members to partitions, but its mapped members never begin. A balanced member's consumer gets a filter for each of the
# group's filters, "0.e.a.*" and "0.e.b.*"; a mapped member's gets "0.>" once for each of them, and servers refuse
# consumers whose filters overlap (10138). ElasticConsume returns no error; the refusal is only logged, and tried again.
# Seen: "mapped: joined, 0 of 4 messages", then with the same group balanced "balanced: joined, 4 of 4 messages".
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
	"sync/atomic"
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
	_, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"e.>"}})
	check(err)
	filters := []pcgroups.PartitioningFilter{
		{Filter: "e.a.*", PartitioningWildcards: []int{1}},
		{Filter: "e.b.*", PartitioningWildcards: []int{1}},
	}
	_, err = pcgroups.CreateElastic(ctx, js, "S", "G", 1, filters, 0, 0)
	check(err)
	for _, subject := range []string{"e.a.1", "e.a.2", "e.b.1", "e.b.2"} {
		_, err = js.Publish(ctx, subject, nil)
		check(err)
	}
	read := func(label string) {
		var count atomic.Int64
		handle := func(message jetstream.Msg) {
			check(message.Ack())
			count.Add(1)
		}
		config := jetstream.ConsumerConfig{AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Second}
		member, err := pcgroups.ElasticConsume(ctx, js, "S", "G", "m1", handle, config)
		check(err)
		time.Sleep(5 * time.Second)
		member.Stop()
		fmt.Printf("%s: joined, %d of 4 messages\n", label, count.Load())
	}
	check(pcgroups.SetMemberMappings(ctx, js, "S", "G", []pcgroups.MemberMapping{{Member: "m1", Partitions: []int{0}}}))
	read("mapped")
	check(pcgroups.DeleteMemberMappings(ctx, js, "S", "G"))
	_, err = pcgroups.AddMembers(ctx, js, "S", "G", []string{"m1"})
	check(err)
	read("balanced")
}
EOF
go mod init finding > init.log 2>&1
go get github.com/synadia-io/orbit.go/pcgroups@v0.2.2 github.com/nats-io/nats-server/v2@v2.15.1 > get.log 2>&1
go run . 2> log | tee output
grep -q 'err_code=10138' log
grep -qx 'mapped: joined, 0 of 4 messages' output
grep -qx 'balanced: joined, 4 of 4 messages' output
