"""`server network logs`."""

import json
import signal

import pytest

from tests.support.networks import Networks

pytestmark = pytest.mark.cluster


def test_the_logs(networks: Networks, pair: str) -> None:
    lines = networks(f"logs hub --lines 3 -n {pair}").splitlines()
    assert len(lines) == 3
    assert all(line.startswith("hub: [") for line in lines)


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_following_writes_to_stdout(networks: Networks, pair: str, flags: list[str]) -> None:
    words = ["server", "network", "logs", "hub", "--follow", "--lines", "2", "-n", pair, *flags]
    process = networks.cli.start(words)
    try:
        assert process.stdout
        lines = [process.stdout.readline() for _ in range(2)]
        with (networks.folder(pair) / "hub.log").open("a") as log:
            log.write("one more\n")
        lines.append(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        rest, err = process.communicate(timeout=60)
    finally:
        process.kill()
    texts = [json.loads(line) for line in lines] if flags else [line.rstrip("\n") for line in lines]
    assert all(text.startswith("hub: ") for text in texts)
    assert (texts[2], rest, process.returncode) == ("hub: one more", "", 0)
    assert "Traceback" not in err
