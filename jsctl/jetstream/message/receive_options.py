"""What to receive: from subjects, or from a stream."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from jsctl.jetstream.api import Json


@dataclass(frozen=True, slots=True)
class StreamSource:
    """The messages of a stream to read, and how to read them.

    name: empty to find the stream by the first subject. start: a consumer's delivery policy, with its
    sequence or time. durable: the consumer to read through. direct: read without a consumer. to_end: end with
    the stream's last message. config: the stream's, if known.
    """

    name: str = ""
    start: Json = field(default_factory=dict)
    durable: str = ""
    direct: bool = False
    to_end: bool = False
    headers_only: bool = False
    config: Json | None = None


@dataclass(frozen=True, slots=True)
class ReceiveOptions:
    """Options of receiving.

    subjects: subject filters. queue: a queue group. stream: read a stream instead of subscribing. limit:
    number of messages, 0 for no limit. idle: ns without a message after which to end, 0 for no limit.
    ignored: subject filters to leave out. match_replies: yield requests together with their replies. ack:
    whether to acknowledge; None follows the ack policy of the stream's consumer.
    """

    subjects: Sequence[str] = ()
    queue: str = ""
    stream: StreamSource | None = None
    limit: int = 0
    idle: int = 0
    ignored: Sequence[str] = ()
    match_replies: bool = False
    ack: bool | None = None
