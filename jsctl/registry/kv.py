"""What a bucket and a key are, and the verbs of `jsctl kv` in the order in which help shows them."""

from jsctl.registry.model import Entry, verb
from jsctl.registry.noun_record import Noun

NOUN = Noun(
    name="bucket",
    argument="BUCKET",
    label="Bucket",
    lister="jsctl.jetstream.kv.bucket:list_names",
    not_found="bucket {name} not found",
    hint=("kv ls", "lists the buckets"),
    create=("kv add", "creates one"),
)

KEY = Noun(
    name="key",
    argument="KEY",
    label="Key",
    lister="jsctl.jetstream.kv.read:list_keys",
    not_found="key {name} not found in bucket {parent}",
    hint=("kv ls", "lists the keys"),
    create=("kv put", "stores one"),
    parent="bucket",
)

VERBS: dict[str, Entry] = {
    "add": verb("Create a bucket", "new"),
    "edit": verb("Change the configuration of a bucket, or a value in your EDITOR"),
    "ls": verb("List the buckets, or the keys of a bucket", "list"),
    "info": verb("Show the configuration and state of a bucket", "view", "status"),
    "get": verb("Show the value of a key, or of all keys that match a pattern"),
    "put": verb("Store a value"),
    "create": verb("Store a value for a key that does not exist"),
    "update": verb("Replace a value if the key is still at a given revision"),
    "del": verb("Delete keys, or a whole bucket", "rm", target="kv.delete:delete"),
    "purge": verb("Delete keys with all their earlier values"),
    "history": verb("Show the earlier values of a key"),
    "revert": verb("Restore an earlier value of a key"),
    "watch": verb("Show changes of a bucket as they happen"),
    "compact": verb("Remove what is left of deleted keys"),
    "diff": verb("Compare two buckets; exits with 2 if they differ"),
    "export": verb("Write a bucket's values as JSON lines"),
    "import": verb("Store the values of an export in a bucket", target="kv.import_:import_"),
}
