"""What a key of a bucket is. It has no verbs of its own: those of `jsctl kv` take keys."""

from jsctl.registry.noun_record import Noun

NOUN = Noun(
    name="key",
    argument="KEY",
    label="Key",
    lister="jsctl.jetstream.kv.read:list_keys",
    not_found="key {name} not found in bucket {parent}",
    hint=("kv ls", "lists the keys"),
    create=("kv put", "stores one"),
    parent="bucket",
)
