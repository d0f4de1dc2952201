"""What a bucket and a key are, and the verbs of `jsctl kv` in the order in which help shows them."""

from jsctl.registry.model import Entry, changes, destroys, reads
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
    "add": changes("Create a bucket", "new"),
    "edit": changes("Change the configuration of a bucket, or a value in your EDITOR"),
    "ls": reads("List the buckets, or the keys of a bucket", "list"),
    "info": reads("Show the configuration and state of a bucket", "view", "status"),
    "get": reads("Show the value of a key, or of all keys that match a pattern"),
    "put": changes("Store a value"),
    "create": changes("Store a value for a key that does not exist", target="kv.put:"),
    "update": changes("Replace a value if the key is still at a given revision", target="kv.put:"),
    "del": destroys("Delete keys, or a whole bucket", "rm", target="kv.delete:delete"),
    "purge": destroys("Delete keys with all their earlier values", target="kv.delete:"),
    "history": reads("Show the earlier values of a key"),
    "revert": changes("Restore an earlier value of a key", target="kv.history:"),
    "watch": reads("Show changes of a bucket as they happen"),
    "wait": reads("Wait until a key has a value, or has none", own=True),
    "compact": destroys("Remove what is left of deleted keys"),
    "diff": reads("Compare two buckets; exits with 2 if they differ", own=True),
    "export": reads("Write a bucket's values as JSON lines", own=True),
    "import": changes("Store the values of an export in a bucket", target="kv.import_:import_", own=True),
}
