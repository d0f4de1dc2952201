"""`service info`."""

import pytest

from tests.support.run import Cli
from tests.support.services import answering, reply

pytestmark = pytest.mark.slow


def test_info(cli: Cli, url: str) -> None:
    endpoints = [{"name": name, "subject": f"w.{name}"} for name in ("heavy", "light")]
    one = reply("info", description="Weighs", endpoints=endpoints)
    with answering(url, {"$SRV.INFO.W": [one], "$SRV.INFO.W.1": [one]}):
        document = cli("service info W --json", status=0).json
        assert document["endpoints"] == endpoints
        assert cli("service info W 1 --json", status=0).json == document
        shown = cli("service info W --endpoint light", status=0).out
        assert "Weighs" in shown and "w.light" in shown and "w.heavy" not in shown
        assert "not a valid regular expression" in cli("service info W --endpoint '('", status=64).err
