"""What a context means for other commands: JetStream domains, nsc, a context by its path."""

import json
import os
from pathlib import Path

from jsctl.errors import ExitStatus
from tests.support.contexts import stored
from tests.support.run import Cli
from tests.support.servers import HubLeaf, RealServer


def test_nsc(cli: Cli, url: str, tmp_path: Path) -> None:
    """The nsc tool is not at hand: a script answers as `nsc generate profile` does."""
    tool = tmp_path / "bin" / "nsc"
    tool.parent.mkdir()
    profile = json.dumps({"user_creds": "", "operator": {"service": [url]}})
    tool.write_text(f"#!/bin/sh\n[ \"$1 $2 $3\" = 'generate profile nsc://o/a/u' ] && echo '{profile}'\n")
    tool.chmod(0o755)
    path = {"PATH": f"{tool.parent}:{os.environ['PATH']}"}
    cli("context add n --nsc nsc://o/a/u", status=0)
    assert stored(cli, "n")["url"] == ""
    assert cli("stream ls --context n", environ=path, status=0).out == "No Streams defined\n"
    cli("context add m --nsc nsc://o/a/other", status=0)
    assert "nsc failed" in cli("stream ls --context m", environ=path, status=ExitStatus.USAGE).err


def test_a_context_by_path(cli: Cli, url: str, tmp_path: Path) -> None:
    file = tmp_path / "here.json"
    file.write_text(json.dumps({"url": url}))
    assert cli(f"stream ls --context {file}", status=0).out == "No Streams defined\n"
    assert cli("stream ls", environ={"NATS_CONTEXT": str(file)}, status=0).out == "No Streams defined\n"


def domain(cli: Cli, line: str) -> str:
    """The API prefix that a line asked, and got an answer on."""
    outcome = cli(f"stream ls --trace {line}", status=0)
    return outcome.err.split(".STREAM.")[0].removeprefix(">>> ")


def test_domains_of_the_guide(cli: Cli, shared_hub_leaf: HubLeaf) -> None:
    cli(f"context add hub -s {shared_hub_leaf.url} --select", status=0)
    cli("context cp hub leaf --js-domain leaf", status=0)
    cli("context cp hub prefix --js-api-prefix $JS.leaf.API", status=0)
    assert domain(cli, "") == "$JS.API"
    assert domain(cli, "--js-domain leaf") == "$JS.leaf.API"
    assert domain(cli, "--context leaf") == "$JS.leaf.API"
    assert domain(cli, "--context leaf --js-domain hub") == "$JS.hub.API"
    assert domain(cli, "--context leaf --js-domain ''") == "$JS.API"
    assert domain(cli, "--context leaf --js-api-prefix ''") == "$JS.API"
    assert domain(cli, "--context leaf --js-api-prefix $JS.hub.API") == "$JS.hub.API"
    assert domain(cli, "--context prefix") == "$JS.leaf.API"
    assert domain(cli, "--context prefix --js-domain ''") == "$JS.API"
    cli("stream ls --js-domain leaf --js-api-prefix x", status=ExitStatus.USAGE)
    outcome = cli("stream ls --js-domain nope", status=ExitStatus.UNREACHABLE)
    assert "no JetStream answers on $JS.nope.API" in outcome.err
    file = cli.home / "nats" / "context" / "leaf.json"
    file.write_text(json.dumps(stored(cli, "leaf") | {"jetstream_api_prefix": "x"}))
    assert "has both" in cli("stream ls --context leaf", status=ExitStatus.USAGE).err


def test_dotted_domain(cli: Cli, tmp_path: Path) -> None:
    """No server has such a domain of its own; an account that imports another's JetStream gives it one."""
    server = RealServer(
        tmp_path / "server",
        """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
accounts {
  A: { jetstream: enabled, users: [{user: a, password: a}], exports: [{service: "$JS.API.>"}] }
  B: { users: [{user: b, password: b}],
       imports: [{service: {account: A, subject: "$JS.API.>"}, to: "$JS.leafacc.spoke-1.API.>"}] }
}
""",
    ).start()
    try:
        cli(f"context add b -s {server.url_for('b')} --select", status=0)
        cli("context cp b dotted --js-domain leafacc.spoke-1", status=0)
        assert domain(cli, "--js-domain leafacc.spoke-1") == "$JS.leafacc.spoke-1.API"
        assert domain(cli, "--context dotted") == "$JS.leafacc.spoke-1.API"
        cli("stream ls", status=ExitStatus.UNREACHABLE)  # B has no JetStream of its own
    finally:
        server.stop()
