"""An operator, and a server that takes its accounts."""

from pathlib import Path

from jsctl.auth.folders import StoreFolders
from jsctl.auth.store import AuthStore
from tests.support.run import Cli
from tests.support.servers import RealServer, free_port


class Site:
    """An operator's store, and a server with a full resolver. cli: of a site whose store it shares."""

    def __init__(self, folder: Path, operator: str = "ACME", cli: Cli | None = None) -> None:
        self.cli = cli or Cli(folder / "config")
        data = self.cli.environ.setdefault("XDG_DATA_HOME", str(folder / "data"))
        self.store = AuthStore(StoreFolders.below(Path(data) / "nats" / "nsc"), operator)
        port = free_port()
        self.cli(f"auth operator add {operator} --service nats://127.0.0.1:{port}", status=0)
        config = self.cli(f"auth operator config {operator} --dir {folder / 'jwt'}", status=0).out
        # Without max_file, accounts of more than three quarters of the free disk have no JetStream.
        common = (
            'listen: "127.0.0.1:{port}"\nserver_name: n1\njetstream { store_dir: "{store}", max_file: 1TB }\n'
        )
        self.server = RealServer(folder / "server", "", port)
        text = common.replace("{port}", str(port)).replace("{store}", str(folder / "server" / "js"))
        self.server.config.write_text(text + config)
        self.server.start()
