"""`auth nuid gen`."""

import re

from tests.support.run import Cli


def test_each_is_another(offline_cli: Cli) -> None:
    shown = {offline_cli("auth nuid gen", status=0).out for _ in range(3)}
    assert len(shown) == 3 and all(re.fullmatch(r"[0-9A-Za-z]{22}\n", text) for text in shown)
    assert len(offline_cli("auth nuid gen --json", status=0).json["nuid"]) == 22
