"""`service info`."""

from tests.support.run import Cli
from tests.support.services import answering, reply


def test_info(cli: Cli, url: str) -> None:
    endpoints = [{"name": name, "subject": f"w.{name}"} for name in ("heavy", "light")]
    one = reply("info", description="Weighs", endpoints=endpoints)
    with answering(url, {"$SRV.INFO.W": [one], "$SRV.INFO.W.1": [one]}):
        document = cli("service info W --json", status=0).json
        assert document["info"]["endpoints"] == endpoints and document["stats"] is None
        assert document["instances"] == [{"info": document["info"], "stats": None}]
        assert cli("service info W 1 --json", status=0).json == document
        shown = cli("service info W --endpoint light", status=0).out
        assert "Weighs" in shown and "w.light" in shown and "w.heavy" not in shown
        assert "not a valid regular expression" in cli("service info W --endpoint '('", status=64).err


def test_info_with_statistics(cli: Cli, url: str) -> None:
    names = ("heavy", "light")
    infos = [reply("info", id=id, endpoints=[{"name": name} for name in names]) for id in ("1", "2")]
    counts = {"num_requests": 1234, "processing_time": 2 * 10**9, "last_error": "400:too light"}
    more = {"data": {"scale": 7}}
    stats = [
        reply("stats", id=id, started=started, endpoints=[{"name": name, **counts, **more} for name in names])
        for id, started in (("1", "2026-11-23T12:00:00Z"), ("2", "long ago"))
    ]
    with answering(url, {"$SRV.INFO.W": infos, "$SRV.STATS.W": stats}):
        document = cli("service info W --endpoint light --json", status=0).json
        assert [one["name"] for one in document["stats"]["endpoints"]] == ["light"]
        assert document["info"]["id"] == document["stats"]["id"] == "1"
        assert [one["stats"]["started"] for one in document["instances"]][1] == "long ago"
        shown = cli("service info W", status=0).out
        assert "1,234" in shown and "400:too light" in shown and '"scale": 7' in shown and "long ago" in shown
