"""Advice for errors of the JetStream API, by error code. Loaded only when there is an error."""

import re

from jsctl import registry
from jsctl.base.command_lines import Suggestion
from jsctl.nats.error_codes import ErrorCode

_NO_LEADER = "a leader is being elected, or too few servers are there: {doctor} shows what is wrong"
_HINTS = {  # {verb --flag} stands for its command line, with the name of the stream or bucket if it is known
    ErrorCode.ACCOUNT_RESOURCES_EXCEEDED: "{account info} shows the limits",
    ErrorCode.ATOMIC_PUBLISH_DISABLED: "{stream edit --allow-batch} allows atomic batches",
    ErrorCode.BATCH_PUBLISH_DISABLED: "{stream edit --allow-fast} allows fast batches",
    ErrorCode.CLUSTER_NOT_AVAIL: _NO_LEADER,
    ErrorCode.CLUSTER_NOT_LEADER: _NO_LEADER,
    ErrorCode.INSUFFICIENT_RESOURCES: (
        "{account info} shows the limits of the account, and {server report jetstream} those of the servers"
    ),
    ErrorCode.INVALID_JSON: "check whether the configuration is for a newer server",
    ErrorCode.MAXIMUM_CONSUMERS_LIMIT: "remove one, or raise max_consumers of the stream or the account",
    ErrorCode.MAXIMUM_STREAMS_LIMIT: "remove one, or raise the account's limit; {account info} shows it",
    ErrorCode.MEMORY_RESOURCES_EXCEEDED: "the server's or account's memory is used up",
    ErrorCode.MESSAGE_TTL_DISABLED: "{stream edit --allow-msg-ttl} allows it",
    ErrorCode.NO_ACCOUNT: "check that you are logged in as the right user",
    ErrorCode.NOT_ENABLED_FOR_ACCOUNT: "log in as a user of an account with JetStream",
    ErrorCode.STORAGE_RESOURCES_EXCEEDED: "make room, or raise the storage limit of the server or account",
    ErrorCode.STREAM_MAX_BYTES_REQUIRED: "set --max-bytes",
    ErrorCode.STREAM_MAX_STREAM_BYTES_EXCEEDED: "lower --max-bytes; {account info} shows the limit",
    ErrorCode.STREAM_MESSAGE_EXCEEDS_MAXIMUM: "{stream edit --max-msg-size SIZE} raises the stream's limit",
    ErrorCode.STREAM_MSG_DELETE_FAILED: "{stream info} shows whether deletes are allowed",
    ErrorCode.STREAM_NAME_EXIST: "{stream edit} changes it",
    ErrorCode.STREAM_SUBJECT_OVERLAP: "choose other subjects",
    ErrorCode.STREAM_RECONFIGURE_IN_PROGRESS: (
        "wait until it ends, which {stream info} shows, or undo it with {stream cluster cancel-move}"
    ),
    ErrorCode.STREAM_RECONFIGURE_NOT_IN_PROGRESS: (
        "it has ended, or somebody else has undone it: {stream info} shows what is there"
    ),
    ErrorCode.STREAM_REPLICAS_NOT_SUPPORTED: "use --replicas 1, or a cluster",
    ErrorCode.STREAM_STORE_FAILED: "{stream info} shows its limits; {stream purge} makes room",
    ErrorCode.NOT_ENABLED: "turn it on in the server's configuration",
    ErrorCode.STREAM_SEALED: "a sealed stream stays as it is; {stream copy} makes another",
    ErrorCode.STREAM_PURGE_FAILED: "{stream info} shows whether purges are allowed",
    ErrorCode.STREAM_NAME_EXIST_RESTORE_FAILED: "restore it under another name",
}


_KV, _OBJECTS = "KV_", "OBJ_"  #: how the names of buckets' streams begin
_BUCKET_HINTS = {
    (_KV, ErrorCode.STREAM_STORE_FAILED): (
        "{kv info} shows its limits; {kv edit --max-bucket-size SIZE} raises that of its size"
    ),
    (_KV, ErrorCode.STREAM_MESSAGE_EXCEEDS_MAXIMUM): (
        "{kv edit --max-value-size SIZE} raises the bucket's limit"
    ),
    (_KV, ErrorCode.MESSAGE_TTL_DISABLED): "{kv edit --marker-ttl 1m} allows it",
    (_OBJECTS, ErrorCode.STREAM_STORE_FAILED): (
        "{object info} shows its limits; {object edit --max-bucket-size SIZE} raises that of its size"
    ),
}
"""Hints in place of `_HINTS`, by the prefix of the stream's name."""


def find_hint(code: int, stream: str = "") -> str:
    """Return what to do about an error; empty for nothing in particular. stream: the one that refused, empty
    if it is unknown."""
    for noun in registry.list_nouns():
        if noun.error and getattr(ErrorCode, noun.error) == code:
            return noun.format_hint()
    of_bucket = [key for key in _BUCKET_HINTS if key[1] == code and stream.startswith(key[0])]
    prefix, hint = (of_bucket[0][0], _BUCKET_HINTS[of_bucket[0]]) if of_bucket else ("", _HINTS.get(code, ""))
    names = [stream.removeprefix(prefix)] if stream else []

    def explain(found: re.Match[str]) -> str:
        verb, _, flag = found[1].partition(" --")
        takes_name = verb.startswith(("stream ", "kv ", "object "))
        return Suggestion(verb, names if takes_name else (), f"--{flag}".split() if flag else ()).explain()

    return re.sub(r"{(.*?)}", explain, hint)
