"""What PySpark and Py4J would write to stderr."""

import logging
import socket
import threading
from typing import Any

import pytest

from jsctl.spark.session import session


def test_a_jvm_that_ends_leaves_no_traceback(caplog: Any) -> None:
    """As when a service manager ends all processes of a unit: the JVM may be the first."""
    py4j = pytest.importorskip("py4j.java_gateway")
    with socket.create_server(("127.0.0.1", 0)) as server:

        def end() -> None:
            accepted, _ = server.accept()
            accepted.recv(100)
            accepted.close()

        def call() -> None:
            thread = threading.Thread(target=end)
            thread.start()
            parameters = py4j.GatewayParameters(port=server.getsockname()[1], auto_convert=False)
            py4j.GatewayClient(gateway_parameters=parameters).send_command("c\n", retry=False)
            thread.join()

        root = logging.getLogger()
        before = root.filters[:]
        try:
            root.filters[:] = []
            call()
            assert "while sending command" in caplog.text, "Py4J writes nothing: no filter is needed"
            caplog.clear()
            session._disable_repeated_logs()
            call()
            assert caplog.text == ""
        finally:
            root.filters[:] = before
