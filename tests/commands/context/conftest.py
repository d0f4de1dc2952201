"""jsctl with its own, empty folder of contexts."""

import pytest

from tests.support.run import Cli


@pytest.fixture
def cli(offline_cli: Cli) -> Cli:
    offline_cli.environ["PROMPT_TOOLKIT_NO_CPR"] = "1"  # pexpect does not answer where the cursor is
    return offline_cli
