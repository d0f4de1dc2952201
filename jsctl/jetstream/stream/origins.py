"""Mirrors and sources: what a stream copies from, as flags write it and the server stores it.

ORDERS                          a stream of this account and domain
ORDERS@leaf                     in the JetStream domain leaf
ORDERS,api=JS.acc@hub.API,deliver=deliver.acc.hub   imported from another account
ORDERS@leaf,start=1000,filter=ORDERS.eu.>
{"name": "ORDERS", "external": {...}}               the server's own JSON
"""

import json
from collections.abc import Mapping
from typing import Any

from jsctl.errors import BadInput
from jsctl.nats.subjects import check_name
from jsctl.units import format_rfc3339

Json = dict[str, Any]

FORMS = (
    "NAME, NAME@DOMAIN, or NAME,key=value,... with the keys domain, api and deliver (prefixes of another"
    " account), start (a sequence or a time), filter (SUBJECT or SUBJECT:DESTINATION, may be repeated)"
)


def api_of(domain: str) -> str:
    """The API prefix of a domain, as `external.api` has it."""
    return f"$JS.{domain}.API"


def parse_origin(text: str) -> Json:
    """A mirror's or source's JSON object. Raises BadInput."""
    if text.lstrip().startswith("{"):
        return _from_json(text)
    head, *settings = text.split(",")
    name, at, domain = head.strip().partition("@")
    made: Json = {"name": name}
    if at:
        _external(made, api=api_of(_given(domain, text)))
    for setting in settings:
        key, mark, value = setting.partition("=")
        if not mark or not value:
            raise BadInput(f"{text!r}: {setting!r} is not key=value", f"it may be {FORMS}")
        _set(made, key.strip(), value.strip(), text)
    return check_origin(made)


def origins_of(config: Json) -> list[Json]:
    """The mirror and the sources of a stream's configuration."""
    return [one for one in (config.get("mirror"), *(config.get("sources") or [])) if isinstance(one, dict)]


def check_origin(origin: Json) -> Json:
    """The origin itself, when its name is one. Raises BadInput."""
    try:
        check_name(str(origin.get("name") or ""))
    except ValueError as error:
        raise BadInput(f"a mirror or source: {error}") from None
    return origin


def import_from(origin: Json, *, domain: str = "", api: str = "", deliver: str = "") -> Json:
    """A copy of `origin` that is imported from a domain, or from where another account's API is."""
    made = dict(origin)
    if domain and api:
        raise BadInput("--mirror-domain and --mirror-api-prefix exclude each other")
    if domain or api:
        _external(made, api=api or api_of(domain))
    if deliver:
        _external(made, deliver=deliver)
    return made


def starting(origin: Json, start: str) -> Json:
    """A copy of `origin` that starts at a sequence (`1000`) or time (RFC 3339). Raises ValueError."""
    made = {key: value for key, value in origin.items() if key not in ("opt_start_seq", "opt_start_time")}
    if start.isdigit():
        return {**made, "opt_start_seq": int(start)} if int(start) else made
    return {**made, "opt_start_time": format_rfc3339(start)}


def filtering(origin: Json, wanted: str) -> Json:
    """A copy of `origin` with one more filter: SUBJECT, or SUBJECT:DESTINATION to rename it."""
    subject, _, destination = wanted.partition(":")
    transform = {"src": subject, "dest": destination}
    return {**origin, "subject_transforms": [*origin.get("subject_transforms", []), transform]}


def is_imported(origin: Mapping[str, Any]) -> bool:
    """Whether it says where it comes from."""
    return bool(origin.get("external"))


def has_start(origin: Mapping[str, Any]) -> bool:
    """Whether it says where it starts (a durable consumer on the other side does, too)."""
    return any(key in origin for key in ("opt_start_seq", "opt_start_time", "consumer"))


def _from_json(text: str) -> Json:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise BadInput(f"{text!r} is not JSON: {error}") from None
    if not isinstance(found, dict) or not found.get("name"):
        raise BadInput(f"{text!r} has no name")
    return check_origin(found)


def _set(made: Json, key: str, value: str, text: str) -> None:
    match key:
        case "domain":
            _external(made, api=api_of(value))
        case "api":
            _external(made, api=value)
        case "deliver":
            _external(made, deliver=value)
        case "start":
            try:
                made.update(starting({}, value))
            except ValueError:
                raise BadInput(f"{text!r}: {value!r} is neither a sequence nor a time") from None
        case "filter":
            made.update(filtering(made, value))
        case _:
            raise BadInput(f"{text!r}: no setting {key!r}", f"it may be {FORMS}")


def _external(made: Json, *, api: str = "", deliver: str = "") -> None:
    external = dict(made.get("external") or {})
    if api:
        external["api"] = api
    if deliver:
        external["deliver"] = deliver
    made["external"] = external


def _given(domain: str, text: str) -> str:
    if not domain:
        raise BadInput(f"{text!r}: no domain after @")
    return domain
