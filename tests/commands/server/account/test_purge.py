"""`server account purge`."""

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import HubLeaf
from tests.support.waiting import wait_for


def test_purge(system: Cli, hub_cli: Cli, hub_leaf: HubLeaf) -> None:
    js.stream(hub_leaf.url, "S", "s", domain="hub", metadata={"jsctl.protect": "true"})
    refused = system("server account purge ACC --force", status=1)
    assert refused.err == "jsctl: error: nothing was done: stream S is protected; --unprotect S permits it\n"
    assert "none of what this is about" in system("server account purge ACC --unprotect NOPE", status=64).err
    assert "is protected" in system("server account purge ACC --dry-run", status=1).err
    hub_cli("stream edit S --metadata jsctl.protect=false --force --js-domain hub", status=0)
    dry = system("server account purge ACC --dry-run", status=0).out
    assert "Would remove all streams and consumers of account ACC (1 stream, " in dry
    assert "use --force" in system("server account purge ACC", status=64).err
    done = system("server account purge ACC --force", terminal_error=True, status=0)
    assert "the purge of account ACC has begun" in done.err
    wait_for(lambda: hub_cli("stream ls --js-domain hub --json", status=0).json == [], "the stream is there")
