"""What a consumer is, and the verbs of `jsctl consumer` in the order in which help shows them."""

from jsctl.registry.model import Entry, group, verb
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

VERBS: dict[str, Entry] = {
    "add": verb("Create a consumer", "consumer.add:add", "create", "new"),
    "ls": verb("List the consumers of a stream", "consumer.ls:ls", "list"),
    "info": verb("Show the configuration and state of a consumer", "consumer.info:info", "nfo"),
    "state": verb("Show the state of a consumer", "consumer.info:state"),
    "next": verb("Retrieve messages from a pull consumer", "consumer.next:next_message"),
    "sub": verb("Receive the messages of a push or pull consumer until ctrl-C", "consumer.sub:sub"),
    "events": verb("Show a consumer's advisories and ack samples until ctrl-C", "consumer.events:events"),
    "graph": verb(
        "Plot what a consumer delivers, what is acknowledged and what is pending", "consumer.graph:graph"
    ),
    "report": verb("Show the state of all consumers, those in trouble first", "consumer.report:report"),
    "why": verb("Explain why a consumer makes no progress", "consumer.why:why"),
    "find": verb("Find the consumers of a stream that match all of the flags", "consumer.find:find", "query"),
    "edit": verb("Change the configuration of a consumer", "consumer.edit:edit", "update"),
    "copy": verb("Create a consumer from the configuration of another", "consumer.copy:copy", "cp"),
    "rm": verb("Remove a consumer", "consumer.rm:rm", "delete", "del"),
    "reset": verb("Reset a consumer to its ack floor or to a sequence", "consumer.reset:reset"),
    "pause": verb("Pause a consumer until a time or for a duration", "consumer.pause:pause"),
    "resume": verb("Resume a paused consumer", "consumer.pause:resume"),
    "unpin": verb("Unpin the client that a priority group is pinned to", "consumer.unpin:unpin"),
    "cluster": group("Manage the leaders of replicated consumers", aliases=("c",)),
    "cluster step-down": verb(
        "Make a consumer's leader step down, so that another is elected",
        "consumer.cluster.step_down:step_down",
        "elect",
        "down",
        "d",
    ),
    "cluster evacuate": verb(
        "Move a consumer off a server; the cluster picks another", "consumer.cluster.evacuate:evacuate"
    ),
    "cluster balance": verb(
        "Balance the leaders of a stream's consumers over the servers that hold them",
        "consumer.cluster.balance:balance",
    ),
}
