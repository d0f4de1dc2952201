"""What servers say of themselves to `server request`."""

import json
from typing import Any

from tests.support.run import Cli


def answers(system: Cli, kind: str) -> dict[str, Any]:
    """Request it of the hub and its leaf node, and of the hub alone; return the data of the hub."""
    lines = system(f"server request {kind}", status=0).out.splitlines()
    assert {json.loads(line)["server"]["name"] for line in lines} == {"hub-server", "leaf-server"}
    (document,) = system(f"server req {kind} --name hub-server --json", status=0).json
    assert document["server"]["name"] == "hub-server"
    data: dict[str, Any] = document["data"]
    return data
