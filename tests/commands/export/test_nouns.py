"""What holds for every verb of a noun (tests/contract/test_nouns.py), for those that start Spark."""

from pathlib import Path
from typing import Any

import pytest

from tests.contract.test_nouns import NEEDS_SPARK, assert_denied, assert_unknown, assert_unreachable
from tests.contract.test_nouns import here as here
from tests.contract.test_nouns import server as server
from tests.support.servers import RealServer

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("path", NEEDS_SPARK)
def test_a_name_a_server_and_a_right_that_are_not_there(
    path: str, here: Path, server: RealServer, spark: Any
) -> None:
    assert_unknown(path, here, server)
    assert_unreachable(path, here, server)
    assert_denied(path, here, server)
