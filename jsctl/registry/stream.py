"""What a stream is, and the verbs of `jsctl stream` in the order in which help shows them."""

from jsctl.registry.model import Entry, changes, destroys, group, old_name, reads
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
    "add": changes("Create a stream", "create", "new"),
    "ls": reads("List the streams", "list", "l"),
    "report": reads("Show the size and the replication of all streams"),
    "info": reads("Show the configuration and state of a stream", "nfo", "i"),
    "edit": changes("Change the configuration of a stream", "update"),
    "rm": destroys("Remove streams with their messages and consumers", "delete", "del"),
    "find": reads("Find the streams that match all of the flags", "query"),
    "state": reads("Show the state of a stream", target="stream.info:"),
    "subjects": reads("List the subjects of a stream's messages, with their counts", "subj"),
    "purge": destroys("Remove all or some of the messages of streams"),
    "rmm": destroys("Remove single messages from a stream and overwrite them on disk"),
    "view": reads("View the messages of a stream"),
    "search": reads("Search the messages of streams for those that match", "grep", own=True),
    "get": reads("Show one message of a stream, by sequence or the newest on a subject"),
    "seal": changes("Seal a stream permanently"),
    "gaps": reads("List the sequences missing between a stream's first and last message"),
    "graph": reads("Plot a stream's messages and rates over time"),
    "wait": reads("Wait until a stream has a number of messages, or none", own=True),
    "cluster": group("Manage the leaders and peers of replicated streams", aliases=("c",)),
    "cluster step-down": changes(
        "Make a stream's leader step down, so that another is elected", "stepdown", "sd", "elect", "down", "d"
    ),
    "cluster balance": changes("Balance the leaders of streams over the servers that hold them"),
    "cluster evacuate": changes("Move a stream off a server; the cluster picks another"),
    "cluster cancel-move": changes("Cancel a move of a stream, and other changes of its servers"),
    "cluster peer-remove": changes("Remove a server from a stream's group; the cluster picks another", "pr"),
    "copy": changes("Create a stream from the configuration of another, or with its messages", "cp"),
    "template": reads("Show what takes the place of stream templates"),
    "backup": old_name("backup stream", "snapshot"),
    "restore": old_name("backup restore stream"),
}
