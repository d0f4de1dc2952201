"""`service list`."""

from tests.support.run import Cli
from tests.support.services import answering, reply


def test_list(cli: Cli, url: str) -> None:
    others = [reply("info", id=id, description="Weighs", endpoints=[]) for id in ("2", "1")]
    with answering(url, {"$SRV.INFO": others}):
        assert [(one["name"], one["id"]) for one in cli("service ls --json", status=0).json] == [
            ("W", "1"),
            ("W", "2"),
        ]
        rows = cli("service list", status=0).out.splitlines()
        assert [row.split()[:3] for row in rows if "1.0.0" in row] == [
            ["W", "1.0.0", "1"],
            ["W", "1.0.0", "2"],
        ]
        assert "No such option" in cli("service list --endpoint x", status=64).err
