"""Networks for the tests of `jsctl doctor`: what is wrong with them is in their configuration."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.run import Cli
from tests.support.servers import RealServer

ACC_EXPORTS = """
    {service: "$JS.hub.API.CONSUMER.CREATE.>", response_type: "stream"}
    {service: "$JS.hub.API.STREAM.INFO.*"}
    {stream: "deliver.acc.hub.>"}
    {service: "$JS.FC.>"}"""
REMOTE = "JS.acc@hub.API"


ALONE = "ABOVE_ALL: { users: [{user: alone, password: alone}], jetstream: enabled }"
"""An account that no leaf node connects. Its name goes before ACC: a server that is asked for an account that
it does not have describes all in order, and ends with ACC and its streams."""


def _imported(kind: str, subject: str, to: str = "") -> str:
    renamed = f', to: "{to}"' if to else ""
    return f'{{{kind}: {{account: ACC, subject: "{subject}"}}{renamed}}}'


CREATE = _imported("service", "$JS.hub.API.CONSUMER.CREATE.>", f"{REMOTE}.CONSUMER.CREATE.>")
INFO = _imported("service", "$JS.hub.API.STREAM.INFO.*", f"{REMOTE}.STREAM.INFO.*")
DELIVER = _imported("stream", "deliver.acc.hub.imp.>")
FLOW = _imported("service", "$JS.FC.>")


def hub(
    imports: Sequence[str] = (CREATE, DELIVER, FLOW), *, exports: str = "", more: str = "", port: int = 0
) -> str:
    """Return the configuration of a hub: account ACC exports to account IMP what a mirror needs.

    exports: more of ACC. more: accounts. port: for leaf nodes.
    """
    leafnodes = f'leafnodes {{ listen: "127.0.0.1:{port}" }}' if port else ""
    return f"""
listen: "127.0.0.1:{{port}}"
server_name: hub-server
jetstream {{ store_dir: "{{store}}", domain: hub }}
{leafnodes}
accounts {{
  SYS: {{ users: [{{user: admin, password: admin}}] }}
  ACC: {{ users: [{{user: acc, password: acc}}], jetstream: enabled, exports: [ {ACC_EXPORTS}
    {exports} ] }}
  IMP: {{ users: [
    {{user: imp, password: imp}}
    {{user: mute, password: mute, permissions: {{ publish: {{ deny: "$SYS.>" }} }} }}
  ], jetstream: enabled, imports: [ {", ".join(imports)} ] }}
  {more}
}}
system_account: SYS
"""


def leaf(port: int, *, name: str = "leaf-server", domain: str = "leaf", system: bool = True) -> str:
    """Return the configuration of a leaf node. port: the hub's, for leaf nodes."""
    remote = f'{{ urls: ["nats-leaf://admin:admin@127.0.0.1:{port}"], account: SYS }}' if system else ""
    return f"""
listen: "127.0.0.1:{{port}}"
server_name: {name}
jetstream {{ store_dir: "{{store}}" {f", domain: {domain}" if domain else ""} }}
leafnodes {{ reconnect: 1, remotes: [
  {remote}
  {{ urls: ["nats-leaf://acc:acc@127.0.0.1:{port}"], account: ACC }}
] }}
accounts {{
  SYS: {{ users: [{{user: admin, password: admin}}] }}
  ACC: {{ users: [{{user: acc, password: acc}}], jetstream: enabled }}
  {ALONE}
}}
system_account: SYS
"""


class Patient:
    """jsctl with contexts for some servers."""

    def __init__(self, home: Path) -> None:
        self.cli = Cli(home / "config")

    def context(self, name: str, url: str) -> None:
        """Add a context."""
        self.cli(f"context add {name} --server {url}", status=0)

    def codes(self, line: str = "--all-contexts") -> list[str]:
        """Return the codes of all findings."""
        return [finding["code"] for finding in self.findings(line)]

    def findings(self, line: str = "--all-contexts") -> list[dict[str, Any]]:
        """Return all findings; the exit status must be 1 if there are any."""
        outcome = self.cli(f"doctor --json {line}")
        findings: list[dict[str, Any]] = outcome.json["findings"]
        assert outcome.status == bool(findings), outcome
        return findings


@contextmanager
def running(folder: Path, *configs: str) -> Iterator[list[RealServer]]:
    """Run servers with these configurations."""
    servers = [RealServer(folder, config, name=f"server{number}") for number, config in enumerate(configs)]
    try:
        yield [server.start() for server in servers]
    finally:
        for server in servers:
            server.stop()
