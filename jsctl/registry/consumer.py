"""What a consumer is, and the verbs of `jsctl consumer` in the order in which help shows them."""

from jsctl.registry.model import Entry, changes, destroys, group, reads
from jsctl.registry.noun_record import Noun

NOUN = Noun(
    name="consumer",
    argument="CONSUMER",
    label="Consumer",
    parent="stream",
    lister="jsctl.jetstream.consumer.requests:list_names",
    not_found="consumer {parent} > {name} not found",
    hint=("consumer ls", "lists the consumers"),
    create=("consumer add", "creates one"),
    error="CONSUMER_NOT_FOUND",
)

PCGROUP = Noun(
    name="pcgroup",
    argument="GROUP",
    label="Consumer Group",
    parent="stream",
    lister="jsctl.jetstream.partitioned_groups:list_names",
    not_found="consumer group {parent} > {name} not found",
    hint=("consumer pcgroup ls", "lists the groups"),
    create=("consumer pcgroup create", "creates one"),
)

VERBS: dict[str, Entry] = {
    "add": changes("Create a consumer", "create", "new"),
    "ls": reads("List the consumers of a stream", "list"),
    "info": reads("Show the configuration and state of a consumer", "nfo"),
    "state": reads("Show the state of a consumer", target="consumer.info:state"),
    "next": changes("Retrieve messages from a pull consumer", target="consumer.next:next_message"),
    "sub": changes("Receive the messages of a push or pull consumer until ctrl-C", own=True),
    "events": reads("Show a consumer's advisories and ack samples until ctrl-C", own=True),
    "graph": reads("Plot what a consumer delivers, what is acknowledged and what is pending"),
    "report": reads("Show the state of all consumers, those in trouble first"),
    "why": reads("Explain why a consumer makes no progress", own=True),
    "wait": reads("Wait until a consumer's messages are acknowledged", own=True),
    "dead": reads("List the messages that a consumer gave up", own=True, changes_with="--capture"),
    "pending": reads("List the messages that wait for an acknowledgement", own=True),
    "find": reads("Find the consumers of a stream that match all of the flags", "query"),
    "edit": changes("Change the configuration of a consumer", "update"),
    "copy": changes("Create a consumer from the configuration of another", "cp"),
    "rm": destroys("Remove a consumer", "delete", "del"),
    "reset": destroys("Reset a consumer to its ack floor, a sequence, a time or the end"),
    "pause": changes("Pause a consumer until a time or for a duration"),
    "resume": changes("Resume a paused consumer", target="consumer.pause:resume"),
    "unpin": changes("Unpin the client that a priority group is pinned to"),
    "cluster": group("Manage the leaders of replicated consumers", "consumer.cluster:", ("c",)),
    "cluster step-down": changes(
        "Make a consumer's leader step down, so that another is elected", "elect", "down", "d"
    ),
    "cluster evacuate": changes("Move a consumer off a server; the cluster picks another"),
    "cluster cancel-move": changes("Take back replicas of a consumer that have not joined it", own=True),
    "cluster balance": changes("Balance the leaders of a stream's consumers over the servers that hold them"),
    "pcgroup": group("Manage partitioned consumer groups of orbit.go's pcgroups", aliases=("cg",), own=True),
    "pcgroup ls": reads("List the partitioned consumer groups of a stream, or of all", "list"),
    "pcgroup info": reads("Show a partitioned consumer group, its members and who is active"),
    "pcgroup lag": reads("Show how many messages wait in each partition"),
    "pcgroup step-down": changes("Make a member's active process step down for another", "stepdown", "sd"),
    "pcgroup create": changes("Create a partitioned consumer group"),
    "pcgroup add": changes("Add members to an elastic group", target="consumer.pcgroup.group:"),
    "pcgroup drop": changes("Drop members from an elastic group", target="consumer.pcgroup.group:"),
    "pcgroup create-mapping": changes(
        "Map the partitions of an elastic group to its members",
        *("cm", "createmapping"),
        target="consumer.pcgroup.group:create_mapping",
    ),
    "pcgroup delete-mapping": changes(
        "Remove all mapped members of an elastic group",
        *("dm", "deletemapping"),
        target="consumer.pcgroup.group:delete_mapping",
    ),
    "pcgroup rm": destroys("Remove a partitioned consumer group", "delete"),
}
