"""A consumer that shows the progress of a streaming query: `committedConsumer`.

Its ack floor follows the committed offsets of the query's checkpoint, so that `consumer report` and other
tools that watch consumers show how far the query is behind. It is never read from: only the checkpoint
determines where the query continues.
"""

from jsctl.errors import ApiError, BadInput, NoResponders, RequestTimeout
from jsctl.jetstream.api import Json
from jsctl.nats.error_codes import ErrorCode
from jsctl.spark.source.connection import StreamConnection
from jsctl.spark.source.options import ReadOptions
from jsctl.spark.source.pull import add_filters

MARK = "jsctl.spark.committed"
"""The metadata key of such a consumer, with the stream as value. A consumer without it is never moved."""


class CommittedConsumer:
    """The consumer of one query. Every method raises ApiError, Denied, Unreachable."""

    def __init__(self, options: ReadOptions) -> None:
        self._name = options.consumer
        self._at = 0

    def check(self, connection: StreamConnection, options: ReadOptions) -> None:
        """Raise BadInput when the consumer is used for something else, or would remove messages."""
        info = connection.call(f"{options.prefix}.STREAM.INFO.{options.stream}", None, options.timeout)
        retention = info["config"].get("retention", "limits")
        if retention != "limits":
            raise BadInput(
                f"{options.stream} has {retention} retention, where a consumer removes messages",
                "remove the option committedConsumer",
            )
        self._has_consumer(connection, options)

    def move(self, connection: StreamConnection, options: ReadOptions, next: int) -> None:
        """Move the ack floor to just before the sequence `next`. The consumer is created when there is
        none."""
        if next == self._at:
            return
        if self._has_consumer(connection, options):
            if self._reset(connection, options, next):
                self._at = next
                return
            connection.call(self._build_subject(options, "DELETE"), None, options.timeout)
        config: Json = {
            "name": self._name,
            "durable_name": self._name,
            "description": "where a streaming query of Spark is",
            "ack_policy": "none",
            "deliver_policy": "by_start_sequence",
            "opt_start_seq": max(1, next),
            "metadata": {MARK: options.stream},
        }
        subject = self._build_subject(options, "CREATE") + add_filters(config, options.subjects)
        connection.call(subject, {"stream_name": options.stream, "config": config}, options.timeout)
        self._at = next

    def _reset(self, connection: StreamConnection, options: ReadOptions, next: int) -> bool:
        """Move the consumer; return False when the server cannot, before 2.14."""
        try:
            connection.call(self._build_subject(options, "RESET"), {"seq": next}, options.timeout)
        except (ApiError, NoResponders, RequestTimeout):
            return False
        return True

    def _has_consumer(self, connection: StreamConnection, options: ReadOptions) -> bool:
        """Return whether the consumer exists. Raises BadInput for one that serves another purpose."""
        try:
            info = connection.call(self._build_subject(options, "INFO"), None, options.timeout)
        except ApiError as error:
            if error.err_code == ErrorCode.CONSUMER_NOT_FOUND:
                return False
            raise
        if MARK not in (info["config"].get("metadata") or {}):
            raise BadInput(
                f"consumer {self._name} of {options.stream} does not track a streaming query",
                "set committedConsumer to an unused name",
            )
        return True

    def _build_subject(self, options: ReadOptions, verb: str) -> str:
        return f"{options.prefix}.CONSUMER.{verb}.{options.stream}.{self._name}"
