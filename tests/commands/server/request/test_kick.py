"""`server request kick`."""

from pathlib import Path

from tests.support.run import Cli
from tests.support.servers import HubLeaf


def test_a_client_is_kicked(system: Cli, tmp_path: Path, hub_leaf: HubLeaf) -> None:
    reply = system("server request varz --name hub-server --json", status=0).json[0]
    outcome = system(f"server request kick 999999 {reply['server']['id']}")
    assert outcome.status == 1
    assert "hub-server: " in outcome.err
    assert "no server has the ID 'NONE'" in system("server request kick 1 NONE", status=3).err
