"""`server request variables`."""

from pathlib import Path

from tests.support.run import Cli
from tests.support.server_requests import answers
from tests.support.servers import HubLeaf


def test_flags_before_the_verb(system: Cli) -> None:
    assert len(system("server request --name leaf-server varz --json", status=0).json) == 1
    assert len(system("server request varz 1 --json", status=0).json) == 1


def test_without_the_system_account(tmp_path: Path, hub_leaf: HubLeaf) -> None:
    outcome = Cli(tmp_path / "user", hub_leaf.url)("server request varz", status=5)
    assert "this needs a login of the system account" in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_variables(system: Cli) -> None:
    assert answers(system, "variables")["server_name"] == "hub-server"
