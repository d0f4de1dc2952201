"""`errors validate`: files of the same form as the list."""

import json
from pathlib import Path

from jsctl.jetstream import error_catalog
from tests.support.run import Cli


def test_our_own_list_is_sound() -> None:
    result = error_catalog.load()
    assert len(result) > 200 and not error_catalog.find_duplicates(result)


def test_a_file(offline_cli: Cli, file: Path) -> None:
    [one] = json.loads(file.read_text())
    assert "one" in offline_cli(f"errors --errors {file} lookup 10500", status=0).out
    assert offline_cli(f"errors validate {file}", status=0).out == "Validated 1 error\n"
    for wrong in (
        {"code": 0},
        {"error_code": 5},
        {"constant": ""},
        {"description": "{x}"},
        {"description": "a {b"},
    ):
        file.write_text(json.dumps([{**one, **wrong}]))
        failed = offline_cli(f"errors validate {file}", status=1)
        assert "failed: " in failed.err and "is not valid" in failed.err
    file.write_text(json.dumps([one, one]))
    assert "more than once" in offline_cli(f"errors validate {file}", status=1).err
    file.write_text("{")
    offline_cli(f"errors validate {file}", status=64)
    offline_cli("errors validate", status=64)
