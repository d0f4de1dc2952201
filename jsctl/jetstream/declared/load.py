"""Declared files: read, variables and loops worked out, checked as far as no server is needed.

label: logs                     # marks what is made here, for --prune
context: hub                    # for all streams of the document; each may have its own
domain: leaf
vars: {keep: 1d}
streams:
  - for: {i: 0..9}
    name: LOGS_{{i}}
    subjects: ["logs.p{{i}}.>"]
    max_age: "{{keep}}"
    consumers:
      - {name: TAIL, deliver_subject: "out.logs.p{{i}}"}
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from typing import Any

from jsctl.contexts.settings import check_subject
from jsctl.errors import BadInput
from jsctl.jetstream.consumer import config as consumer_config
from jsctl.jetstream.declared import schema
from jsctl.jetstream.declared.model import LABEL, Consumer, Declared, Json, Place, Stream
from jsctl.jetstream.declared.nodes import Node, documents
from jsctl.jetstream.declared.variables import Variables, expand, rounds, settled
from jsctl.jetstream.stream import config as configs
from jsctl.jetstream.stream.origins import origins_of

_DOCUMENT = ("label", "context", "domain", "vars", "streams")
_HEAD: tuple[str, ...] = ("label", "context", "domain")
_STREAM = frozenset({"for", "context", "domain", "consumers", "extra"})
_CONSUMER = frozenset({"for", "extra"})


def load(files: Iterable[tuple[str, str]], variables: Variables) -> Declared:
    """What the files (name and text of each) declare. variables: those of the command line, which win.

    Raises BadInput with file and line for what is wrong.
    """
    streams: list[Stream] = []
    labels: dict[Place, set[str]] = {}
    used: set[str] = set()
    for name, text in files:
        for document in documents(text, name):
            _read(document, variables, streams, labels, used)
    if unknown := sorted(variables.keys() - used):
        raise BadInput(f"--var {unknown[0]}: no file has this variable in its vars")
    _refuse_twins(streams)
    _refuse_cycles(streams)
    return Declared(tuple(streams), {place: frozenset(found) for place, found in labels.items()})


def _read(
    document: Node,
    variables: Variables,
    streams: list[Stream],
    labels: dict[Place, set[str]],
    used: set[str],
) -> None:
    keys = document.keys("a file of declared streams")
    for key, node in keys.items():
        if key not in _DOCUMENT:
            hint = f"at the top of a file are {', '.join(_DOCUMENT)}"
            raise node.error(f"unknown key {key!r}", hint)
    known: dict[str, Node] = {}
    if "vars" in keys and keys["vars"].value is not None:
        used.update(keys["vars"].keys("vars"))
        known = settled(keys["vars"], variables)
    head: dict[str, Node] = {key: expand(keys[key], known) for key in _HEAD if key in keys}
    label = head["label"].string("label") if "label" in head else ""
    place = _place(head, Place())
    before = len(streams)
    listed = keys.get("streams")
    for node in listed.items("streams") if listed and listed.value is not None else ():
        for round_ in rounds(_loop(node, "stream"), known):
            streams.append(_stream(node, round_, place, label))
    if label:
        # What a file no longer declares is looked for where it says, even when nothing is left there.
        places = {stream.place for stream in streams[before:]}
        if {"context", "domain"} & head.keys() or not places:
            places.add(place)
        for one in places:
            labels.setdefault(one, set()).add(label)


def _loop(node: Node, what: str) -> Node | None:
    return node.keys(f"a {what}").get("for")


def _stream(node: Node, known: Variables, place: Place, label: str) -> Stream:
    parts = {key: value for key, value in node.value.items() if key not in ("for", "consumers")}
    made = expand(node._replace(value=parts), known)
    name = schema.name_of(made, "stream")
    place = _place(made.value, place)
    config = _labelled({**schema.stream(made, _STREAM), "name": name}, label)
    _check(made, configs.problems(configs.with_defaults(schema.merge({}, config))))
    listed = node.value.get("consumers")
    consumers: list[Consumer] = []
    for one in listed.items("consumers") if listed and listed.value is not None else ():
        for round_ in rounds(_loop(one, "consumer"), known):
            consumers.append(_consumer(one, round_, label))
    _refuse_twice(consumers, name)
    return Stream(name, config, f"{node.file}:{node.line}", place, label, tuple(consumers))


def _consumer(node: Node, known: Variables, label: str) -> Consumer:
    parts = {key: value for key, value in node.value.items() if key != "for"}
    made = expand(node._replace(value=parts), known)
    name = schema.name_of(made, "consumer")
    config = {"durable_name": name, **schema.consumer(made, _CONSUMER), "name": name}
    if config["durable_name"] not in (name, None):
        raise made.error(f"the durable_name of consumer {name} is the name itself, or null")
    if config.get("filter_subject") and config.get("filter_subjects"):
        raise made.error(f"consumer {name} has filter_subject or filter_subjects, not both")
    _check(made, consumer_config.problems(consumer_config.with_defaults(schema.merge({}, config))))
    return Consumer(name, _labelled(config, label), f"{node.file}:{node.line}")


def _place(keys: Mapping[str, Node], below: Place) -> Place:
    found = below
    if "context" in keys:
        context = "" if keys["context"].value is None else keys["context"].string("context")
        found = replace(found, context=context, domain=None if context != found.context else found.domain)
    if "domain" in keys:
        domain = None if keys["domain"].value is None else keys["domain"].string("domain")
        try:
            check_subject("domain", domain or "")
        except BadInput as error:
            raise keys["domain"].error(error.message, error.hint) from None
        found = replace(found, domain=domain)
    return found


def _labelled(config: Json, label: str) -> Json:
    if not label:
        return config
    metadata: dict[str, Any] = {**(config.get("metadata") or {}), LABEL: label}
    return {**config, "metadata": metadata}


def _check(node: Node, wrong: list[str]) -> None:
    """The checks of add know flags, not lines."""
    if wrong:
        raise node.error("; ".join(wrong))


def _refuse_twice(consumers: list[Consumer], stream: str) -> None:
    seen: dict[str, Consumer] = {}
    for one in consumers:
        if one.name in seen:
            raise BadInput(
                f"{one.at}: consumer {stream} > {one.name} is declared twice", f"first in {seen[one.name].at}"
            )
        seen[one.name] = one


def _refuse_twins(streams: list[Stream]) -> None:
    seen: dict[tuple[Place, str], Stream] = {}
    for stream in streams:
        other = seen.setdefault((stream.place, stream.name), stream)
        if other is not stream:
            raise BadInput(f"{stream.at}: stream {stream.name} is declared twice", f"first in {other.at}")


def _refuse_cycles(streams: list[Stream]) -> None:
    """Streams of one place that copy from each other in a circle; the server refuses the last of them.

    Over domains it may be meant, each with filters of its own.
    """
    here = {(stream.place, stream.name): stream for stream in streams}
    above = {key: [one for one in _inner_origins(stream) if one in here] for key, stream in here.items()}
    try:
        TopologicalSorter(above).prepare()
    except CycleError as error:
        circle: list[tuple[Place, str]] = error.args[1]
        names = " -> ".join(name for _, name in circle)
        raise BadInput(f"{here[circle[-1]].at}: streams copy from each other in a circle: {names}") from None


def _inner_origins(stream: Stream) -> Iterator[tuple[Place, str]]:
    for origin in origins_of(stream.config):
        if not (origin.get("external") or {}).get("api"):
            yield stream.place, str(origin["name"])
