"""What people see of a bucket, as a whole."""

import pytest

from tests.support.golden import check
from tests.support.run import Cli


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("kv_info.txt", "info CONFIG"),
        ("kv_history.txt", "history CONFIG '>'"),
        ("kv_ls.txt", "ls CONFIG --verbose --display-value"),
        ("kv_get.txt", "get CONFIG '>'"),
    ],
)
def test_whole_outputs(config: Cli, name: str, line: str) -> None:
    config(["kv", "put", "CONFIG", "user.4", "a long value " * 9], status=0)
    config("kv edit CONFIG --description 'What the tests need' --metadata team=a --force", status=0)
    check(name, config(f"kv {line}", tty=True, width=80, environ={"NO_COLOR": "1"}, status=0).out)
