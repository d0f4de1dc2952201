"""`server request gateways`."""

from tests.support.run import Cli
from tests.support.server_requests import answers


def test_gateways(system: Cli) -> None:
    data = answers(system, "gateways")
    assert data["outbound_gateways"] == data["inbound_gateways"] == {}


def test_an_unknown_flag_is_refused(system: Cli) -> None:
    assert "No such option '--nope'" in system("server request gateways --nope", status=64).err
