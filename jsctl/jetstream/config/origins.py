"""Mirrors and sources: the streams that a stream copies from, as written in flags and stored by the server.

ORDERS                          a stream of this account and domain
ORDERS@leaf                     in the JetStream domain leaf
ORDERS,api=JS.acc@hub.API,deliver=deliver.acc.hub   imported from another account
ORDERS@leaf,start=1000,filter=ORDERS.eu.>
{"name": "ORDERS", "external": {...}}               the server's own JSON
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from jsctl.base.json_text import parse_json
from jsctl.base.units import format_rfc3339
from jsctl.errors import BadInput
from jsctl.jetstream.config.field import ExtraFlag, Field
from jsctl.jetstream.config.kind import Json, KeepKey, Text, refuse_unknown
from jsctl.jetstream.config.kinds import ListOf, Subject, Time
from jsctl.jetstream.config.nodes import Node
from jsctl.jetstream.config.numbers import Number
from jsctl.jetstream.config.schema import Object
from jsctl.nats.subjects import validate_name

_FORMS = (
    "NAME, NAME@DOMAIN, or NAME,key=value,... with the keys domain, api and deliver (prefixes of another"
    " account), start (a sequence or a time), filter (SUBJECT or SUBJECT:DESTINATION, may be repeated)"
)


def domain_to_api(domain: str) -> str:
    """Return the API prefix of a domain, as `external.api` has it."""
    return f"$JS.{domain}.API"


def api_to_domain(api: str) -> str:
    """Return the domain of an API prefix; empty for a custom prefix."""
    return api[4:-4] if api.startswith("$JS.") and api.endswith(".API") and len(api) > 8 else ""


def parse_origin(text: str) -> Json:
    """Parse a mirror or source into its JSON object. Raises BadInput."""
    if text.lstrip().startswith("{"):
        return _from_json(text)
    head, *settings = text.split(",")
    name, at, domain = head.strip().partition("@")
    origin: Json = {"name": name}
    if at:
        if not domain:
            raise BadInput(f"{text!r}: the domain after @ is missing")
        _set_external(origin, api=domain_to_api(domain))
    for setting in settings:
        key, mark, value = setting.partition("=")
        if not mark or not value:
            raise BadInput(f"{text!r}: {setting!r} is not key=value", f"write {_FORMS}")
        _apply_setting(origin, key.strip(), value.strip(), text)
    return _check_name(origin)


def format_origin(origin: Json) -> str:
    """Return a text that `parse_origin` parses: the short form, or JSON if that cannot express it."""
    external = origin.get("external") or {}
    api = str(external.get("api") or "")
    domain = api_to_domain(api)
    parts = [f"{origin['name']}@{domain}" if domain else str(origin["name"])]
    if api and not domain:
        parts.append(f"api={api}")
    if deliver := external.get("deliver"):
        parts.append(f"deliver={deliver}")
    if start := origin.get("opt_start_seq") or origin.get("opt_start_time"):
        parts.append(f"start={start}")
    for transform in origin.get("subject_transforms") or []:
        source, destination = transform.get("src"), transform.get("dest")
        parts.append(f"filter={source}:{destination}" if destination else f"filter={source}")
    text = ",".join(parts)
    return text if parse_origin(text) == origin else json.dumps(origin, ensure_ascii=False)


def list_origins(config: Json) -> list[Json]:
    """Return the mirror and the sources of a stream's configuration."""
    origins = (config.get("mirror"), *(config.get("sources") or []))
    return [origin for origin in origins if isinstance(origin, dict)]


def list_origin_filters(origin: Mapping[str, Any]) -> list[str]:
    """Return the subjects that a mirror or source copies; empty for all."""
    single = str(origin.get("filter_subject") or "")
    transforms = origin.get("subject_transforms") or ()
    return [str(transform.get("src") or ">") for transform in transforms] or [single] * bool(single)


def pair_origins(info: Json) -> Iterator[tuple[Json, Json]]:
    """Yield the configuration of a stream's mirror and of each source with its part of the stream's info,
    empty for none. The server changes the order of `sources` from call to call."""
    config = info["config"]
    if mirror := config.get("mirror"):
        yield mirror, info.get("mirror") or {}
    states = list(info.get("sources") or ())
    for source in config.get("sources") or ():
        state = next((state for state in states if _get_key(state) == _get_key(source)), None)
        if state is not None:
            states.remove(state)
        yield source, state or {}


def find_reached(info: Json, state: Mapping[str, Any]) -> int | None:
    """Return the origin's sequence up to which a mirror or source has copied; None if the server of a source
    (before 2.15) does not say. info: the copying stream's. state: of one origin, a part of it."""
    last = int((info.get("state") or {}).get("last_seq", 0))
    if info.get("mirror") or not last:  # servers leave out a 0
        return last
    return int(state["seq"]) if "seq" in state else None


def _get_key(origin: Mapping[str, Any]) -> tuple[Any, ...]:
    external = origin.get("external") or {}
    return (
        origin.get("name"),
        external.get("api") or "",
        origin.get("filter_subject") or "",
        repr(origin.get("subject_transforms") or []),
    )


def import_from(origin: Json, *, domain: str = "", api: str = "", deliver: str = "") -> Json:
    """Return a copy of `origin` that is imported from a domain, or from another account's API prefix."""
    imported = dict(origin)
    if domain and api:
        raise BadInput("--mirror-domain and --mirror-api-prefix cannot be used together")
    if domain or api:
        _set_external(imported, api=api or domain_to_api(domain))
    if deliver:
        _set_external(imported, deliver=deliver)
    return imported


def with_start(origin: Json, start: str) -> Json:
    """Return a copy of `origin` that starts at a sequence (`1000`) or time (RFC 3339). Raises ValueError."""
    without_start = {
        key: value for key, value in origin.items() if key not in ("opt_start_seq", "opt_start_time")
    }
    if start.isdigit():
        return {**without_start, "opt_start_seq": int(start)} if int(start) else without_start
    return {**without_start, "opt_start_time": format_rfc3339(start)}


def with_filter(origin: Json, text: str) -> Json:
    """Return a copy of `origin` with one more filter: SUBJECT, or SUBJECT:DESTINATION to rename it."""
    subject, _, destination = text.partition(":")
    transform = {"src": subject, "dest": destination}
    return {**origin, "subject_transforms": [*origin.get("subject_transforms", []), transform]}


def is_imported(origin: Mapping[str, Any]) -> bool:
    """Return whether an origin is imported from another domain or account."""
    return bool(origin.get("external"))


def has_start(origin: Mapping[str, Any]) -> bool:
    """Return whether an origin has a start (a durable consumer on the other side determines one, too)."""
    return any(key in origin for key in ("opt_start_seq", "opt_start_time", "consumer"))


_KEYS = (
    Field("name", Text()),
    Field("opt_start_seq", Number()),
    Field("opt_start_time", Time()),
    Field("filter_subject", Subject()),
    Field("subject_transforms", ListOf(Object((Field("src", Text()), Field("dest", Text()))))),
    Field("external.api", Text()),
    Field("external.deliver", Text()),
    Field("consumer.name", Text()),
    Field("consumer.deliver_subject", Text()),
)


class Origin(Object):
    """A mirror or source: an object, or text as in flags."""

    metavar = "STREAM"
    takes = "an object with a name"

    def __init__(self) -> None:
        super().__init__(_KEYS, needs=("name",))

    def parse(self, text: str) -> Json:
        return parse_origin(text)

    def to_flag_texts(self, value: Any) -> list[str]:
        return [format_origin(value)]

    def read(
        self, node: Node, key: str, *, keep: KeepKey = refuse_unknown, ignored: frozenset[str] = frozenset()
    ) -> Json:
        if not isinstance(node.value, dict):
            text = node.as_text(key)
            try:
                return parse_origin(text)
            except BadInput as error:
                raise node.error(error.message, error.hint) from None
        origin = super().read(node, key, keep=keep, ignored=ignored)
        try:
            validate_name(str(origin["name"]))
        except ValueError as error:
            raise node.value["name"].error(str(error)) from None
        return origin


def _from_json(text: str) -> Json:
    try:
        origin = parse_json(text)
    except ValueError as error:
        raise BadInput(f"{text!r} is not JSON: {error}") from None
    if not isinstance(origin, dict) or not origin.get("name"):
        raise BadInput(f"{text!r} has no name")
    return _check_name(origin)


def _check_name(origin: Json) -> Json:
    try:
        validate_name(str(origin.get("name") or ""))
    except ValueError as error:
        raise BadInput(f"a mirror or source: {error}") from None
    return origin


def _apply_setting(origin: Json, key: str, value: str, text: str) -> None:
    match key:
        case "domain":
            _set_external(origin, api=domain_to_api(value))
        case "api":
            _set_external(origin, api=value)
        case "deliver":
            _set_external(origin, deliver=value)
        case "start":
            if value == "0":  # as of a script's empty variable; it would copy everything
                raise BadInput(f"{text!r}: sequences start at 1", "leave out start to copy everything")
            try:
                origin.update(with_start({}, value))
            except ValueError:
                raise BadInput(f"{text!r}: {value!r} is neither a sequence nor a time") from None
        case "filter":
            origin.update(with_filter(origin, value))
        case _:
            raise BadInput(f"{text!r}: unknown setting {key!r}", f"write {_FORMS}")


def _set_external(origin: Json, *, api: str = "", deliver: str = "") -> None:
    external = dict(origin.get("external") or {})
    if api:
        external["api"] = api
    if deliver:
        external["deliver"] = deliver
    origin["external"] = external


IMPORT_FLAGS = tuple(
    ExtraFlag(flag, Text(), help, metavar=metavar, default="")
    for flag, help, metavar in (
        ("mirror-domain", "JetStream domain that --mirror is in", "DOMAIN"),
        ("mirror-api-prefix", "API prefix of the account that --mirror is in", "PREFIX"),
        ("mirror-deliver-prefix", "Prefix of the subjects that --mirror is delivered on", "PREFIX"),
    )
)
"""Flags for the location of a mirror's origin, for `import_from`."""
