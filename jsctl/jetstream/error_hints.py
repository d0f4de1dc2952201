"""Advice for errors of the JetStream API, by error code. Loaded only when there is an error."""

import re

from jsctl import registry
from jsctl.base.command_lines import Suggestion
from jsctl.nats.error_codes import ErrorCode

_NO_LEADER = "a leader is being elected, or too few servers are there: {doctor} shows what is wrong"
_HINTS = {  # {verb} stands for its command line
    ErrorCode.ACCOUNT_RESOURCES_EXCEEDED: "{account info} shows the limits",
    ErrorCode.ATOMIC_PUBLISH_DISABLED: "jsctl stream edit --allow-batch allows atomic batches",
    ErrorCode.BATCH_PUBLISH_DISABLED: "jsctl stream edit --allow-fast allows fast batches",
    ErrorCode.CLUSTER_NOT_AVAIL: _NO_LEADER,
    ErrorCode.CLUSTER_NOT_LEADER: _NO_LEADER,
    ErrorCode.INSUFFICIENT_RESOURCES: (
        "{account info} shows the limits of the account, and {server report jetstream} those of the servers"
    ),
    ErrorCode.INVALID_JSON: "check whether the configuration is for a newer server",
    ErrorCode.MAXIMUM_CONSUMERS_LIMIT: "remove one, or raise max_consumers of the stream or the account",
    ErrorCode.MAXIMUM_STREAMS_LIMIT: "remove one, or raise the account's limit; {account info} shows it",
    ErrorCode.MEMORY_RESOURCES_EXCEEDED: "the server's or account's memory is used up",
    ErrorCode.NO_ACCOUNT: "check that you are logged in as the right user",
    ErrorCode.NOT_ENABLED_FOR_ACCOUNT: "log in as a user of an account with JetStream",
    ErrorCode.STORAGE_RESOURCES_EXCEEDED: "make room, or raise the storage limit of the server or account",
    ErrorCode.STREAM_MAX_BYTES_REQUIRED: "set --max-bytes",
    ErrorCode.STREAM_MAX_STREAM_BYTES_EXCEEDED: "lower --max-bytes; {account info} shows the limit",
    ErrorCode.STREAM_MESSAGE_EXCEEDS_MAXIMUM: "jsctl stream edit --max-msg-size raises the stream's limit",
    ErrorCode.STREAM_MSG_DELETE_FAILED: "{stream info} shows whether deletes are allowed",
    ErrorCode.STREAM_NAME_EXIST: "{stream edit} changes it",
    ErrorCode.STREAM_SUBJECT_OVERLAP: "choose other subjects",
    ErrorCode.STREAM_RECONFIGURE_IN_PROGRESS: (
        "wait until it ends, which {stream info} shows, or undo it with {stream cluster cancel-move}"
    ),
    ErrorCode.STREAM_REPLICAS_NOT_SUPPORTED: "use --replicas 1, or a cluster",
    ErrorCode.STREAM_STORE_FAILED: "{stream info} shows its limits; {stream purge} makes room",
    ErrorCode.NOT_ENABLED: "turn it on in the server's configuration",
    ErrorCode.STREAM_SEALED: "a sealed stream stays as it is; {stream copy} makes another",
    ErrorCode.STREAM_PURGE_FAILED: "{stream info} shows whether purges are allowed",
    ErrorCode.STREAM_NAME_EXIST_RESTORE_FAILED: "restore it under another name",
}


def find_hint(code: int) -> str:
    """Return what to do about an error; empty for nothing in particular."""
    for noun in registry.list_nouns():
        if noun.error and getattr(ErrorCode, noun.error) == code:
            return noun.format_hint()
    return re.sub(r"{(.*?)}", lambda verb: Suggestion(verb[1]).explain(), _HINTS.get(code, ""))
