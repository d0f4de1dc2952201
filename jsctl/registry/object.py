"""What an object and its bucket are, and the verbs of `jsctl object` in the order of help."""

from jsctl.registry.model import Entry, changes, destroys, reads
from jsctl.registry.noun_record import Noun

NOUN = Noun(
    name="object",
    argument="OBJECT",
    label="Object",
    parent="object bucket",
    lister="jsctl.jetstream.object.requests:list_names",
    not_found="object {parent} > {name} not found",
    hint=("object ls", "lists the objects"),
    create=("object put", "stores one"),
    any_text=True,
)

BUCKET = Noun(
    name="object bucket",
    argument="BUCKET",
    label="Bucket",
    lister="jsctl.jetstream.object.buckets:list_names",
    not_found="object bucket {name} not found",
    hint=("object ls", "lists the buckets"),
    create=("object add", "creates one"),
)

_SHORT = "object.group:"

VERBS: dict[str, Entry] = {
    "add": changes("Create a bucket for objects", "create", "new", target=_SHORT),
    "edit": changes("Change the configuration of a bucket", "update"),
    "put": changes("Store files in a bucket"),
    "get": reads("Write an object to a file or to stdout"),
    "sync": changes("Make a bucket match a folder, or a folder match a bucket", own=True),
    "ls": reads("List the buckets, or the objects of a bucket", "list", target=_SHORT),
    "info": reads("Show a bucket or an object", "show", "i", target=_SHORT),
    "status": reads("Show the size and the state of buckets", own=True, target=_SHORT),
    "watch": reads("Show what changes in a bucket until ctrl-C"),
    "link": changes("Create a link to an object or a bucket", own=True, target=_SHORT),
    "rm": destroys("Remove objects, or a bucket with all that is in it", "del", "delete"),
    "seal": changes("Seal a bucket permanently", target=_SHORT),
}
