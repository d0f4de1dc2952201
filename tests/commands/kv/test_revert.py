"""`kv revert`."""

from tests.support.run import Cli


def test_revert(config: Cli) -> None:
    question = config("kv revert CONFIG user.1 1", answers=[False], status=0).asked[0]
    assert "to revision 1: Ann (now revision 2: Bob)" in question
    assert config("kv get CONFIG user.1 --raw", status=0).out == "Bob"
    config("kv revert CONFIG user.1 1 --force", status=0)
    assert config("kv get CONFIG user.1 --raw", status=0).out == "Ann"
    config("kv revert CONFIG user.2 3 --force", status=0)
    assert config("kv get CONFIG user.2 --raw", status=0).out == "Cid"
    assert "has no revision 5" in config("kv revert CONFIG user.1 5 --force", status=3).err
    assert "has no value" in config("kv revert CONFIG user.2 4 --force", status=64).err
    assert "already at revision 6" in config("kv revert CONFIG user.1 6 --force", status=64).err
    config("kv revert CONFIG none 1 --force", status=3)
