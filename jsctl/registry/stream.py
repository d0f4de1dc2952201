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
    "add": verb("Create a stream", "create", "new"),
    "ls": verb("List the streams", "list", "l"),
    "report": verb("Show the size and the replication of all streams"),
    "info": verb("Show the configuration and state of a stream", "nfo", "i"),
    "edit": verb("Change the configuration of a stream", "update"),
    "rm": verb("Remove streams with their messages and consumers", "delete", "del"),
    "find": verb("Find the streams that match all of the flags", "query"),
    "state": verb("Show the state of a stream"),
    "subjects": verb("List the subjects of a stream's messages, with their counts", "subj"),
    "purge": verb("Remove all or some of the messages of streams"),
    "rmm": verb("Remove single messages from a stream and overwrite them on disk"),
    "view": verb("View the messages of a stream"),
    "get": verb("Show one message of a stream, by sequence or the newest on a subject"),
    "seal": verb("Seal a stream permanently"),
    "gaps": verb("List the sequences missing between a stream's first and last message"),
    "graph": verb("Plot a stream's messages and rates over time"),
    "cluster": group("Manage the leaders and peers of replicated streams", aliases=("c",)),
    "cluster step-down": verb(
        "Make a stream's leader step down, so that another is elected", "stepdown", "sd", "elect", "down", "d"
    ),
    "cluster balance": verb("Balance the leaders of streams over the servers that hold them"),
    "cluster evacuate": verb("Move a stream off a server; the cluster picks another"),
    "cluster peer-remove": verb("Remove a server from a stream's group; the cluster picks another", "pr"),
    "copy": verb("Create a stream from the configuration of another, or with its messages", "cp"),
    "template": verb("Show what takes the place of stream templates"),
    "backup": verb("Back up a stream", "snapshot"),
    "restore": verb("Restore a stream from its backup"),
}
