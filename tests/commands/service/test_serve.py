"""`service serve`."""

import json
import signal
import socket
import subprocess
from urllib.parse import urlsplit

import pytest

from tests.support.run import Cli


@pytest.mark.slow
def test_a_service_is_found_and_used(demo: subprocess.Popen[str], cli: Cli) -> None:
    listed = cli("service list", status=0).out
    assert listed.count("demo") == 2
    document = cli("service info demo --json", status=0).json
    first, second = document["instances"]
    assert first["info"] == document["info"] and first["info"]["endpoints"][0]["subject"] == "demo.echo"
    assert second["stats"]["endpoints"][0]["num_requests"] == 0
    one = cli(f"service info demo {second['info']['id']} --json", status=0).json
    assert one == {**second, "instances": [second]}
    assert "demo.echo" in cli("service info demo", status=0).out
    assert "Endpoint echo" not in cli("service info demo -e nothing", status=0).out
    answered = cli("service request demo echo 'hello {{Count}}' -r --count 3", status=0)
    assert answered.out == "hello 1\nhello 2\nhello 3\n"
    headers = cli("service request demo echo x --json", status=0).json["headers"]
    assert headers
    stats = cli("service stats demo --json", status=0).json
    assert sum(one["endpoints"][0]["num_requests"] for one in stats) == 4
    pings = cli("service ping --json", status=0).json
    assert len(pings) == 2 and pings[0]["rtt_ns"] > 0
    assert "no endpoint nope; its endpoints: echo" in cli("service request demo nope", status=3).err
    assert "did you mean demo?" in cli("service info demi", status=3).err
    assert "no instance X" in cli("service info demo X", status=3).err
    demo.send_signal(signal.SIGINT)
    assert demo.wait(10) == 0


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
