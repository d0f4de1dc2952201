"""`server cluster peer-remove`."""

from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.waiting import wait_until


@pytest.mark.parametrize("line", ["server cluster step-down", "server cluster peer-remove hub-server"])
def test_a_single_server_has_no_meta_group(system: Cli, line: str) -> None:
    assert "are not clustered; there is no meta group" in system(line, status=1).err


@pytest.mark.cluster
def test_what_only_this_server_has_is_lost(cluster: Cluster, tmp_path: Path) -> None:
    system = Cli(tmp_path / "system", cluster.system_url)
    js.stream(cluster.url, "S", "s", metadata={"jsctl.protect": "true"})
    js.stream(cluster.url, "R3", "r", num_replicas=3)
    for subject in ("s", "r"):
        js.publish(cluster.url, subject, count=3)
    holder = js.info(cluster.url, "S")["cluster"]["leader"]
    line = f"server cluster peer-remove {holder} --force"
    while "is not a follower" in system(f"{line} --dry-run").err:
        system("server cluster step-down --force", status=0)
    assert ", which deletes 3 messages (" in system(f"{line} --dry-run", status=0).out
    assert "stream S is protected" in system(line, status=1).err
    refused = system(f"{line} --unprotect S", status=64).err
    assert "this deletes 3 messages (" in refused and "of Stream S; --allow-data-loss permits it" in refused
    assert js.info(cluster.url, "S")["state"]["messages"] == 3
    cluster.servers[holder].stop()
    unknown = wait_until(lambda: system(line).err, lambda text: "unknown" in text)
    assert "this deletes an unknown number of messages of server " in unknown
