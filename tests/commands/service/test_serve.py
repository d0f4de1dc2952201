"""`jsctl service serve`."""

import json
import signal
import socket
import subprocess
from urllib.parse import urlsplit

import pytest

from tests.support.run import Cli


@pytest.mark.long
def test_a_client_that_reads_no_answers_holds_nothing_up(
    demo: subprocess.Popen[str], cli: Cli, url: str
) -> None:
    place = urlsplit(url)
    with socket.create_connection((place.hostname or "", place.port or 0)) as client:
        login = json.dumps({"verbose": False, "user": place.username, "pass": place.password})
        body = b"x" * 60_000
        client.sendall(f"CONNECT {login}\r\nSUB mine 1\r\n".encode())
        client.sendall(b"PUB demo.echo mine %d\r\n%b\r\n" % (len(body), body) * 200)
        assert cli("service request demo echo hello -r", status=0).out == "hello\n"
        demo.send_signal(signal.SIGINT)
        assert demo.wait(10) == 0
