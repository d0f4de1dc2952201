"""`stream ls` on a real server."""

from tests.support.run import Cli


def test_no_streams(cli: Cli) -> None:
    assert cli("stream ls", status=0).out == "No Streams defined\n"
    assert cli("stream ls --json", status=0).json == []


def test_global_flags_work_anywhere(cli: Cli, url: str) -> None:
    line = f"--server {url}"
    for words in (f"{line} stream ls", f"stream {line} ls", f"stream ls {line}", f"s l -s {url}"):
        assert cli(words, environ={"NATS_URL": "nats://127.0.0.1:1"}, status=0).out == "No Streams defined\n"
