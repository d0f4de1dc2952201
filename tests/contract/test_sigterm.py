"""SIGTERM, as timeout, systemd and Kubernetes send it, to what has no end of its own."""

from collections.abc import Sequence

import pytest

from tests.support import js
from tests.support.processes import is_connected
from tests.support.run import Cli
from tests.support.waiting import wait_for


@pytest.mark.parametrize(
    "line",
    [
        "sub s.>",
        "sub s.> --count 9",
        "sub s.> --json",
        "sub --stream S",
        "sub s.> --report-subjects",
        "consumer sub S C",
        "kv watch B",
        "object watch O",
        "events --all",
        "reply r hello",
        "service serve echo",
        "report --watch 200ms",
        "report --watch 200ms --json",
        "account report connections --watch 200ms",
        "server watch jetstream",
    ],
)
def test_what_is_watched_ends_with_143(line: str, cli: Cli, url: str, system_url: str) -> None:
    js.stream(url, "S", "s.>")
    cli("consumer add S C --pull --defaults", status=0)
    cli("kv add B", status=0)
    cli("object add O", status=0)
    words: Sequence[str] = line.split()
    if words[0] == "server":
        words = [*words, "--server", system_url]
    process = cli.start(words)
    try:
        wait_for(lambda: is_connected(process.pid), "it does not connect")
        process.terminate()
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 143 and "Traceback" not in err, (out, err)
