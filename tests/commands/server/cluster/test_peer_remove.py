"""`server cluster peer-remove`."""

import pytest

from tests.support.run import Cli


@pytest.mark.parametrize("line", ["server cluster step-down", "server cluster peer-remove hub-server"])
def test_a_single_server_has_no_meta_group(system: Cli, line: str) -> None:
    assert "are not clustered; there is no meta group" in system(line, status=1).err
