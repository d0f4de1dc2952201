"""Why the server ended a pull (ADR-37).

Most reasons have one code, 409, and the words after it are all that distinguishes them; they are those of
nats-server's consumer.go, here and nowhere else in jsctl.
"""

from enum import Enum


class PullEnd(Enum):
    """The reason why a pull ended."""

    COMPLETE = "nothing more was to be delivered now"
    LEADER_CHANGED = "another server leads the consumer"
    SHUTDOWN = "the server stops"
    DELETED = "the consumer was removed"
    NO_RESPONDERS = "nobody answers for the consumer"
    PUSH_BASED = "nothing can be pulled from the consumer"
    TOO_LARGE = "the next message alone is larger than the bytes that were asked for"
    QUEUE_FULL = "too many pulls wait"
    LIMIT_EXCEEDED = "the consumer allows no pull of this size or length"
    BAD_GROUP = "the priority group is missing or not valid"
    OTHER_CONFLICT = "a reason that is newer than jsctl; the next pull may do"
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
