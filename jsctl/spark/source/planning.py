"""The connection on which queries are planned, and how long it waits for a server that is away."""

from collections.abc import Callable
from typing import TypeVar

from jsctl.errors import Unreachable
from jsctl.nats.addresses import ServerAddress
from jsctl.nats.blocking import ConnectionLost
from jsctl.spark.session.task_archive import provide_pynacl
from jsctl.spark.source.connection import Connector, StreamConnection
from jsctl.spark.source.options import ReadOptions
from jsctl.spark.source.patience import Patience

T = TypeVar("T")


class PlanningConnection:
    """One connection, opened when it is needed and kept until `close`.

    Gives up at once on a server that never answered, unless the options name a retry_timeout: a wrong address
    should show soon. Waits for one that did answer until the retry_timeout: a restart should be survived.
    """

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._connector = Connector(options.settings)
        self._connection: StreamConnection | None = None
        self._was_connected = False

    @property
    def addresses(self) -> tuple[ServerAddress, ...]:
        """The addresses that the servers named, for the tasks."""
        return self._connector.addresses

    def run(self, work: Callable[[StreamConnection], T]) -> T:
        """Return the result of `work`, repeated when the connection ends or no server answers."""
        provide_pynacl()  # Spark plans in a Python of the executors, too
        options = self._options
        is_patient = options.is_patient or self._was_connected
        if not is_patient:
            self._open()
        patience = Patience(options.retries, options.retry_timeout if is_patient else 0)
        while True:
            was_kept = self._connection is not None
            try:
                return work(self._connection or self._open())
            except (ConnectionLost, TimeoutError, Unreachable) as error:
                self.close()
                if was_kept and isinstance(error, ConnectionLost):
                    continue  # it may have ended long ago
                name = options.stream or ", ".join(options.streams)
                patience.failed(error, f"lost the connection while asking for {name}")
            except BaseException:
                self.close()  # an answer may be on its way
                raise
            patience.pause()

    def _open(self) -> StreamConnection:
        self._connection = self._connector.open()
        self._was_connected = True
        return self._connection

    def close(self) -> None:
        """Close the connection, until the next work."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def with_connection(options: ReadOptions, work: Callable[[StreamConnection], T]) -> T:
    """Return the result of `work` on a connection of its own; see `PlanningConnection`."""
    connection = PlanningConnection(options)
    try:
        return connection.run(work)
    finally:
        connection.close()
