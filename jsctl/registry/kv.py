"""What a bucket is, and the verbs of `jsctl kv` in the order in which help shows them."""

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

VERBS: dict[str, Entry] = {
    "add": verb("Create a bucket", "kv.add:add", "new"),
    "edit": verb("Change the configuration of a bucket, or a value in your EDITOR", "kv.edit:edit"),
    "ls": verb("List the buckets, or the keys of a bucket", "kv.ls:ls", "list"),
    "info": verb("Show the configuration and state of a bucket", "kv.info:info", "view", "status"),
    "get": verb("Show the value of a key, or of all keys that match a pattern", "kv.get:get"),
    "put": verb("Store a value", "kv.put:put"),
    "create": verb("Store a value for a key that does not exist", "kv.create:create"),
    "update": verb("Replace a value if the key is still at a given revision", "kv.update:update"),
    "del": verb("Delete keys, or a whole bucket", "kv.delete:delete", "rm"),
    "purge": verb("Delete keys with all their earlier values", "kv.purge:purge"),
    "history": verb("Show the earlier values of a key", "kv.history:history"),
    "revert": verb("Restore an earlier value of a key", "kv.revert:revert"),
    "watch": verb("Show changes of a bucket as they happen", "kv.watch:watch"),
    "compact": verb("Remove what is left of deleted keys", "kv.compact:compact"),
    "diff": verb("Compare two buckets; exits with 2 if they differ", "kv.diff:diff"),
    "export": verb("Write a bucket's values as JSON lines", "kv.export:export"),
    "import": verb("Store the values of an export in a bucket", "kv.import_:import_"),
}
