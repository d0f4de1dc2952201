"""`service serve`."""

import signal
import subprocess

import pytest

from tests.support.run import Cli

pytestmark = pytest.mark.slow


def test_a_service_is_found_and_used(demo: subprocess.Popen[str], cli: Cli) -> None:
    listed = cli("service list", status=0).out
    assert listed.count("demo") == 2
    infos = cli("service info demo --json", status=0).json
    assert infos[0]["endpoints"][0]["subject"] == "demo.echo"
    assert cli(f"service info demo {infos[0]['id']} --json", status=0).json == infos[0]
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
