"""A file of errors."""

import json
from pathlib import Path

import pytest

ONE = {"constant": "JSOneErr", "code": 400, "error_code": 10500, "description": "one", "mine": 7}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "errors.json"
    path.write_text(json.dumps([ONE]))
    return path
