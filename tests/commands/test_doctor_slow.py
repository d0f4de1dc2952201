"""`doctor` names the servers that closed connections because they read too slowly, and whose they were."""

import socket
import time
from pathlib import Path

import pytest

from tests.support import js
from tests.support.doctor import Patient
from tests.support.servers import RealServer
from tests.support.waiting import wait_for

CONFIG = """
listen: "127.0.0.1:{port}"
max_payload: 65536
max_pending: 65536
write_deadline: "200ms"
accounts {
  SYS: { users: [{user: admin, password: admin}] }
  ACC: { users: [{user: acc, password: acc}] }
}
system_account: SYS
"""


@pytest.mark.slow
def test_a_client_that_does_not_read(tmp_path: Path) -> None:
    patient = Patient(tmp_path)
    server = RealServer(tmp_path, CONFIG).start()
    try:
        patient.context("system", server.url_for("admin"))
        assert patient.codes() == []
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connect = 'CONNECT {"verbose":false,"name":"sleeper","user":"acc","pass":"acc"}'
            client.sendall(f"{connect}\r\nSUB flood 1\r\nPING\r\n".encode())
            time.sleep(0.2)
            js.send(server.url_for("acc"), "flood", b"x" * 50_000, count=400)
            wait_for(lambda: patient.codes() == ["SLOW_CONSUMERS"], "nobody is slow", 20)
        [slow] = patient.findings()
        assert "1 connection within an hour" in slow["seen"] and "sleeper" in slow["seen"]
    finally:
        server.stop()
