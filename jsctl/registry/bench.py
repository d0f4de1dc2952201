"""The verbs of `jsctl bench`, in the order in which help shows them."""

from jsctl.registry.model import Entry, group, verb

VERBS: dict[str, Entry] = {
    "pub": verb("Publish to a subject without acks", "bench.pub:pub"),
    "sub": verb("Subscribe to a subject", "bench.sub:sub"),
    "service": group("Send requests and answer them", target="bench.service:service"),
    "service request": verb("Send requests, each after the reply to the last", "bench.service:request"),
    "service serve": verb("Answer requests until ctrl-C", "bench.service:serve"),
    "js": group("Publish to streams and read them", target="bench.js.js:js"),
    "js pub": group("Publish to a stream"),
    "js pub sync": verb("Publish each message after the ack of the last", "bench.js.pub:sync"),
    "js pub async": verb("Publish ahead of the acks", "bench.js.pub:async_"),
    "js pub batch": verb("Publish atomic batches", "bench.js.pub:batch", "atomic"),
    "js pub fast": verb("Publish by fast ingest", "bench.js.pub:fast"),
    "js ordered": verb("Read a stream through ordered consumers", "bench.js.consume:ordered"),
    "js consume": verb("Read a stream through a durable consumer", "bench.js.consume:consume"),
    "js fetch": verb("Read a stream through a durable consumer in batches", "bench.js.consume:fetch"),
    "js get": group("Read a stream without a consumer"),
    "js get sync": verb("Get messages one at a time", "bench.js.get:sync"),
    "js get batch": verb("Get messages in batches", "bench.js.get:batch"),
    "kv": group("Put and get values of a key-value bucket", target="bench.kv:kv"),
    "kv put": verb("Put values", "bench.kv:put"),
    "kv get": verb("Get values", "bench.kv:get"),
    "object": group("Put and get objects", target="bench.object:object_"),
    "object put": verb("Put objects", "bench.object:put"),
    "object get": verb("Get objects", "bench.object:get"),
    "compare": verb("Compare the results of two benchmarks", "bench.compare:compare"),
}
