"""`stream template`: the file that it shows does what a template did."""

from pathlib import Path

from tests.support import js
from tests.support.run import Cli


def test_the_file_that_is_shown_works(cli: Cli, url: str, tmp_path: Path) -> None:
    line = 'str template add CLIENTS --subjects "CLIENT.*" --ack --max-msgs=-1 --max-streams 1024 --json'
    file = tmp_path / "clients.yaml"
    file.write_text(cli(line, status=1).json["file"])
    cli(["apply", "-f", str(file)], status=0)
    assert js.info(url, "CLIENTS_acme")["config"]["subjects"] == ["CLIENT.acme"]
    assert cli("stream ls --json", status=0).json == ["CLIENTS_acme", "CLIENTS_globex"]


def test_what_people_see(offline_cli: Cli) -> None:
    shown = offline_cli("stream template", status=1).out
    assert "no longer has stream templates" in shown
    assert '    name: "CLIENTS_{{client}}"' in shown and "jsctl apply -f" in shown
    hostile = offline_cli(["stream", "template", "add", "a\x1bb: c", "--subjects={{x}}.*"], status=1).out
    assert "CLIENTS_" in hostile and "\x1b" not in hostile
    assert "no such option" in offline_cli("stream template --max 1", status=64).err
