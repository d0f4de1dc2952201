"""Requests to the JetStream API of all accounts, as the system account sees them."""

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from jsctl.base.json_text import parse_json
from jsctl.nats.message import Message

SUBJECT = "$JS.API.>"

_REQUESTS = (
    "INFO",
    "STREAM.CREATE STREAM.UPDATE STREAM.NAMES STREAM.LIST STREAM.INFO STREAM.DELETE STREAM.PURGE",
    "STREAM.SNAPSHOT STREAM.RESTORE STREAM.MSG.DELETE STREAM.MSG.GET STREAM.PEER.REMOVE STREAM.PEER.EVACUATE",
    "STREAM.LEADER.STEPDOWN STREAM.CANCEL_MOVE DIRECT.GET",
    "CONSUMER.CREATE CONSUMER.DURABLE.CREATE CONSUMER.NAMES CONSUMER.LIST CONSUMER.INFO CONSUMER.DELETE",
    "CONSUMER.PAUSE CONSUMER.UNPIN CONSUMER.RESET CONSUMER.MSG.NEXT CONSUMER.LEADER.STEPDOWN",
    "CONSUMER.PEER.REMOVE CONSUMER.PEER.EVACUATE",
    "META.LEADER.STEPDOWN META.RESCUE SERVER.REMOVE SERVER.EVACUATE ACCOUNT.PURGE ACCOUNT.STREAM.MOVE",
    "ACCOUNT.STREAM.CANCEL_MOVE",
)
"""Requests (nats-server: jetstream_api.go); in subjects, the names of streams and consumers follow."""

_PREFIXES = tuple(
    sorted((tuple(name.split(".")) for line in _REQUESTS for name in line.split()), key=len, reverse=True)
)
_MAX_KINDS = 10_000  #: kinds of requests that are counted


@dataclass(frozen=True, slots=True)
class RequestRow:
    """A kind of request. type: such as stream_info. recent: how many within the interval. asset: the stream,
    or stream and consumer, that it is about."""

    type: str
    account: str
    asset: str
    count: int
    recent: int


class RequestCounter:
    """A counter of requests by type, account and asset.

    account: matches the accounts that count; None for all. consumers: whether to tell consumers apart.
    interval: seconds of the rate. clock: seconds, of any zero.
    """

    def __init__(
        self,
        interval: float,
        clock: Callable[[], float],
        *,
        account: re.Pattern[str] | None = None,
        consumers: bool = True,
    ) -> None:
        self._interval = interval
        self._clock = clock
        self._account = account
        self._consumers = consumers
        self._counts: dict[tuple[str, str, str], int] = {}
        self._recent: dict[tuple[str, str, str], deque[list[int]]] = {}  #: by second

    def count_request(self, message: Message) -> None:
        """Count a request."""
        kind, asset = parse_request_type(message.subject, consumers=self._consumers)
        account = _get_account(message)
        if not kind or (self._account is not None and not self._account.search(account)):
            return
        key = (kind, account, asset)
        if key not in self._counts and len(self._counts) >= _MAX_KINDS:
            return
        self._counts[key] = self._counts.get(key, 0) + 1
        seconds, now = self._recent.setdefault(key, deque()), int(self._clock())
        if not seconds or seconds[-1][0] != now:
            seconds.append([now, 0])
        seconds[-1][1] += 1

    def rows(self) -> list[RequestRow]:
        """Return what was counted."""
        oldest = self._clock() - self._interval
        for seconds in self._recent.values():
            while seconds and seconds[0][0] < oldest - 1:
                seconds.popleft()
        return [
            RequestRow(*key, count, sum(number for _, number in self._recent[key]))
            for key, count in self._counts.items()
        ]


def parse_request_type(subject: str, *, consumers: bool) -> tuple[str, str]:
    """Return the type of a request, such as consumer_msg_next, and its stream, or stream and consumer.

    Both are empty for an unknown request. consumers: whether to include the consumer.
    """
    tokens = tuple(subject.split(".")[2:])
    prefix = next((known for known in _PREFIXES if tokens[: len(known)] == known), ())
    names = tokens[len(prefix) :]
    if prefix[:1] == ("CONSUMER",):
        names = names[: 2 if consumers else 1]
    elif prefix[:1] != ("ACCOUNT",):
        names = names[:1]
    return "_".join(prefix).lower(), " > ".join(names)


def _get_account(message: Message) -> str:
    """Return the account of a request, which the server notes in a header when it passes it on."""
    for name, value in message.headers or ():
        if name == "Nats-Request-Info":
            try:
                return str(parse_json(value).get("acc", ""))
            except (ValueError, AttributeError):
                return ""
    return ""
