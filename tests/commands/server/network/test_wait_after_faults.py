"""`server network wait` and `heal` after faults: nothing is missing once they return."""

import json
import os
import subprocess
import time

import pytest

from jsctl.errors import JsctlError
from jsctl.localserver.process import build_module_command
from jsctl.testing import Network
from tests.support.waiting import wait_for

pytestmark = pytest.mark.cluster


def count(net: Network, stream: str, domain: str = "") -> int:
    at = f" --js-domain {domain}" if domain else ""
    return int(json.loads(net.jsctl(f"stream info {stream}{at} --json"))["state"]["messages"])


def test_copies_of_copies_and_loops() -> None:
    with Network("hub-leaf") as net:
        net.jsctl("stream add ORDERS --subjects orders --defaults")
        for name, flags in (
            ("FIRST", "--mirror ORDERS"),
            ("SECOND", "--source FIRST --subjects second"),
            ("THIRD", "--mirror SECOND"),
            ("EU", "--source US@leaf,filter=us --subjects eu"),
            ("US", "--source EU@hub,filter=eu --subjects us --js-domain leaf"),
        ):
            net.jsctl(f"stream add {name} {flags} --defaults")
        net.jsctl("pub -J orders one --count 3000")
        net.jsctl("pub -J eu one")
        net.jsctl("pub -J us one --count 2", context="leaf")
        net.wait(60)
        assert [count(net, name) for name in ("FIRST", "SECOND", "THIRD", "EU")] == [3000] * 3 + [3]
        assert count(net, "US", "leaf") == 3


def test_what_wait_accepts_is_not_missing() -> None:
    with Network("hub-leaf") as net:
        net.jsctl("stream add ORDERS --subjects orders --defaults", context="leaf")
        net.jsctl("stream add COPY --mirror ORDERS@leaf --defaults", context="hub")
        net.jsctl("stream add ALL --source ORDERS@leaf --defaults", context="hub")
        for fault, repair in ((net.pause, net.resume), (net.kill, net.start), (net.stop, net.start)):
            fault("leaf")
            repair("leaf")
            net.wait()
            assert net.missing() == []
            time.sleep(3)  # a copy that was cut off all the time shows it now
            assert net.missing() == []
            net.jsctl("pub -J orders one", context="leaf")
            wait_for(lambda: count(net, "COPY") == count(net, "ORDERS", "leaf"), "the message", seconds=5)
            wait_for(lambda: count(net, "ALL") == count(net, "ORDERS", "leaf"), "the message", seconds=5)


@pytest.mark.long
@pytest.mark.timeout(400)
def test_a_mirror_that_waits_until_it_asks_again() -> None:
    with Network("hub-leaf") as net:
        net.jsctl("stream add ORDERS --subjects orders --defaults", context="leaf")
        net.jsctl("stream add COPY --mirror ORDERS@leaf --defaults", context="hub")
        net.jsctl("stream add ALL --source ORDERS@leaf --defaults", context="hub")
        net.wait()
        net.link_down("leaf-hub")
        net.jsctl("pub -J orders one --count 300", context="leaf")
        status = fetch_status(net)
        assert {stream["stream"]: stream["lag_messages"] for stream in status["streams"]} == {
            "ALL": 300,
            "COPY": 300,
            "ORDERS": None,
        }
        time.sleep(20)  # its server has noticed, and asks in vain
        net.link_up()
        with pytest.raises(JsctlError, match=r"behind ORDERS, which it last .* asks again after 10"):
            net.wait(1)
        net.heal()
        assert count(net, "COPY", "hub") == count(net, "ALL", "hub") == 300


def test_a_follower_that_was_away() -> None:
    with Network("cluster") as net:
        net.jsctl("stream add ORDERS --subjects orders --replicas 3 --defaults")
        leader = json.loads(net.jsctl("stream info ORDERS --json"))["cluster"]["leader"]
        follower = next(name for name in net.servers if name != leader)
        net.kill(follower)
        net.jsctl(["pub", "-J", "orders", "x" * 1000, "--count", "5000"])
        net.heal()
        accounts = net.jsctl(["server", "request", "jetstream", "--streams", "--all"], context="system")
        reached = [
            stream["state"]["last_seq"]
            for line in accounts.splitlines()
            for account in json.loads(line)["data"].get("account_details") or ()
            for stream in account.get("stream_detail") or ()
        ]
        assert reached == [5000] * 3


def test_a_gateway_that_was_cut() -> None:
    with Network("supercluster") as net:
        assert net.links == ["gateway-east", "gateway-west"]
        net.link_down()
        assert net.missing() == ["link gateway-east is down", "link gateway-west is down"]
        with pytest.raises(JsctlError, match="link gateway-east is down and 1 more"):
            net.wait(0.5)
        net.heal()
        net.jsctl("stream add ORDERS --subjects orders --cluster west --defaults", context="east")
        net.jsctl("pub -J orders one", context="east")
        assert count(net, "ORDERS") == 1


def fetch_status(net: Network) -> dict[str, list[dict[str, object]]]:
    # While links are down the status is 1.
    line = build_module_command("jsctl", "server", "network", "status", "--json")
    done = subprocess.run(line, env={**os.environ, **net.environ}, capture_output=True, check=False)
    document: dict[str, list[dict[str, object]]] = json.loads(done.stdout)
    return document
