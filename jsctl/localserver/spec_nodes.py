"""Readers of the values in a network's description, also of exports, imports and limits. Their
errors name file and line.

noun: what an error message calls the value.
"""

import re
from collections.abc import Collection, Mapping

from jsctl.base.similar_names import find_nearest
from jsctl.base.units import parse_bytes
from jsctl.contexts.store import is_name
from jsctl.jetstream.config.nodes import Node
from jsctl.localserver.spec import Json

LIMITS: Mapping[str, str] = {
    "max_memory": "mem_storage",
    "max_mem": "mem_storage",
    "max_file": "disk_storage",
    "max_store": "disk_storage",
    "max_streams": "streams",
    "max_consumers": "consumer",
    "max_ack_pending": "max_ack_pending",
    "max_bytes_required": "max_bytes_required",
    "mem_max_stream_bytes": "mem_max_stream_bytes",
    "disk_max_stream_bytes": "disk_max_stream_bytes",
}
"""nats-server's options of an account's JetStream (server/opts.go: parseJetStreamForAccount) -> the claim."""

_COUNTS = ("max_streams", "max_consumers", "max_ack_pending")
_THOUSANDS = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_FLAGS = ("max_bytes_required",)


def read_keys(node: Node, noun: str, known_keys: Collection[str]) -> dict[str, Node]:
    """Return the members of an object that are not null. Raises BadInput for an unknown key."""
    keys = node.as_object(noun)
    for key, value in keys.items():
        if key not in known_keys:
            raise value.error(f"{noun} has no key {key!r}", find_hint(key, known_keys))
    return {key: value for key, value in keys.items() if value.value is not None}


def read_items(node: Node | None, noun: str) -> list[Node]:
    """Return the items of a list; an empty list without a node. Raises BadInput."""
    return node.as_list(noun) if node is not None else []


def read_object(node: Node, noun: str) -> Json:
    """Return an object as JSON. Raises BadInput."""
    node.as_object(noun)
    value: Json = node.to_json()
    return value


def read_flag(node: Node | None, noun: str) -> bool:
    """Return true or false; false without a node. Raises BadInput."""
    if node is None:
        return False
    if not isinstance(node.value, bool):
        raise node.error(f"{noun} must be true or false")
    return node.value


def read_name(node: Node, noun: str) -> str:
    """Return a name. Raises BadInput for an invalid one."""
    return check_name(node, node.as_text(noun), noun)


def check_name(node: Node, name: str, noun: str) -> str:
    """Return `name`. Raises BadInput at the node for an invalid one."""
    if not is_name(name) or not name.isprintable() or any(char in " .*>{}#\"'@$\\" for char in name):
        raise node.error(f"{name!r} is not a valid name of {noun}", "use letters, digits and dashes")
    return name


def read_choice(node: Node, choices: Collection[str], noun: str) -> str:
    """Return one of `choices`. Raises BadInput for another text."""
    name = node.as_text(noun)
    if name not in choices:
        raise node.error(f"there is no {noun} {name!r}", find_hint(name, choices, " or "))
    return name


def find_hint(name: str, names: Collection[str], mark: str = ", ") -> str:
    """Return a hint about a name that is not among `names`. mark: between them."""
    nearest = find_nearest(name, names)
    return f"did you mean {nearest}?" if nearest else f"use {mark.join(names)}"


def read_limits(node: Node) -> Json:
    """Return the limits of an account's JetStream by option; sizes in bytes. Raises BadInput."""
    return {option: _parse_limit(option, limit) for option, limit in node.as_object("jetstream").items()}


def _parse_limit(option: str, node: Node) -> int | bool:
    if option not in LIMITS:
        raise node.error(f"jetstream of an account has no key {option!r}", find_hint(option, LIMITS))
    value = node.value
    if option in _FLAGS:
        if not isinstance(value, bool):
            raise node.error(f"{option} must be true or false")
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value >= -1:
        return value
    if option not in _COUNTS and isinstance(value, str):
        return _parse_bytes(node, option)
    raise node.error(
        f"{option} must be a number" if option in _COUNTS else f"{option} must be a size, such as 1GB"
    )


def _parse_bytes(node: Node, option: str) -> int:
    """Parse a size in bytes: 1G and the like as nats-server does, which reads them as decimal, other units as
    jsctl does."""
    text = node.as_text(option).strip()
    if match := re.fullmatch(r"(\d{1,15})([kKmMgGtT])", text):
        return int(match[1]) * _THOUSANDS[match[2].lower()]
    try:
        return parse_bytes(text)
    except ValueError as error:
        raise node.error(f"{option}: {error}") from None


def read_export(node: Node) -> Json:
    """Return an export. Raises BadInput."""
    kind, subject = _get_shared_subject(node, "an export")
    subject.as_text(f"the {kind} of an export")
    return read_object(node, "an export")


def read_import(node: Node, accounts: Collection[str]) -> Json:
    """Return an import. accounts: the names of all. Raises BadInput."""
    kind, origin = _get_shared_subject(node, "an import")
    example = f"write {{{kind}: {{account: ACCOUNT, subject: SUBJECT}}, to: SUBJECT}}"
    parts = origin.value if isinstance(origin.value, dict) else {}
    if not {"account", "subject"} <= parts.keys():
        raise origin.error("an import needs an account and a subject", example)
    parts["subject"].as_text("the subject of an import")
    name = parts["account"].as_text("the account of an import")
    if name not in accounts:
        raise parts["account"].error(f"there is no account {name!r}", find_hint(name, accounts, " or "))
    return read_object(node, "an import")


def _get_shared_subject(node: Node, noun: str) -> tuple[str, Node]:
    keys = node.as_object(noun)
    kinds = [kind for kind in ("service", "stream") if kind in keys]
    if len(kinds) != 1:
        raise node.error(f"{noun} must have either service or stream")
    return kinds[0], keys[kinds[0]]
