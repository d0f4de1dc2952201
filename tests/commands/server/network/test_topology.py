"""`server network topology`."""

import yaml

from tests.support.run import Cli


def test_topology(offline_cli: Cli) -> None:
    names = offline_cli("server network topology", status=0).out.split()
    assert {"single", "hub-leaf", "cluster"} <= set(names)
    assert offline_cli("server network topology --json", status=0).json == names
    for name in names:
        assert yaml.safe_load(offline_cli(f"server network topology {name}", status=0).out)["clusters"]
    assert "'none'" in offline_cli("server network topology none", status=3).err
