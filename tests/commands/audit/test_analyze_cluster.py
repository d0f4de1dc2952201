"""`audit analyze`, and `doctor` with the system account, on a cluster."""

from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.waiting import wait_until

INFOS = ("stream info APART", "consumer info APART C")


@pytest.mark.cluster
def test_a_consumer_that_another_server_leads_than_its_stream(
    shared_cluster: Cluster, cluster_cli: Cli, offline_cli: Cli, tmp_path: Path
) -> None:
    """The leader of a stream does not know what the replicas of a consumer lack, nor what is pending."""
    url = shared_cluster.url
    js.stream(url, "APART", "apart", num_replicas=3)
    config = {"durable_name": "C", "ack_policy": "explicit", "num_replicas": 3}
    js.ask(url, "CONSUMER.DURABLE.CREATE.APART.C", {"stream_name": "APART", "config": config})

    while len({cluster_cli(f"{line} --json", status=0).json["cluster"]["leader"] for line in INFOS}) < 2:
        cluster_cli("consumer cluster step-down APART C --force", status=0)
    js.publish(url, "apart", count=3)
    system = Cli(tmp_path / "system", shared_cluster.system_url)
    about = "consumer APART > C"

    def find() -> list[set[str]]:
        path = tmp_path / "audit.zip"
        system(f"audit gather -o {path} --no-server-profiles --no-progress --force", status=0)
        from_archive = offline_cli(f"audit analyze {path} --json", status=0).json["doctor"]
        live = system("doctor --json").json["findings"]
        return [{one["code"] for one in some if one["about"] == about} for some in (live, from_archive)]

    wait_until(find, lambda codes: all("NOBODY_PULLS" in some for some in codes))
    assert not any("REPLICA_BEHIND" in some for some in find())
