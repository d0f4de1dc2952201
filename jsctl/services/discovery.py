"""Discovery of services of the micro protocol (ADR-32): their instances on $SRV, their endpoints, and their
statistics.
"""

from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any

from jsctl import registry
from jsctl.base.command_lines import build_line
from jsctl.base.json_text import parse_json
from jsctl.base.units import MS, pluralize
from jsctl.errors import JsctlError, NoResponders, NotFound
from jsctl.jetstream.api import Api, Json
from jsctl.nats.connection import Connection
from jsctl.nats.message import OutgoingMessage
from jsctl.nats.replies import request_many
from jsctl.nats.requests import ReplyLimits, send_request

PREFIX = "$SRV"
SILENCE = 300 * MS
"""Time without another reply (ns) after which all instances have answered."""

_MAX_REPLIES = 1 << 30  #: replies
_MAX_WARNINGS = 10  #: malformed replies
_TYPES = {
    "PING": "io.nats.micro.v1.ping_response",
    "INFO": "io.nats.micro.v1.info_response",
    "STATS": "io.nats.micro.v1.stats_response",
}
_TEXTS = ("name", "id", "version", "description", "started")
_ENDPOINT_NUMBERS = ("num_requests", "num_errors", "processing_time", "average_processing_time")
_ENDPOINT_TEXTS = ("name", "subject", "queue_group", "last_error")


def build_verb_subject(verb: str, service: str = "", instance: str = "") -> str:
    """Return the subject of requests to all services, those with a name, or one instance. verb: PING, INFO or
    STATS."""
    return ".".join(part for part in (PREFIX, verb, service, instance) if part)


def validate_service(name: str) -> str:
    """Return a service's name. Raises NotFound for a name that a service cannot have."""
    if not name or any(c.isspace() or c in ".*>" or c < " " for c in name):
        raise NotFound(*registry.find_noun("service").missing(name))
    return name


async def gather(
    connection: Connection,
    verb: str,
    service: str = "",
    instance: str = "",
    *,
    silence: int = SILENCE,
    warn: Callable[[str], None],
) -> list[Json]:
    """Send a request, and return all replies, sorted by service and instance, after `silence` ns without one.

    warn: called with a sentence about each malformed reply. Raises NotFound for a name or an instance that
    does not exist, JsctlError when all replies are malformed.
    """
    subject = build_verb_subject(verb, service, instance)
    try:
        replies = await request_many(connection, subject, stall=silence)
    except NoResponders:
        replies = []
    if service and not replies:  # also when a subscriber does not answer
        if instance:
            raise NotFound(
                f"service {service} has no instance {instance}",
                f"{build_line('service list', service)} lists them",
            )
        raise await build_missing_error(connection, service)
    documents: list[Json] = []
    malformed: list[str] = []
    for reply in replies:
        try:
            documents.append(parse_reply(verb, reply.data))
        except ValueError as error:
            malformed.append(str(error))
    _warn_about(malformed, warn)
    if malformed and not documents:
        raise JsctlError(
            f"no reply on {subject} follows the service protocol", f"{build_line('request')} shows them"
        )
    return sorted(documents, key=lambda document: (document["name"], document["id"]))


async def ping(
    connection: Connection, service: str = "", *, silence: int = SILENCE, warn: Callable[[str], None]
) -> list[tuple[str, str, int]]:
    """Ping services. Returns name, instance and round-trip time in ns of each, the fastest first.

    Raises NotFound for a name that does not exist.
    """
    limits = ReplyLimits(replies=_MAX_REPLIES, gap=silence, timeout=connection.settings.timeout)
    message = OutgoingMessage(build_verb_subject("PING", service), b"")
    answers: list[tuple[str, str, int]] = []
    malformed: list[str] = []
    try:
        async with aclosing(send_request(connection, message, limits)) as replies:
            async for reply, rtt in replies:
                if rtt > limits.timeout:  # somebody replies without end
                    break
                try:
                    document = parse_reply("PING", reply.data)
                    answers.append((document["name"], document["id"], rtt))
                except ValueError as error:
                    malformed.append(str(error))
    except NoResponders:
        pass
    _warn_about(malformed, warn)
    if service and not answers:
        raise await build_missing_error(connection, service)
    return answers


def _warn_about(malformed: Sequence[str], warn: Callable[[str], None]) -> None:
    """Call `warn` with the problems of the first malformed replies, and with the number of all."""
    for text in malformed[:_MAX_WARNINGS]:
        warn(f"jsctl: ignored a reply: {text}")
    if len(malformed) > _MAX_WARNINGS:
        warn(f"jsctl: ignored {pluralize(len(malformed), 'reply')} in total")


async def build_missing_error(connection: Connection, service: str) -> NotFound:
    """Return the error for a service that is not running."""
    names = await _fetch_names(connection)
    return NotFound(*registry.find_noun("service").missing(service, existing=names))


async def list_names(api: Api) -> list[str]:
    """Return the names of all services that answer."""
    return await _fetch_names(api.connection)


async def _fetch_names(connection: Connection) -> list[str]:
    documents = await gather(connection, "PING", warn=lambda text: None)
    return sorted({document["name"] for document in documents})


def parse_reply(verb: str, data: bytes) -> Json:
    """Parse one reply. Raises ValueError, with the name of the service if known."""
    try:
        document = parse_json(data)
    except ValueError:
        raise ValueError("it is not JSON") from None
    if not isinstance(document, dict):
        raise ValueError("it is not a JSON object")
    sender = " ".join(str(document.get(key, "?"))[:60] for key in ("name", "id"))
    if document.get("type") != _TYPES[verb]:
        raise ValueError(f"{sender}: its type is {str(document.get('type'))[:60]!r}, not {_TYPES[verb]}")
    for key in _TEXTS:
        if not isinstance(document.get(key) or "", str):
            raise ValueError(f"{sender}: {key} is not a text")
    for key in ("name", "id", "version"):
        if not document.get(key):
            raise ValueError(f"{sender}: {key} is missing")
    _check_metadata(document, sender)
    endpoints = document.get("endpoints") or []
    if not isinstance(endpoints, list):
        raise ValueError(f"{sender}: endpoints is not a list")
    for endpoint in endpoints:
        _check_endpoint(endpoint, sender)
    document["endpoints"] = endpoints
    return document


def _check_endpoint(endpoint: Any, sender: str) -> None:
    if not isinstance(endpoint, dict) or not isinstance(endpoint.get("name"), str):
        raise ValueError(f"{sender}: an endpoint has no name")
    for key in _ENDPOINT_TEXTS:
        if not isinstance(endpoint.get(key) or "", str):
            raise ValueError(f"{sender}: {key} of an endpoint is not a text")
    for key in _ENDPOINT_NUMBERS:
        value = endpoint.get(key)
        if value is not None and (type(value) is not int or abs(value) >= 1 << 63):
            raise ValueError(f"{sender}: {key} of an endpoint is not a number")
    _check_metadata(endpoint, sender)


def _check_metadata(document: Json, sender: str) -> None:
    metadata = document.get("metadata") or {}
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise ValueError(f"{sender}: metadata is not an object of texts")


def find_endpoint(info: Json, name: str) -> Json:
    """Return an endpoint of a service's info. Raises NotFound."""
    for endpoint in info["endpoints"]:
        if endpoint["name"] == name:
            return dict(endpoint)
    endpoint_names = ", ".join(endpoint["name"] for endpoint in info["endpoints"]) or "none"
    raise NotFound(f"service {info['name']} has no endpoint {name}", f"its endpoints: {endpoint_names}")
