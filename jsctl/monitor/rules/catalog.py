"""All rules: the codes of what can be wrong, what each means, and what it looks at.

There is one list for `doctor`, the problems of `report`, `consumer why`, the exporter and `--fail-on`. Rules
of one stream, mirror, source, consumer, account or login are in `objects`, `links`, `contexts` and
`jsctl.monitor.consumer.diagnosis`; they apply wherever such an object is seen. Rules that compare places or
need the system account are those of `jsctl.monitor.doctor`."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

Part = Literal["contexts", "servers", "accounts", "streams", "links", "consumers"]


class Rule(NamedTuple):
    """A kind of problem.

    means: its meaning in a few words. part: what it looks at. causes: codes of the rules whose findings
    explain this one: if they name all of the same objects, this one is only a symptom and is left out. why:
    why it matters; empty if each finding says it. fix: what to do, with commands in braces; a command line
    may follow it. rounds: whether it needs several looks.
    """

    code: str
    means: str
    part: Part
    causes: Sequence[str] = ()
    why: str = ""
    fix: str = ""
    rounds: bool = False


_COPY_CAUSES = ("ORIGIN_SILENT", "IMPORT_DEAD", "ORIGIN_MISSING")

RULES = (
    Rule("CONTEXT_FAILED", "a context cannot be used", "contexts"),
    Rule(
        "LOGIN_EXPIRES",
        "a login or a certificate has expired, or expires soon",
        "contexts",
        why="from then on the server refuses it",
        fix="use new credentials",
    ),
    Rule(
        "ACK_DENIED",
        "a login may request messages, and not acknowledge them",
        "consumers",
        why="what its clients receive is delivered again and again",
        fix="let it publish to $JS.ACK.STREAM.CONSUMER.>, or reply to what it receives (allow_responses)",
    ),
    Rule("SERVER_SILENT", "a server that others are connected with does not answer", "servers"),
    Rule("DOMAIN_MISSING", "nobody answers in a domain that a context names", "contexts"),
    Rule("META_NO_LEADER", "the servers of a domain have no majority", "servers"),
    Rule(
        "META_RESCUE",
        "servers act without a majority",
        "servers",
        why="if the others run after all, both sides change streams, and what one side changed is lost",
        fix="it ends after five minutes, or when the servers that will not come back are removed",
    ),
    Rule("JETSTREAM_SILENT", "a domain does not answer in time", "contexts", ("META_NO_LEADER",)),
    Rule("DOMAIN_TWICE", "two JetStreams have one domain", "servers"),
    Rule("DOMAIN_UNNAMED", "JetStream behind a leaf node has no domain", "servers"),
    Rule("SYSTEM_NOT_LINKED", "a leaf node does not connect the system account", "servers"),
    Rule("IMPORT_INVALID", "an account imports what is not exported", "accounts"),
    Rule("IMPORT_DEAD", "a reload left a service import dead", "accounts"),
    Rule(
        "ORIGIN_MISSING",
        "a mirror or source of a stream that does not exist",
        "links",
        why="nothing is copied; once a stream of that name is created, all of it is",
        fix="create it",
    ),
    Rule(
        "ORIGIN_SILENT",
        "nobody answers where mirrors and sources copy from",
        "links",
        ("SERVER_SILENT", "IMPORT_DEAD", "DOMAIN_MISSING", "META_NO_LEADER", "JETSTREAM_SILENT"),
    ),
    Rule(
        "DELIVERY_NOT_IMPORTED",
        "the delivery prefix of a mirror or source is not imported",
        "accounts",
        _COPY_CAUSES,
    ),
    Rule(
        "FLOW_CONTROL_MISSING",
        "flow control of a mirror or source does not pass between accounts",
        "accounts",
        (*_COPY_CAUSES, "DELIVERY_NOT_IMPORTED"),
    ),
    Rule("CONSUMER_ORPHANED", "a consumer between accounts has lost one side", "consumers"),
    Rule(
        "SOURCE_LOOP",
        "streams copy from each other in a circle",
        "links",
        why="each message goes round for ever, and is stored again until a limit or the disk ends it",
        fix="let each of these sources take only what clients publish to its origin",
    ),
    Rule(
        "FILTER_EMPTY",
        "a filter can never match a message",
        "links",
        why="nothing that the stream will ever store passes it",
        fix="set a filter that can match",
    ),
    Rule(
        "LINK_AHEAD",
        "a mirror or source is ahead of its origin",
        "links",
        why="nothing is copied until the origin is as far, and what it has stored again by then is missing",
    ),
    Rule(
        "LINK_DIFFERS",
        "a mirror holds other messages than its origin under the same sequences",
        "links",
        why="messages of the origin are missing for good, and sequences do not mean the same in both",
    ),
    Rule(
        "MIRROR_FULL",
        "a mirror that discards new messages is full",
        "links",
        why="what the origin stores is missing in it, and its server reports no lag",
    ),
    Rule(
        "LINK_IDLE",
        "a mirror or source looks active and copies nothing",
        "links",
        (
            *("LINK_AHEAD", "LINK_DIFFERS", "MIRROR_FULL"),
            "DELIVERY_NOT_IMPORTED",
            "FLOW_CONTROL_MISSING",
            "CONSUMER_ORPHANED",
            "ORIGIN_SILENT",
            "IMPORT_DEAD",
        ),
        fix="see who has the messages: {stream report}",
    ),
    Rule(
        "LINK_FAILED",
        "a mirror or source does not reach its origin",
        "links",
        (
            *("DELIVERY_NOT_IMPORTED", "FLOW_CONTROL_MISSING", "CONSUMER_ORPHANED", "ORIGIN_SILENT"),
            *(
                "SERVER_SILENT",
                "IMPORT_DEAD",
                "ORIGIN_MISSING",
                "LINK_IDLE",
                "META_NO_LEADER",
                "JETSTREAM_SILENT",
            ),
        ),
        fix="see the origin",
    ),
    Rule(
        "LAG_GROWING",
        "a mirror or source falls behind",
        "links",
        rounds=True,
        fix="see what limits it: {stream report}",
    ),
    Rule("SUBJECT_TWICE", "streams of several domains store one subject", "streams"),
    Rule(
        "REPLICA_OFFLINE",
        "a server with replicas is away",
        "servers",
        ("META_NO_LEADER",),
        fix="start its server: {server list} shows which run",
    ),
    Rule(
        "REPLICA_BEHIND",
        "a replica is behind its leader",
        "streams",
        ("REPLICA_OFFLINE",),
        why="if the leader fails now, what the replica lacks is missing until the leader is back",
        fix="wait; if it stays behind, see its server: {server report jetstream}",
    ),
    Rule(
        "REPLICAS_FEW",
        "a stream has fewer replicas than it should",
        "streams",
        why="each further server that fails brings it closer to a stop, or to losing messages",
        fix="start a server that can hold them (one that was removed from the cluster comes back only"
        " under a new name), then make the replicas again",
    ),
    Rule(
        "MIGRATION_STALLED",
        "a change of the servers of a stream or consumer stands still",
        "streams",
        ("META_NO_LEADER", "STREAM_NO_LEADER"),
        why="until it ends, it is not where it should be, and other changes of its servers are refused",
        fix="see its servers",
    ),
    Rule(
        "STREAM_NO_LEADER",
        "a stream has no leader",
        "streams",
        ("META_NO_LEADER",),
        fix="start the servers that hold it: {server report jetstream} shows which are away",
    ),
    Rule(
        "CONSUMER_NO_LEADER",
        "a consumer has no leader",
        "consumers",
        ("META_NO_LEADER", "STREAM_NO_LEADER"),
        why="nothing is delivered until most of its replicas are there",
        fix="start the servers that hold it: {server report jetstream} shows which are away",
    ),
    Rule(
        "STREAM_UNFINISHED",
        "a restore or copy of a stream has not ended",
        "streams",
        why="it does not hold everything yet: who reads it now misses messages",
        fix="wait until it has ended; if it was interrupted, run the same restore or copy again",
    ),
    Rule(
        "INTEREST_MISSING",
        "a stream that keeps messages for its consumers has none",
        "streams",
        why="with interest retention, what is published while there is no consumer is dropped at once",
        fix="create the consumer that its clients need",
    ),
    Rule(
        "NOT_CONSUMED",
        "a work queue holds messages that no consumer takes",
        "consumers",
        why="they wait for ever",
        fix="create a consumer for them, or remove them",
    ),
    Rule(
        "COUNTER_NOT_LOADED",
        "a counter is gone at the next start of its server",
        "streams",
        why="the server refuses the configuration then (10052), and any change of it before",
        fix="save it with {backup stream}, remove it, and restore it with a --config of"
        " subject_delete_marker_ttl: 0 and allow_msg_ttl: false",
    ),
    Rule("API_LEVEL_DIFFERS", "servers of a cluster have different API levels", "servers"),
    Rule("CLOCKS_APART", "clocks of servers differ", "servers"),
    Rule(
        "LIMIT_NEAR",
        "a limit is nearly reached",
        "streams",
        fix="raise the limit",
    ),
    Rule(
        "API_ERRORS",
        "requests to JetStream fail",
        "servers",
        rounds=True,
        fix="see which requests fail: {events --js-advisory}",
    ),
    Rule(
        "SLOW_CONSUMERS",
        "servers closed connections that read too slowly",
        "servers",
        why="what was sent to them meanwhile did not arrive; with core NATS it is lost",
        fix="let these clients do less for each message, or share their subscription in a queue group",
    ),
    Rule(
        "MESSAGES_LOST",
        "a stream lost messages",
        "streams",
        why="they are lost on this server",
        fix="look for them in a backup, or in a mirror of the stream",
    ),
    Rule(
        "NO_SUBSCRIBER",
        "nobody listens to a push consumer",
        "consumers",
        ("CONSUMER_ORPHANED",),
        why="its messages wait until a client subscribes",
        fix="start the client that subscribes to it",
    ),
    Rule(
        "NOBODY_PULLS",
        "messages wait, and no client pulls them",
        "consumers",
        ("CONSUMER_ORPHANED",),
        why="they wait until a client asks for them",
        fix="start the client that pulls from it",
    ),
    Rule(
        "ACKS_FULL",
        "a consumer stopped at its maximum of unacknowledged messages",
        "consumers",
        why="nothing more is delivered to any of its clients until some are acknowledged",
        fix="let its clients acknowledge what they have",
    ),
    Rule(
        "GIVEN_UP",
        "a consumer gave messages up after its maximum of deliveries",
        "consumers",
        why="no client has processed them, and they are not delivered again",
        fix="when clients can process them, have them delivered again",
    ),
    Rule(
        "UNREAD_REMOVED",
        "a stream removed messages before a consumer got them",
        "consumers",
        why="no client of it ever processes them",
        fix="read faster, or raise the limits of the stream",
    ),
    Rule(
        "PIN_IDLE",
        "the client to which a consumer is pinned asks for nothing",
        "consumers",
        why="no other client gets messages until its pin times out",
        fix="if the client is gone, let another one take over",
    ),
    Rule(
        "CONSUMER_PAUSED",
        "a consumer is paused",
        "consumers",
        why="nothing is delivered until then",
        fix="resume it",
    ),
    Rule(
        "REDELIVERED",
        "messages are delivered again because they are not acknowledged",
        "consumers",
        why="clients fail, or take longer than the consumer waits: the same work is done again",
        fix="let clients acknowledge within the time that the consumer waits, or let it wait longer",
    ),
    Rule(
        "STARTS_LATER",
        "a consumer starts at a sequence that the stream has not reached",
        "consumers",
        why="nothing is delivered until then",
        fix="wait until the stream is there",
    ),
    Rule(
        "FALLING_BEHIND",
        "a consumer falls behind",
        "consumers",
        rounds=True,
        fix="start more clients",
    ),
    Rule("ANSWER_MALFORMED", "a server's answer is malformed", "servers"),
)
"""The rules, in the order in which findings are shown: causes before their effects."""

BY_CODE: Mapping[str, Rule] = {rule.code: rule for rule in RULES}
