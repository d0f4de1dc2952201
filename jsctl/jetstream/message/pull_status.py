"""The reasons why the server ends a pull (ADR-37).

Most reasons share the code 409 and only differ in their description. Only this module knows these texts of
nats-server's consumer.go.
"""

from enum import Enum


class PullEnd(Enum):
    """The reason why a pull ended."""

    COMPLETE = "nothing more can be delivered now"
    LEADER_CHANGED = "another server leads the consumer"
    SHUTDOWN = "the server is shutting down"
    DELETED = "the consumer was removed"
    NO_RESPONDERS = "nobody answers for the consumer"
    PUSH_BASED = "nothing can be pulled from the consumer"
    TOO_LARGE = "the next message is larger than the number of bytes requested"
    QUEUE_FULL = "too many pulls wait"
    LIMIT_EXCEEDED = "the consumer allows no pull of this size or length"
    BAD_GROUP = "the priority group is missing or not valid"
    OTHER_CONFLICT = "a reason that is newer than jsctl; the next pull may succeed"
    UNKNOWN = "an error that is newer than jsctl"


_BY_CODE = {404: PullEnd.COMPLETE, 408: PullEnd.COMPLETE, 503: PullEnd.NO_RESPONDERS}

_BY_WORDS = {
    "leadership change": PullEnd.LEADER_CHANGED,
    "server shutdown": PullEnd.SHUTDOWN,
    "consumer deleted": PullEnd.DELETED,
    "consumer is push based": PullEnd.PUSH_BASED,
    "message size exceeds maxbytes": PullEnd.TOO_LARGE,
    "batch completed": PullEnd.COMPLETE,
    "exceeded maxwaiting": PullEnd.QUEUE_FULL,
    "exceeded maxrequest": PullEnd.LIMIT_EXCEEDED,
    "priority group": PullEnd.BAD_GROUP,
}


def explain_end(code: int, description: str) -> PullEnd:
    """Return why a pull ended, from the code and description of its last status."""
    if code in _BY_CODE:
        return _BY_CODE[code]
    text = description.lower()
    other = PullEnd.OTHER_CONFLICT if code == 409 else PullEnd.UNKNOWN
    return next((end for words, end in _BY_WORDS.items() if words in text), other)
