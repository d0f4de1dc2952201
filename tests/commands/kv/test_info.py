"""`kv info`."""

from tests.support.run import Cli


def test_info(config: Cli) -> None:
    shown = config("kv info CONFIG", tty=True, status=0).out
    for line in ("Bucket Name: CONFIG", "History Kept: 5", "Keys: 2", "Values Stored: 5", "KV_CONFIG"):
        assert line in shown
    document = config("kv status CONFIG --json", status=0).json
    assert (document["keys"], document["values"], document["newest_revision"]) == (2, 5, 5)
    assert document["stream"]["config"]["name"] == "KV_CONFIG"
    assert config("kv view", answers=["CONFIG"], status=0).out == config("kv info CONFIG", status=0).out
