"""`server request connections`."""

from tests.support.run import Cli
from tests.support.server_requests import answers
from tests.support.servers import HubLeaf


def test_filtered_connections(system: Cli, hub_leaf: HubLeaf) -> None:
    replies = system("server request conn --filter-user nobody --filter-empty --json", status=0).json
    assert replies == []
    replies = system("server request conn --filter-user admin --subscriptions --json", status=0).json
    users = {one["authorized_user"] for reply in replies for one in reply["data"]["connections"]}
    assert users == {"admin"}


def test_connections(system: Cli) -> None:
    assert answers(system, "connections")["num_connections"] > 0
