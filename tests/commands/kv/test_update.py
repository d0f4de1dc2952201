"""`kv update`."""

from tests.support.run import Cli


def test_update_needs_the_revision(config: Cli) -> None:
    refused = config("kv update CONFIG user.1 Zed 1", status=1)
    assert "key user.1 is at revision 2, not 1" in refused.err
    assert config("kv update CONFIG user.1 Zed 2", status=0).out == "CONFIG > user.1 revision: 6\n"
    config("kv update CONFIG new x 0", status=0)
    assert "key none not found" in config("kv update CONFIG none x 3", status=3).err
