"""`kv compact`."""

from tests.support.buckets import operations
from tests.support.run import Cli


def test_compact(config: Cli) -> None:
    dry = config("kv compact CONFIG --dry-run --json", status=0).json
    would = "remove the earlier values of 1 deleted key of bucket CONFIG"
    assert dry == {"dry_run": True, "would": would, "bucket": "CONFIG", "keys": 1, "markers": 0}
    questions = config("kv compact CONFIG", answers=[False], status=0).asked[0]
    assert "the earlier values of 1 deleted key of bucket CONFIG" in questions
    config("kv compact CONFIG --force", status=0)
    assert operations(config, "user.2") == ["DEL"], "a new marker stays"
    config("kv compact CONFIG --older 0s --force", status=0)
    assert "key user.2 not found" in config("kv history CONFIG user.2", status=3).err
    assert operations(config, "user.1") == ["PUT", "PUT"]
    assert "Removed 0 messages" in config("kv compact CONFIG --force", status=0).out
