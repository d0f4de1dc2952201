"""The connection on which queries are planned, and its wait for a server that is away."""

import time
from collections.abc import Callable
from typing import TypeVar

from jsctl.errors import RequestTimeout, Unreachable
from jsctl.nats.addresses import ServerAddress
from jsctl.nats.outcomes import ConnectionLost
from jsctl.spark.session.task_archive import provide_pynacl
from jsctl.spark.source.connection import Connector, StreamConnection
from jsctl.spark.source.options import ReadOptions
from jsctl.spark.source.range_reader import RetryLimit

T = TypeVar("T")

ELECTION_SECONDS = 10
"""Seconds after which a stream has a leader again: servers begin an election within 9 s. Nobody answers a
request that was made before."""


class PlanningConnection:
    """One connection, opened on demand and kept until `close`.

    It fails at once on a server that never answered a request, unless the options set a retry_timeout: a
    wrong address should be reported soon. It waits for a server that has answered until the retry_timeout, to
    survive a restart. Where JetStream is and does not answer, an election may be going on: it asks again.

    is_known: whether it answered an earlier connection.
    """

    def __init__(self, options: ReadOptions, *, is_known: bool = False) -> None:
        self._options = options
        self._connector = Connector(options.settings)
        self._connection: StreamConnection | None = None
        self._is_known = is_known or options.is_patient

    @property
    def addresses(self) -> tuple[ServerAddress, ...]:
        """The addresses that the servers announced, for the tasks."""
        return self._connector.addresses

    def run(self, work: Callable[[StreamConnection], T]) -> T:
        """Return the result of `work`, which is repeated when the connection ends or no server answers."""
        provide_pynacl()  # Spark plans in a Python of the executors, too
        options = self._options
        if not self._is_known:
            self._open()
        retry_limit = RetryLimit(options.retries, options.retry_timeout if self._is_known else 0)
        first_asked_at = time.monotonic()
        while True:
            was_kept, asked_at = self._connection is not None, time.monotonic()
            try:
                result = work(self._connection or self._open())
                self._is_known = True
                return result
            except (ConnectionLost, TimeoutError, Unreachable) as error:
                self._is_known = self._is_known or bool(self._connection and self._connection.has_answered)
                self.close()
                if isinstance(error, RequestTimeout) and not self._is_known:
                    if asked_at - first_asked_at >= ELECTION_SECONDS:
                        raise
                    continue
                if was_kept and isinstance(error, ConnectionLost):
                    continue  # the connection may have ended long ago
                name = options.stream or ", ".join(options.streams)
                retry_limit.record_failure(error, f"lost the connection while asking for {name}")
            except BaseException:
                self.close()  # an answer may be in flight
                raise
            retry_limit.pause()

    def _open(self) -> StreamConnection:
        self._connection = self._connector.open()
        return self._connection

    def close(self) -> None:
        """Close the connection, until the next work."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def with_connection(
    options: ReadOptions, work: Callable[[StreamConnection], T], *, is_known: bool = False
) -> T:
    """Return the result of `work` on a new connection; see `PlanningConnection`."""
    connection = PlanningConnection(options, is_known=is_known)
    try:
        return connection.run(work)
    finally:
        connection.close()
