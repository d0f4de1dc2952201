"""Declared files: read, with variables and loops resolved, and validated as far as possible without a server.

label: logs                     # marks what this file creates, for --prune
context: hub                    # for all streams of the document; each may have its own
domain: leaf
account: SALES                  # of an operator of jsctl auth, instead of the account of the context's login
vars: {keep: 1d}
streams:
  - for: {i: 0..9}
    name: LOGS_{{i}}
    subjects: ["logs.p{{i}}.>"]
    max_age: "{{keep}}"
    consumers:
      - {name: TAIL, deliver_subject: "out.logs.p{{i}}"}
buckets:                        # with the keys that `jsctl kv add` has flags for
  - {name: CONFIG, history: 5}
object_buckets:                 # with those of `jsctl object add`
  - {name: FILES, ttl: 30d}
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from typing import Any

from jsctl.contexts.settings import check_subject
from jsctl.errors import BadInput
from jsctl.jetstream.config.documents import parse_documents
from jsctl.jetstream.config.kind import Json, merge
from jsctl.jetstream.config.nodes import Node
from jsctl.jetstream.config.schema import Schema
from jsctl.jetstream.consumer.config import CONSUMER
from jsctl.jetstream.declared.buckets import KINDS, BucketKind
from jsctl.jetstream.declared.model import LABEL, Consumer, Declared, Place, Stream
from jsctl.jetstream.declared.variables import (
    Budget,
    Variables,
    count_rounds,
    expand,
    iterate_loop,
    resolve_variables,
)
from jsctl.jetstream.stream.config import STREAM
from jsctl.jetstream.stream.origins import list_origins
from jsctl.nats.subjects import validate_name

_PLACE_KEYS = ("context", "domain", "account")
_DOCUMENT_KEYS = ("label", *_PLACE_KEYS, "vars", "streams", *(kind.key for kind in KINDS), "operators")
"""`operators` has nothing to do with JetStream, and is read in jsctl.auth.declared."""

_HEAD_KEYS = ("label", *_PLACE_KEYS)
_STREAM_KEYS = frozenset({"for", "consumers", *_PLACE_KEYS})
_BUCKET_KEYS = frozenset({"for", *_PLACE_KEYS})
_CONSUMER_KEYS = frozenset({"for"})


def load(files: Iterable[tuple[str, str]], variables: Variables) -> Declared:
    """Return what the files (name and text of each) declare.

    variables: from the command line; they replace those of a file. Raises BadInput with file and line.
    """
    streams: list[Stream] = []
    labels: dict[Place, set[str]] = {}
    used: set[str] = set()
    budget = Budget()
    for name, text in files:
        for document in parse_documents(text, name):
            _read_document(document, variables, streams, labels, used, budget)
    if unknown := sorted(variables.keys() - used):
        raise BadInput(f"--var {unknown[0]}: no file has this variable in its vars")
    _refuse_same_streams(streams)
    _refuse_cycles(streams)
    return Declared(tuple(streams), {place: frozenset(names) for place, names in labels.items()})


def _read_document(
    document: Node,
    variables: Variables,
    streams: list[Stream],
    labels: dict[Place, set[str]],
    used: set[str],
    budget: Budget,
) -> None:
    """Add a document's streams to `streams`, its label to `labels` and its variables' names to `used`."""
    keys = document.as_object("a file of declared streams")
    for key, node in keys.items():
        if key not in _DOCUMENT_KEYS:
            raise node.error(f"unknown key {key!r}", f"the keys of a file are {', '.join(_DOCUMENT_KEYS)}")
    resolved: dict[str, Node] = {}
    if "vars" in keys and keys["vars"].value is not None:
        used.update(keys["vars"].as_object("vars"))
        resolved = resolve_variables(keys["vars"], variables)
    header_keys = {key: expand(keys[key], resolved) for key in _HEAD_KEYS if key in keys}
    label = header_keys["label"].as_text("label") if "label" in header_keys else ""
    place = _read_place(header_keys, Place())
    before = len(streams)
    nodes = document.list_below("streams")
    for node in nodes:
        _count(node, resolved, budget)
    bucket_nodes = [(kind, node) for kind in KINDS for node in document.list_below(kind.key)]
    for _, node in bucket_nodes:
        budget.add_rounds(count_rounds(_get_loop(node, "bucket"), resolved), node)
    for node in nodes:
        for round_variables in iterate_loop(_get_loop(node, "stream"), resolved):
            streams.append(_read_stream(node, round_variables, place, label, budget))
    for kind, node in bucket_nodes:
        for round_variables in iterate_loop(_get_loop(node, "bucket"), resolved):
            streams.append(_read_bucket(kind, node, round_variables, place, label, budget))
    if label:
        # --prune looks for streams that are no longer declared in every place that the file names, even when
        # it declares no stream there.
        places = {stream.place for stream in streams[before:]}
        names_place = bool(header_keys.keys() & {*_PLACE_KEYS})
        if names_place or not (places or ("operators" in keys and not {"streams", "buckets"} & keys.keys())):
            places.add(place)
        for labelled in places:
            labels.setdefault(labelled, set()).add(label)


def _get_loop(node: Node, noun: str) -> Node | None:
    return node.as_object(f"a {noun}").get("for")


def _count(node: Node, variables: Variables, budget: Budget) -> None:
    """Count what the loops of a stream and its consumers create."""
    loop = _get_loop(node, "stream")
    budget.add_rounds(count_rounds(loop, variables), node)
    loops = [inner for item in node.list_below("consumers") if (inner := _get_loop(item, "consumer"))]
    for round_variables in iterate_loop(loop, variables) if loops else ():
        for inner in loops:
            budget.add_rounds(count_rounds(inner, round_variables), inner)


def _read_stream(node: Node, variables: Variables, place: Place, label: str, budget: Budget) -> Stream:
    expanded = budget.expand(node, "a stream", variables, "for", "consumers")
    name = _read_name(expanded, "stream")
    place = _read_place(expanded.value, place)
    declared = STREAM.read(expanded, "a stream", ignored=_STREAM_KEYS)
    config = _with_label({**declared, "name": name}, label)
    _validate(STREAM, config, expanded)
    consumers: list[Consumer] = []
    for item in node.list_below("consumers"):
        for round_variables in iterate_loop(_get_loop(item, "consumer"), variables):
            consumers.append(_read_consumer(item, round_variables, label, budget))
    _refuse_same_consumers(consumers, name)
    return Stream(name, config, f"{node.file}:{node.line}", place, label, tuple(consumers))


def _read_bucket(
    kind: BucketKind, node: Node, variables: Variables, place: Place, label: str, budget: Budget
) -> Stream:
    expanded = budget.expand(node, "a bucket", variables, "for")
    name = _read_name(expanded, "bucket")
    place = _read_place(expanded.value, place)
    declared = kind.schema.read(expanded, kind.schema.what, ignored=_BUCKET_KEYS)
    config = _with_label({**declared, "name": name}, label)
    _validate(kind.schema, config, expanded)
    return Stream(kind.bucket_to_stream(name), config, f"{node.file}:{node.line}", place, label, kind=kind)


def _read_consumer(node: Node, variables: Variables, label: str, budget: Budget) -> Consumer:
    expanded = budget.expand(node, "a consumer", variables, "for")
    name = _read_name(expanded, "consumer")
    declared = CONSUMER.read(expanded, "a consumer", ignored=_CONSUMER_KEYS)
    config = {"durable_name": name, **declared, "name": name}
    if config["durable_name"] not in (name, None):
        raise expanded.error(f"the durable_name of consumer {name} must be equal to its name, or null")
    if config.get("filter_subject") and config.get("filter_subjects"):
        raise expanded.error(f"consumer {name} cannot have both filter_subject and filter_subjects")
    _validate(CONSUMER, config, expanded)
    return Consumer(name, _with_label(config, label), f"{node.file}:{node.line}")


def _read_name(node: Node, noun: str) -> str:
    name = node.as_object(f"a {noun}").get("name")
    if name is None:
        raise node.error(f"this {noun} has no name")
    try:
        return validate_name(name.as_text("name"), noun)
    except ValueError as error:
        raise name.error(str(error)) from None


def _read_place(keys: Mapping[str, Node], above: Place) -> Place:
    """Return the place that `context`, `domain` and `account` name; those that are missing are taken from
    `above`."""
    place = above
    if "context" in keys:
        context = "" if keys["context"].value is None else keys["context"].as_text("context")
        place = replace(place, context=context, domain=None if context != place.context else place.domain)
    if "domain" in keys:
        domain = None if keys["domain"].value is None else keys["domain"].as_text("domain")
        try:
            check_subject("domain", domain or "")
        except BadInput as error:
            raise keys["domain"].error(error.message, error.hint) from None
        place = replace(place, domain=domain)
    if "account" in keys:
        place = replace(
            place, account="" if keys["account"].value is None else keys["account"].as_text("account")
        )
    return place


def _with_label(config: Json, label: str) -> Json:
    if not label:
        return config
    metadata: dict[str, Any] = {**(config.get("metadata") or {}), LABEL: label}
    return {**config, "metadata": metadata}


def _validate(schema: Schema, declared: Json, node: Node) -> None:
    """Validate a declared configuration as `add` does; errors name the line."""
    schema.validate(schema.with_defaults(merge({}, declared)), f"{node.file}:{node.line}")


def _refuse_same_consumers(consumers: list[Consumer], stream: str) -> None:
    by_name: dict[str, Consumer] = {}
    for consumer in consumers:
        first = by_name.setdefault(consumer.name, consumer)
        if first is not consumer:
            raise BadInput(
                f"{consumer.position}: consumer {stream} > {consumer.name} is declared twice",
                f"first in {first.position}",
            )


def _refuse_same_streams(streams: list[Stream]) -> None:
    by_key: dict[tuple[Place, str], Stream] = {}
    for stream in streams:
        first = by_key.setdefault((stream.place, stream.name), stream)
        if first is not stream:
            raise BadInput(
                f"{stream.position}: stream {stream.name} is declared twice", f"first in {first.position}"
            )


def _refuse_cycles(streams: list[Stream]) -> None:
    """Raise BadInput for streams of one place that copy from each other in a cycle.

    The server refuses the last of them. Across several domains a cycle may be intended, with different
    filters for each stream.
    """
    by_key = {(stream.place, stream.name): stream for stream in streams}
    origins = {
        key: [origin for origin in _list_local_origins(stream) if origin in by_key]
        for key, stream in by_key.items()
    }
    try:
        TopologicalSorter(origins).prepare()
    except CycleError as error:
        cycle: list[tuple[Place, str]] = error.args[1]
        names = " -> ".join(name for _, name in cycle)
        position = by_key[cycle[-1]].position
        raise BadInput(f"{position}: streams copy from each other in a cycle: {names}") from None


def _list_local_origins(stream: Stream) -> Iterator[tuple[Place, str]]:
    for origin in list_origins(stream.config):
        if not (origin.get("external") or {}).get("api"):
            name = str(origin["name"])
            yield stream.place, stream.kind.bucket_to_stream(name) if stream.kind else name
