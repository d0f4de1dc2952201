"""`server request leafnodes`."""

from tests.support.run import Cli
from tests.support.server_requests import answers


def test_leafnodes(system: Cli) -> None:
    data = answers(system, "leafnodes")
    assert {leaf["account"] for leaf in data["leafs"]} == {"ACC", "SYS"}


def test_an_unknown_flag_is_refused(system: Cli) -> None:
    assert "No such option '--nope'" in system("server request leafnodes --nope", status=64).err
