"""The schema of the newest payload of what is read, from the schema registry that has it."""

import base64
from collections.abc import Iterator
from dataclasses import replace

from jsctl.errors import ApiError, BadInput
from jsctl.jetstream.api import Json, is_no_message
from jsctl.nats.subjects import covers
from jsctl.spark.decoding.model import Decoding
from jsctl.spark.decoding.registry_decoder import find_definition
from jsctl.spark.source import plan, stream_names
from jsctl.spark.source.connection import StreamConnection
from jsctl.spark.source.options import ReadOptions
from jsctl.spark.source.planning import with_connection

_ATTEMPTS = 100
"""Number of messages in which an id is looked for: a bucket has markers without one."""


def find_newest_schema(options: ReadOptions, decoding: Decoding) -> Decoding:
    """Return `decoding` with the schema of the newest payload that names one.

    Raises BadInput when there is none, and what `registry_decoder.fetch_definition` raises.
    """
    payloads = with_connection(options, lambda connection: list(_list_payloads(connection, options)))
    for payload in payloads:
        if definition := find_definition(decoding, payload):
            schema, message = definition
            return replace(decoding, schema=schema, message=decoding.message or message)
    name = options.stream or ", ".join(options.streams)
    raise BadInput(f"no message of {name} begins with the id of a schema", "give the schema as a file")


def _list_payloads(connection: StreamConnection, options: ReadOptions) -> Iterator[bytes]:
    """Yield the newest payloads of each stream, the newest first, as far as they are needed."""
    for name in stream_names.list_existing_stream_names(connection, options):
        one = options.select_stream(name)
        info = plan.fetch_info(connection, one)
        last, first = int(info["state"]["last_seq"]), int(info["state"]["first_seq"])
        for sequence in range(last, max(first, last - _ATTEMPTS + 1) - 1, -1):
            message = _fetch(connection, one, {"seq": sequence})
            if message and _is_wanted(one, message["subject"]) and message.get("data"):
                yield base64.b64decode(message["data"])
                break
        else:
            for subject in one.subjects:
                if message := _fetch(connection, one, {"last_by_subj": subject}):
                    yield base64.b64decode(message.get("data") or "")


def _is_wanted(options: ReadOptions, subject: str) -> bool:
    return not options.subjects or any(covers(pattern, subject) for pattern in options.subjects)


def _fetch(connection: StreamConnection, options: ReadOptions, body: Json) -> Json | None:
    """Return a message; None when there is none."""
    try:
        verb = f"{options.prefix}.STREAM.MSG.GET.{options.stream}"
        message: Json = connection.call(verb, body, options.timeout)["message"]
    except ApiError as error:
        if is_no_message(error):
            return None
        raise
    return message
