"""What a stream is, and the verbs of `jsctl stream` in the order in which help shows them."""

from jsctl.registry.model import Entry, group, verb
from jsctl.registry.noun_record import Noun

NOUN = Noun(
    name="stream",
    argument="STREAM",
    label="Stream",
    lister="jsctl.jetstream.stream.requests:list_names",
    hidden="jsctl.jetstream.stream.requests:is_internal",
    not_found="stream {name} not found",
    hint=("stream ls", "lists the streams"),
    create=("stream add", "creates one"),
    error="STREAM_NOT_FOUND",
)

VERBS: dict[str, Entry] = {
    "add": verb("Create a stream", "stream.add:add", "create", "new"),
    "ls": verb("List the streams", "stream.ls:ls", "list", "l"),
    "report": verb("Show the size and the replication of all streams", "stream.report:report"),
    "info": verb("Show the configuration and state of a stream", "stream.info:info", "nfo", "i"),
    "edit": verb("Change the configuration of a stream", "stream.edit:edit", "update"),
    "rm": verb("Remove streams with their messages and consumers", "stream.rm:rm", "delete", "del"),
    "find": verb("Find the streams that match all of the flags", "stream.find:find", "query"),
    "state": verb("Show the state of a stream", "stream.state:state"),
    "subjects": verb(
        "List the subjects of a stream's messages, with their counts", "stream.subjects:subjects", "subj"
    ),
    "purge": verb("Remove all or some of the messages of streams", "stream.purge:purge"),
    "rmm": verb("Remove single messages from a stream and overwrite them on disk", "stream.rmm:rmm"),
    "view": verb("View the messages of a stream", "stream.view:view"),
    "get": verb("Show one message of a stream, by sequence or the newest on a subject", "stream.get:get"),
    "seal": verb("Seal a stream permanently", "stream.seal:seal"),
    "gaps": verb("List the sequences missing between a stream's first and last message", "stream.gaps:gaps"),
    "graph": verb("Plot a stream's messages and rates over time", "stream.graph:graph"),
    "cluster": group("Manage the leaders and peers of replicated streams", aliases=("c",)),
    "cluster step-down": verb(
        "Make a stream's leader step down, so that another is elected",
        "stream.cluster.step_down:step_down",
        "stepdown",
        "sd",
        "elect",
        "down",
        "d",
    ),
    "cluster balance": verb(
        "Balance the leaders of streams over the servers that hold them", "stream.cluster.balance:balance"
    ),
    "cluster evacuate": verb(
        "Move a stream off a server; the cluster picks another", "stream.cluster.evacuate:evacuate"
    ),
    "cluster peer-remove": verb(
        "Remove a server from a stream's group; the cluster picks another",
        "stream.cluster.peer_remove:peer_remove",
        "pr",
    ),
    "copy": verb(
        "Create a stream from the configuration of another, or with its messages", "stream.copy:copy", "cp"
    ),
    "template": verb("Show what takes the place of stream templates", "stream.template:template"),
    "backup": verb("Back up a stream", "stream.backup:backup", "snapshot"),
    "restore": verb("Restore a stream from its backup", "stream.restore:restore"),
}
