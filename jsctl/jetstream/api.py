"""JetStream requests as lossless JSON: prefix and domain, API errors, paging.

A reply's dictionary is what the server said, with fields that jsctl has never heard of; nothing is
turned into a typed object on the way (ADR-1; nats-server's jetstream_api.go).
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from jsctl.errors import ApiError, JsctlError, NoResponders, RequestTimeout
from jsctl.jetstream.client import Connection

Json = dict[str, Any]

_HINTS = {
    10008: "the JetStream system is not ready; try again",
    10014: "the consumer is not there; jsctl consumer ls shows what is",
    10023: "the account or server lacks resources; jsctl account info shows the limits",
    10025: "the server does not know a field; is the configuration for a newer one?",
    10026: "the stream has as many consumers as it may",
    10028: "raise the account's storage limit or make room",
    10035: "JetStream is off in this account; is it the right user?",
    10039: "JetStream is not enabled for this account",
    10047: "raise the account's storage limit or make room",
    10058: "a stream of that name has another configuration; jsctl stream edit changes it",
    10059: "jsctl stream ls shows what is there",
    10065: "another stream takes these subjects; jsctl stream find and subjects show which",
    10076: "JetStream is off on this server",
    10128: "the reply came from a server that holds no replica",
}


def api_prefix(domain: str = "", prefix: str = "") -> str:
    """The subject prefix of the JetStream API: `$JS.API`, `$JS.<domain>.API`, or `prefix` itself."""
    if prefix:
        return prefix
    return f"$JS.{domain}.API" if domain else "$JS.API"


class Api:
    """The JetStream API of one account, in one domain or behind one prefix."""

    def __init__(
        self,
        connection: Connection,
        *,
        domain: str = "",
        prefix: str = "",
        timeout: int | None = None,
        trace: Callable[[str, str], None] | None = None,
    ) -> None:
        self.connection = connection
        self.domain = domain
        self.prefix = api_prefix(domain, prefix)
        self.timeout = timeout or connection.settings.timeout  #: ns
        self._trace = trace

    async def call(
        self, subject: str, body: Mapping[str, Any] | None = None, *, timeout: int | None = None
    ) -> Json:
        """The reply to `<prefix>.<subject>` without its `type`. Raises ApiError, and what
        Connection.request raises with the cause that fits JetStream."""
        full = f"{self.prefix}.{subject}"
        payload = json.dumps(body).encode() if body is not None else b""
        if self._trace:
            self._trace(f">>> {full}", payload.decode())
        try:
            message = await self.connection.request(full, payload, timeout=timeout or self.timeout)
        except NoResponders:
            raise await self._nobody() from None
        except RequestTimeout as error:
            raise RequestTimeout(
                f"no answer from JetStream on {full}",
                "a busy server, a domain that is cut off, or a subject that this account may not use;"
                " --timeout waits longer",
            ) from error
        if self._trace:
            self._trace(f"<<< {full}", message.data.decode(errors="replace"))
        return self.parse(message.data, full)

    def show(self, subject: str, body: str) -> None:
        """With --trace, a request that does not go through `call`."""
        if self._trace:
            self._trace(subject, body)

    @staticmethod
    def parse(data: bytes, subject: str) -> Json:
        """A reply's JSON. Raises ApiError where it holds an error."""
        try:
            reply = json.loads(data)
        except ValueError:
            raise JsctlError(f"the reply on {subject} is not JSON") from None
        if not isinstance(reply, dict):
            raise JsctlError(f"the reply on {subject} is not a JSON object")
        error = reply.get("error")
        if isinstance(error, dict):
            number = int(error.get("err_code", 0))
            raise ApiError(
                int(error.get("code", 0)), number, str(error.get("description", "")), _HINTS.get(number, "")
            )
        reply.pop("type", None)
        return reply

    async def pages(self, subject: str, key: str, body: Mapping[str, Any] | None = None) -> list[Any]:
        """All items of a paged list; see `replies`. `key` is where a reply keeps its items."""
        return [item for reply in await self.replies(subject, key, body) for item in reply.get(key) or []]

    async def replies(self, subject: str, key: str, body: Mapping[str, Any] | None = None) -> list[Json]:
        """All pages of a list: the first, then all others at once.

        Lists say `total`; the page size is what the first reply says in `limit`. Items that come or go
        meanwhile may be missed or seen twice.
        """
        first = await self.call(subject, {**(body or {}), "offset": 0})
        count = len(first.get(key) or [])
        total, limit = int(first.get("total", 0)), int(first.get("limit", 0)) or count
        if not count or total <= count:
            return [first]
        gate = asyncio.Semaphore(16)

        async def page(offset: int) -> Json:
            async with gate:
                return await self.call(subject, {**(body or {}), "offset": offset})

        return [first, *await asyncio.gather(*(page(at) for at in range(limit, total, limit)))]

    async def _nobody(self) -> NoResponders:
        if self.prefix == "$JS.API":
            return NoResponders(
                "JetStream is not enabled here: nobody answers on $JS.API",
                "use an account with JetStream, or name a domain with --js-domain",
            )
        return NoResponders(
            f"no JetStream answers on {self.prefix}",
            "is the domain or prefix right, its leaf node connected, the service imported?",
        )
