"""The verbs of `jsctl bench`, in the order in which help shows them."""

from jsctl.registry.model import Entry, changes, group, reads

VERBS: dict[str, Entry] = {
    "pub": changes("Publish to a subject without acks"),
    "sub": changes("Subscribe to a subject"),
    "service": group("Send requests and answer them", target="bench.service:service"),
    "service request": changes(
        "Send requests, each after the reply to the last", target="bench.service:request"
    ),
    "service serve": changes("Answer requests until ctrl-C", target="bench.service:serve"),
    "js": group("Publish to streams and read them", target="bench.js.js:js"),
    "js pub": group("Publish to a stream"),
    "js pub sync": changes("Publish each message after the ack of the last", target="bench.js.pub:sync"),
    "js pub async": changes("Publish ahead of the acks", target="bench.js.pub:async_"),
    "js pub batch": changes("Publish atomic batches", "atomic", target="bench.js.pub:batch"),
    "js pub fast": changes("Publish by fast ingest", target="bench.js.pub:fast"),
    "js ordered": changes("Read a stream through ordered consumers", target="bench.js.consume:ordered"),
    "js consume": changes("Read a stream through a durable consumer"),
    "js fetch": changes(
        "Read a stream through a durable consumer in batches", target="bench.js.consume:fetch"
    ),
    "js get": group("Read a stream without a consumer"),
    "js get sync": reads("Get messages one at a time", target="bench.js.get:sync"),
    "js get batch": reads("Get messages in batches", target="bench.js.get:batch"),
    "kv": group("Put and get values of a key-value bucket", target="bench.kv:kv"),
    "kv put": changes("Put values", target="bench.kv:put"),
    "kv get": reads("Get values", target="bench.kv:get"),
    "object": group("Put and get objects", target="bench.object:object_", own=True),
    "object put": changes("Put objects", target="bench.object:put"),
    "object get": reads("Get objects", target="bench.object:get"),
    "compare": reads("Compare the results of two benchmarks", own=True),
}
