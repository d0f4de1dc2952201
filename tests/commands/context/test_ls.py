"""`context ls`."""

from jsctl.errors import ExitStatus
from tests.support.contexts import SECRET, write
from tests.support.run import Cli


def test_ls(cli: Cli) -> None:
    assert cli("context ls", status=0).out == "No known contexts\n"
    assert cli("context ls --json", status=0).json == []
    cli("context add b:1 --description 'second \x1b[31m'", status=0)
    cli(f"context add a -s nats://u:{SECRET}@h --token {SECRET} --description first --select", status=0)
    table = cli("context ls", tty=True, environ={"NO_COLOR": "1"}, status=0).out
    assert "Known Contexts" in table and "│ a*   │ first" in table and "│ b:1  │ second \\x1b[31m" in table
    assert "│ nats://h " in table and SECRET not in table
    assert cli("context list --names", status=0).out == "a\nb:1\n"
    assert cli("context l --completion", status=0).out == "a*:first\nb\\:1:second \\x1b[31m\n"
    listed = cli("context ls --json", status=0)
    assert SECRET not in listed.out
    assert cli("context ls --names --json", status=0).json == listed.json
    assert [(c["name"], c["selected"]) for c in listed.json] == [("a", True), ("b:1", False)]
    assert SECRET in cli("context ls --json --show-secrets", status=0).out


def test_ls_survives_broken_contexts(cli: Cli) -> None:
    cli("context add a --select", status=0)
    write(cli, "broken", "{")
    (cli.home / "nats" / "context.txt").write_text("gone")
    for tty in (True, False):
        outcome = cli("context ls", tty=tty, status=0)
        assert "a" in outcome.out
        assert "broken.json cannot be used: line 1" in outcome.err
    assert "the selected context 'gone' does not exist" in cli("stream ls", status=ExitStatus.NOT_FOUND).err
