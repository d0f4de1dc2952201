"""What the benchmarks share."""

import os
from pathlib import Path

from tests.support.servers import RealServer

_CONFIG = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
"""


def start_server(folder: Path) -> RealServer:
    """Start a server with JetStream and without accounts; the caller stops it."""
    return RealServer(folder, _CONFIG).start()


def environment(home: str | Path) -> dict[str, str]:
    """Return the variables of a measured process: with contexts of its own, and with compiled modules, as
    every user has them from the second start on."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, "XDG_CONFIG_HOME": str(home)}
