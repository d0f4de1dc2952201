"""Advice for errors of the JetStream API, by error code. Loaded only when there is an error."""

from jsctl import registry
from jsctl.nats.error_code_enum import ErrorCode

HINTS: dict[int, str] = {
    ErrorCode.ACCOUNT_RESOURCES_EXCEEDED: "jsctl account info shows the limits",
    ErrorCode.ATOMIC_PUBLISH_DISABLED: "jsctl stream edit --allow-batch allows atomic batches",
    ErrorCode.BATCH_PUBLISH_DISABLED: "jsctl stream edit --allow-fast allows fast batches",
    ErrorCode.CLUSTER_NOT_AVAIL: "the meta leader is being elected or out of reach; try again",
    ErrorCode.CLUSTER_NOT_LEADER: "the meta leader is being elected or out of reach; try again",
    ErrorCode.INSUFFICIENT_RESOURCES: (
        "jsctl account info shows the limits of the account, jsctl server report jetstream the servers'"
    ),
    ErrorCode.INVALID_JSON: "check whether the configuration is for a newer server",
    ErrorCode.MAXIMUM_CONSUMERS_LIMIT: "remove one, or raise max_consumers of the stream or the account",
    ErrorCode.MAXIMUM_STREAMS_LIMIT: "remove one, or raise the account's limit; jsctl account info shows it",
    ErrorCode.MEMORY_RESOURCES_EXCEEDED: "the server's or account's memory is used up",
    ErrorCode.NO_ACCOUNT: "check that you are logged in as the right user",
    ErrorCode.NOT_ENABLED_FOR_ACCOUNT: "log in as a user of an account with JetStream",
    ErrorCode.STORAGE_RESOURCES_EXCEEDED: "make room, or raise the storage limit of the server or account",
    ErrorCode.STREAM_MAX_BYTES_REQUIRED: "set --max-bytes",
    ErrorCode.STREAM_MAX_STREAM_BYTES_EXCEEDED: "lower --max-bytes; jsctl account info shows the limit",
    ErrorCode.STREAM_MESSAGE_EXCEEDS_MAXIMUM: "jsctl stream edit --max-msg-size raises the stream's limit",
    ErrorCode.STREAM_MSG_DELETE_FAILED: "jsctl stream info shows whether deletes are allowed",
    ErrorCode.STREAM_NAME_EXIST: "jsctl stream edit changes it",
    ErrorCode.STREAM_SUBJECT_OVERLAP: "jsctl stream find and jsctl stream subjects show which one has them",
    ErrorCode.STREAM_REPLICAS_NOT_SUPPORTED: "use --replicas 1, or a cluster",
    ErrorCode.STREAM_STORE_FAILED: "jsctl stream info shows its limits; jsctl stream purge makes room",
    ErrorCode.NOT_ENABLED: "turn it on in the server's configuration",
    ErrorCode.STREAM_SEALED: "a sealed stream stays as it is; jsctl stream copy makes another",
    ErrorCode.STREAM_PURGE_FAILED: "jsctl stream info shows whether purges are allowed",
    ErrorCode.STREAM_NAME_EXIST_RESTORE_FAILED: "restore it under another name",
}

HINTS |= {ErrorCode[noun.error]: noun.missing("")[1] for noun in registry.list_nouns() if noun.error}
