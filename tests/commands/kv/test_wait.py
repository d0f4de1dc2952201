"""`kv wait`."""

import threading

from tests.support import js
from tests.support.run import Cli


def test_a_key_that_has_a_value_is_shown(config: Cli) -> None:
    for flags in ("", "--value Bob", "--revision 2", "--timeout 1s"):
        shown = config(f"kv wait CONFIG user.1 {flags} --json", status=0).json
        assert shown == config("kv get CONFIG user.1 --json", status=0).json
    assert config("kv wait CONFIG user.1 --raw", status=0).out == "Bob"
    gone = config("kv wait CONFIG user.2 --deleted --json", status=0).json
    assert gone == {"bucket": "CONFIG", "key": "user.2", "exists": False}


def test_a_wait_ends_at_its_timeout(config: Cli) -> None:
    for words, missing in {
        "none": "key none does not exist",
        "user.2": "key user.2 was deleted",
        "user.1 --value Ann": "key user.1 has another value at revision 2",
        "user.1 --revision 3": "key user.1 is at revision 2, not 3",
        "user.1 --deleted": "key user.1 still has a value",
    }.items():
        late = config(f"kv wait CONFIG {words} --timeout 200ms", status=4)
        assert late.out == ""
        assert f"error: after 200ms, {missing}; jsctl kv ls CONFIG" in late.err


def test_what_cannot_be_waited_for(config: Cli) -> None:
    assert "bucket NONE not found" in config("kv wait NONE key", status=3).err
    assert "jsctl kv watch" in config("kv wait CONFIG 'user.*'", status=64).err
    config("kv wait CONFIG a --deleted --value x", status=64)
    config("kv wait CONFIG user.1 --raw --json", status=64)


def test_a_key_that_is_stored_later(config: Cli, url: str) -> None:
    later = threading.Timer(0.3, js.publish, (url, "$KV.CONFIG.ready", b"yes"))
    later.start()
    assert config("kv wait CONFIG ready --value yes --timeout 30s --raw", status=0).out == "yes"
    later.join()
    assert js.info(url, "KV_CONFIG")["state"]["consumer_count"] == 0
