"""What a bucket of objects is."""

from jsctl.registry.noun_record import Noun

NOUN = Noun(
    name="object bucket",
    argument="BUCKET",
    label="Bucket",
    lister="jsctl.jetstream.object.buckets:list_names",
    not_found="object bucket {name} not found",
    hint=("object ls", "lists the buckets"),
    create=("object add", "creates one"),
)
