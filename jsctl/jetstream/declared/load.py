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

from collections.abc import Iterable, Mapping
from dataclasses import replace

from jsctl.contexts.layers import check_subject
from jsctl.errors import BadInput, collecting, raise_all
from jsctl.jetstream.config.documents import read_files
from jsctl.jetstream.config.kind import Json, merge
from jsctl.jetstream.config.nodes import Node
from jsctl.jetstream.config.schema import Schema
from jsctl.jetstream.consumer.config import CONSUMER
from jsctl.jetstream.declared.conflicts import join_streams, refuse_same_consumers
from jsctl.jetstream.declared.merge import validate_keys
from jsctl.jetstream.declared.model import BUCKET_KINDS, Consumer, Declared, Place, Stream
from jsctl.jetstream.declared.reader import DocumentReader, read_name
from jsctl.jetstream.declared.values import read_values
from jsctl.jetstream.declared.variables import Budget, Variables, count_rounds, expand, iterate_loop
from jsctl.jetstream.kv.config import BUCKET, BucketSchema
from jsctl.jetstream.stream.config import STREAM
from jsctl.jetstream.stream.protection import PROTECT
from jsctl.nats.subjects import validate_name

_PLACE_KEYS = ("context", "domain", "account")
_DOCUMENT_KEYS = ("label", *_PLACE_KEYS, "vars", "streams", *(kind.key for kind in BUCKET_KINDS), "operators")
"""`operators` has nothing to do with JetStream, and is read in jsctl.auth.declared."""

_HEAD_KEYS = ("label", *_PLACE_KEYS)
_BUCKET_KEYS = frozenset({"for", "allow_data_loss", "protect", *_PLACE_KEYS})
_VALUE_KEYS = frozenset({"values", "values_from"})
_STREAM_KEYS = frozenset({"consumers", "renamed_from", *_BUCKET_KEYS})
_CONSUMER_KEYS = frozenset({"for"})


def load(files: Iterable[tuple[str, str]], variables: Variables, *others: DocumentReader) -> Declared:
    """Return what the files (name and text of each) declare.

    variables: from the command line; they replace those of a file. others: read the documents, too. Raises
    BadInput with file and line, BadInputs for several errors.
    """
    reader = _Reader(variables)
    for other in others:
        other.errors = reader.errors
    read_files(files, [each.read_document for each in (reader, *others)], reader.errors)
    return reader.finish()


class _Reader(DocumentReader):
    """The streams of documents, collected."""

    def __init__(self, variables: Variables) -> None:
        super().__init__(variables)
        self._streams: list[Stream] = []
        self._labels: dict[Place, set[str]] = {}
        self._contexts: set[str] = set()

    def finish(self) -> Declared:
        """Return everything that is declared. Raises BadInput."""
        if unknown := sorted(self._variables.keys() - self._used):
            raise BadInput(f"--var {unknown[0]}: no file has this variable in its vars")
        streams = join_streams(self._streams)
        labels = {place: frozenset(names) for place, names in self._labels.items()}
        contexts = frozenset(self._contexts)
        return Declared(tuple(streams), labels, warnings=self._take_warnings(), contexts=contexts)

    def read_document(self, document: Node) -> None:
        """Add a document's streams, buckets and label. Raises BadInput."""
        keys = document.as_object("a file of declared streams")
        for key, node in keys.items():
            if key not in _DOCUMENT_KEYS and not key.startswith("x-"):
                hint = f"the keys of a file are {', '.join(_DOCUMENT_KEYS)}, and x-... for anchors"
                raise node.error(f"unknown key {key!r}", hint)
        resolved = self._resolve_variables(keys)
        header_keys = {key: expand(keys[key], resolved) for key in _HEAD_KEYS if key in keys}
        _refuse_empty(_HEAD_KEYS, keys, header_keys)
        label = header_keys["label"].as_text("label") if "label" in header_keys else ""
        place = _read_place(header_keys, Place())
        self._contexts |= {place.context} - {""}
        before = len(self._streams)
        nodes = document.list_below("streams")
        bucket_nodes = [(kind, node) for kind in BUCKET_KINDS for node in document.list_below(kind.key)]
        for node in nodes:
            _count(node, resolved, self._budget)
        for _, node in bucket_nodes:
            self._budget.add_rounds(count_rounds(_get_loop(node, "bucket"), resolved), node)
        for node in nodes:
            for variables in iterate_loop(_get_loop(node, "stream"), resolved):
                with collecting(self.errors):
                    self._streams.append(self._read_stream(node, variables, place, label))
        for kind, node in bucket_nodes:
            for variables in iterate_loop(_get_loop(node, "bucket"), resolved):
                with collecting(self.errors):
                    self._streams.append(self._read_bucket(kind, node, variables, place, label))
        if label:
            # --prune looks for streams that are no longer declared in every place that the file names, even
            # when it declares no stream there.
            places = {stream.place for stream in self._streams[before:]}
            names_place = bool(header_keys.keys() & {*_PLACE_KEYS})
            if names_place or not (
                places or ("operators" in keys and not {"streams", "buckets"} & keys.keys())
            ):
                places.add(place)
            for labelled in places:
                self._labels.setdefault(labelled, set()).add(label)

    def _read_stream(self, node: Node, variables: Variables, place: Place, label: str) -> Stream:
        expanded = self._budget.expand(node, "a stream", variables, "for", "consumers")
        errors: list[BadInput] = []
        consumers: list[Consumer] = []
        for item in node.list_below("consumers"):
            for inner in iterate_loop(_get_loop(item, "consumer"), variables):
                with collecting(errors):
                    consumers.append(self._read_consumer(item, inner, label))
        with collecting(errors):
            stream = self._read_common(STREAM, "stream", node, expanded, place, label, _STREAM_KEYS)
            refuse_same_consumers(consumers, stream.name)
            old_name = _read_old_name(expanded, stream.name)
        raise_all(errors)
        return replace(stream, consumers=tuple(consumers), renamed_from=old_name)

    def _read_bucket(
        self, kind: BucketSchema, node: Node, variables: Variables, place: Place, label: str
    ) -> Stream:
        expanded = self._budget.expand(node, "a bucket", variables, "for")
        value_keys = _VALUE_KEYS if kind is BUCKET else frozenset[str]()
        bucket = self._read_common(kind, "bucket", node, expanded, place, label, _BUCKET_KEYS | value_keys)
        values, hidden = read_values(expanded) if value_keys else ({}, frozenset[str]())
        name = kind.bucket_to_stream(bucket.name)
        return replace(bucket, name=name, kind=kind, values=values, hidden=hidden)

    def _read_common(
        self,
        schema: Schema,
        noun: str,
        node: Node,
        expanded: Node,
        place: Place,
        label: str,
        ignored: frozenset[str],
    ) -> Stream:
        """Read what streams and buckets have in common. ignored: keys that do not belong to their
        configurations."""
        name, keys = read_name(expanded, noun, validate_name), expanded.as_object("this")
        _refuse_empty(_PLACE_KEYS, node.as_object("this"), keys)
        place = _read_place(keys, place)
        declared = self._read_keys(schema, expanded, schema.what, ignored)
        config = _with_protection({**declared, "name": name}, expanded)
        _validate(schema, config, expanded)
        position, allows_loss = node.position, _read_flag(expanded, "allow_data_loss")
        return Stream(name, config, position, place, label, allows_data_loss=allows_loss)

    def _read_consumer(self, node: Node, variables: Variables, label: str) -> Consumer:
        expanded = self._budget.expand(node, "a consumer", variables, "for")
        name = read_name(expanded, "consumer", validate_name)
        declared = self._read_keys(CONSUMER, expanded, "a consumer", _CONSUMER_KEYS)
        config = {"durable_name": name, **declared, "name": name}
        if config["durable_name"] not in (name, None):
            raise expanded.error(f"the durable_name of consumer {name} must be equal to its name, or null")
        if config.get("filter_subject") and config.get("filter_subjects"):
            raise expanded.error(f"consumer {name} cannot have both filter_subject and filter_subjects")
        if config.get("direct") and (config["durable_name"] or not config.get("deliver_subject")):
            hint = "leave out direct, or set deliver_subject and `durable_name: null`"
            raise expanded.error(
                f"consumer {name} cannot be direct: that is for push consumers that are not durable", hint
            )
        _validate(CONSUMER, config, expanded)
        return Consumer(name, config, node.position, label)


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


def _refuse_empty(keys: Iterable[str], written: Mapping[str, Node], expanded: Mapping[str, Node]) -> None:
    """Raise BadInput where a variable leaves a label or the name of a place empty."""
    for key in keys:
        if key in expanded and expanded[key].value == "" and written[key].text:
            text = written[key].text
            raise written[key].error(f"{key} is empty: {text} has no value", "null stands for none")


def _read_flag(node: Node, key: str) -> bool:
    """Return a key of a stream that is true or false, and not part of its configuration."""
    flag = node.as_object("this").get(key)
    if flag is None or flag.value is None:
        return False
    if not isinstance(flag.value, bool):
        raise flag.error(f"{key} must be true or false")
    return flag.value


def _with_protection(config: Json, node: Node) -> Json:
    """Return the configuration with the mark of `protect: true`, or without it if the file says false."""
    if node.as_object("this").get("protect") is None:
        return config
    mark = "true" if _read_flag(node, "protect") else None
    return {**config, "metadata": {**(config.get("metadata") or {}), PROTECT: mark}}


def _read_old_name(node: Node, name: str) -> str:
    """Return the name that a stream has so far; empty if the file names none."""
    old_name = node.value.get("renamed_from")
    if old_name is None or old_name.value is None:
        return ""
    try:
        text = validate_name(old_name.as_text("renamed_from"), "stream")
    except ValueError as error:
        raise old_name.error(f"renamed_from: {error}") from None
    if text == name:
        raise old_name.error("renamed_from must be another name")
    return text


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


def _validate(schema: Schema, declared: Json, node: Node) -> None:
    """Validate a declared configuration as far as it goes: what exists may have other keys than the file."""
    validate_keys(schema, merge({}, declared), node.position, is_whole=False)
