"""Values of claims, which may be any JSON: a member of an unexpected type counts as missing."""

from typing import Any

Json = dict[str, Any]

ALL = "*"
"""The key of a revocation that applies to everybody."""


def as_object(value: Any) -> Json:
    """Return `value` if it is an object; else an empty object."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Return `value` if it is a list; else an empty list."""
    return value if isinstance(value, list) else []


def as_objects(value: Any) -> list[Json]:
    """Return a list's items, with an empty object in place of each item that is not an object."""
    return [as_object(item) for item in as_list(value)]


def as_text(value: Any) -> str:
    """Return `value` if it is a text; else an empty text."""
    return value if isinstance(value, str) else ""


def as_texts(value: Any) -> list[str]:
    """Return the items of a list that are texts."""
    return [item for item in as_list(value) if isinstance(item, str)]


def as_number(value: Any) -> int:
    """Return `value` if it is a whole number; else 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def set_or_drop(claims: Json, key: str, value: Any) -> None:
    """Set a member in place; remove it if the value is empty."""
    if value:
        claims[key] = value
    else:
        claims.pop(key, None)


def replace_members(claims: Json, members: Json) -> None:
    """Replace all members in place."""
    claims.clear()
    claims.update(members)


def map_signing_keys(nats: Json) -> dict[str, Json | None]:
    """Return the signing keys of an account's claims, each with its scope; None for a key without one."""
    keys: dict[str, Json | None] = {}
    for key in as_list(nats.get("signing_keys")):
        if isinstance(key, str):
            keys[key] = None
        elif isinstance(key, dict):
            keys[as_text(key.get("key"))] = key
    return keys


def compute_total_weights(targets: list[Json]) -> dict[str, int]:
    """Return the percentages that the targets of a mapping add up to, by cluster; empty for all clusters."""
    totals: dict[str, int] = {}
    for target in targets:
        cluster = as_text(target.get("cluster"))
        totals[cluster] = totals.get(cluster, 0) + get_weight(target)
    return totals


def get_weight(target: Json) -> int:
    """Return the percentage of messages that a target gets; claims without a weight mean 100."""
    return as_number(target.get("weight")) or 100


def find_revocation(revocations: Any, public: str, issued: int) -> str:
    """Return the key of the revocation that applies to a JWT, its public key or `*`; empty when none does.

    issued: the JWT's `iat`. A revocation applies to what was issued up to its own second (nats-server:
    isRevoked).
    """
    times = as_object(revocations)
    for key in (public, ALL):
        if key in times and as_number(times[key]) >= issued:
            return key
    return ""


def find_local_subject(imported: Json) -> str:
    """Return the subject that an import has in the importing account.

    The deprecated member `to` is a prefix for streams, and the exporter's subject for services.
    """
    subject, older_subject = as_text(imported.get("subject")), as_text(imported.get("to"))
    if renamed := as_text(imported.get("local_subject")):
        return renamed
    if older_subject and imported.get("type") != "service":
        return f"{older_subject.removesuffix('.')}.{subject}"
    return subject


def find_local_pattern(imported: Json) -> str:
    """Return the local subject of an import with `*` in place of `$1`."""
    tokens = find_local_subject(imported).split(".")
    return ".".join("*" if token.startswith("$") and token[1:].isdigit() else token for token in tokens)


def find_remote_subject(imported: Json) -> str:
    """Return the subject that an import has in the exporting account."""
    subject, older_subject = as_text(imported.get("subject")), as_text(imported.get("to"))
    if (
        older_subject
        and as_text(imported.get("type")) == "service"
        and not as_text(imported.get("local_subject"))
    ):
        return older_subject
    return subject
