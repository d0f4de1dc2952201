"""`server watch api requests`."""

import json
import threading
import time

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import HubLeaf
from tests.support.waiting import wait_for


@pytest.mark.slow
def test_api_requests(system: Cli, hub_leaf: HubLeaf) -> None:
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            js.ask(hub_leaf.url, "STREAM.NAMES", domain="hub")
            time.sleep(0.05)  # a rate of requests is shown

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        line = "server watch api req --every 500ms --count 3"

        def seen() -> bool:
            out = system(f"{line} --account '^ACC$' --json", status=0).out
            last = json.loads(out.splitlines()[-1])
            return [(row["type"], row["account"]) for row in last if row["recent"]] == [
                ("stream_names", "ACC")
            ]

        wait_for(seen, "requests of the account")
        none = system("server watch api req --account none --count 1 --json", status=0).out
        assert json.loads(none) == []
    finally:
        stop.set()
        asking.join()
