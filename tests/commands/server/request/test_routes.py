"""`server request routes`."""

from tests.support.run import Cli
from tests.support.server_requests import answers


def test_routes(system: Cli) -> None:
    data = answers(system, "routes")
    assert data["routes"] == []


def test_an_unknown_flag_is_refused(system: Cli) -> None:
    assert "No such option '--nope'" in system("server request routes --nope", status=64).err
