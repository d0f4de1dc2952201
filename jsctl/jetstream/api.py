"""JetStream requests as lossless JSON: prefix and domain, API errors.

A response is the dictionary that the server sent, including fields that jsctl does not know; it never becomes
a typed object (ADR-1; nats-server: jetstream_api.go).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jsctl.base.command_lines import build_line
from jsctl.base.json_text import parse_json
from jsctl.errors import (
    ApiError,
    JsctlError,
    MalformedAnswer,
    NoJetStream,
    NoResponders,
    RequestTimeout,
    Unreachable,
)
from jsctl.jetstream.shape_check import Malformed
from jsctl.jetstream.shapes import check_answer, check_error
from jsctl.nats.connection import Connection
from jsctl.nats.error_codes import ErrorCode

Json = dict[str, Any]

_NO_JETSTREAM = (ErrorCode.NO_ACCOUNT, ErrorCode.NOT_ENABLED_FOR_ACCOUNT, ErrorCode.NOT_ENABLED)
"""API error codes that say that there is no JetStream for this login."""


def is_no_message(error: ApiError) -> bool:
    """Return whether an error of STREAM.MSG.GET means that the message does not exist. Some servers use the
    second code at the end of the stream's store."""
    return error.err_code in (ErrorCode.NO_MESSAGE_FOUND, ErrorCode.STREAM_MSG_DELETE_FAILED)


def is_conflict(error: ApiError) -> bool:
    """Return whether an error means that the last sequence of a subject is not the expected one."""
    return error.err_code in (
        ErrorCode.STREAM_WRONG_LAST_SEQUENCE,
        ErrorCode.STREAM_WRONG_LAST_SEQUENCE_CONSTANT,
    )


def is_transient(error: JsctlError) -> bool:
    """Return whether an error is temporary: a server or leader is unreachable, or starting."""
    return isinstance(error, Unreachable) or (isinstance(error, ApiError) and error.code in (500, 503))


def build_api_prefix(domain: str = "", prefix: str = "") -> str:
    """Return the subject prefix of the JetStream API: `$JS.API`, `$JS.<domain>.API`, or `prefix` itself."""
    if prefix:
        return prefix
    return f"$JS.{domain}.API" if domain else "$JS.API"


def parse_response(data: bytes, subject: str) -> Json:
    """Return the JSON object of an API response, without its `type`.

    All responses pass through here, so that later code can rely on their shape. Raises ApiError for an error
    in it, MalformedAnswer.
    """
    try:
        reply = parse_json(data, any_depth=True)
    except ValueError:
        raise MalformedAnswer(subject, "it is not JSON") from None
    if not isinstance(reply, dict):
        raise MalformedAnswer(subject, "it is not a JSON object")
    error = reply.get("error")
    try:
        if error is not None:
            check_error(error)
        else:
            check_answer(reply, subject)
    except Malformed as fault:
        raise MalformedAnswer(subject, str(fault)) from None
    if error is not None:
        from jsctl.jetstream.error_hints import find_hint

        code = int(error.get("err_code", 0))
        kind = NoJetStream if code in _NO_JETSTREAM else ApiError
        hint = find_hint(
            code, str(reply.get("stream") or "")
        )  # a stream that refuses a message says its name
        raise kind(int(error.get("code", 0)), code, str(error.get("description", "")), hint)
    reply.pop("type", None)
    return reply


def _build_timeout_error(subject: str, full: str) -> RequestTimeout:
    # While a stream has no leader, nobody answers for it (server: jetstream_api.go).
    is_of_stream = subject.count(".") > 1
    whose = "the stream has" if is_of_stream else "servers and streams have"
    return RequestTimeout(
        f"no answer from JetStream on {full}",
        f"{build_line('doctor')} shows whether {whose} a leader; the server may be busy, the domain cut off,"
        " or the subject not permitted for this account; --timeout waits longer",
    )


class Api:
    """The JetStream API of one account, in one domain or with one prefix. timeout: of requests, ns."""

    def __init__(
        self,
        connection: Connection,
        *,
        domain: str = "",
        prefix: str = "",
        timeout: int | None = None,
        trace: Callable[[str, str], None] | None = None,
        warn: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.connection = connection
        self.domain = domain
        self.prefix = build_api_prefix(domain, prefix)
        self.timeout = timeout or connection.settings.timeout  #: ns
        self.warn = warn  #: writes a sentence about a problem that is handled, for people
        self._trace = trace

    @property
    def own_domain(self) -> str:
        """The domain that answers; empty for none, and where a custom prefix hides it."""
        if self.domain or self.prefix != build_api_prefix():
            return self.domain
        return str(self.connection.server_info.get("domain") or "")

    def with_timeout(self, timeout: int) -> "Api":
        """Return this API with another timeout of requests, in ns."""
        from copy import copy  # only where it is needed

        other = copy(self)
        other.timeout = timeout
        return other

    async def call(
        self, subject: str, body: Mapping[str, Any] | None = None, *, timeout: int | None = None
    ) -> Json:
        """Send a request to `<prefix>.<subject>` and return the response without its `type`. timeout: ns.

        Raises ApiError, NoResponders, RequestTimeout, Denied, Unreachable.
        """
        return parse_response(await self.call_raw(subject, body, timeout), f"{self.prefix}.{subject}")

    async def call_each(self, subject: str, bodies: Sequence[Mapping[str, Any]]) -> list[Json]:
        """Send many requests together; return the responses in any order. The first one goes alone: what is
        wrong with it is wrong with all. Raises what `call` raises."""
        from jsctl.nats.replies import request_each

        replies = [await self.call(subject, bodies[0])]
        if len(bodies) == 1:
            return replies
        full = f"{self.prefix}.{subject}"
        payloads = [json.dumps(body).encode() for body in bodies[1:]]
        for payload in payloads:
            self.show(f">>> {full}", payload.decode())
        try:
            messages = await request_each(self.connection, full, payloads, timeout=self.timeout)
        except NoResponders:
            raise await self._build_no_responders_error() from None
        except RequestTimeout as error:
            raise _build_timeout_error(subject, full) from error
        for message in messages:
            self.show(f"<<< {full}", message.data.decode(errors="replace"))
        return replies + [parse_response(message.data, full) for message in messages]

    async def call_raw(
        self, subject: str, body: Mapping[str, Any] | None = None, timeout: int | None = None
    ) -> bytes:
        """Return the raw response to `<prefix>.<subject>`, errors included. timeout: ns.

        Raises what `call` raises, except ApiError.
        """
        full = f"{self.prefix}.{subject}"
        payload = json.dumps(body).encode() if body is not None else b""
        if self._trace:
            self._trace(f">>> {full}", payload.decode())
        try:
            message = await self.connection.request(full, payload, timeout=timeout or self.timeout)
        except NoResponders:
            raise await self._build_no_responders_error() from None
        except RequestTimeout as error:
            raise _build_timeout_error(subject, full) from error
        if self._trace:
            self._trace(f"<<< {full}", message.data.decode(errors="replace"))
        return message.data

    def show(self, subject: str, body: str) -> None:
        """Trace a request that does not go through `call`, if requests are traced."""
        if self._trace:
            self._trace(subject, body)

    async def _build_no_responders_error(self) -> NoResponders:
        if self.prefix == "$JS.API":
            return NoResponders(
                "JetStream is not enabled here: nobody answers on $JS.API",
                "use an account with JetStream, or name a domain with --js-domain",
            )
        return NoResponders(
            f"no JetStream answers on {self.prefix}",
            "check the domain or prefix, its leaf node connection and the import of its service",
        )
