"""The enum of the server's error codes is the server's list."""

import subprocess
import sys
from pathlib import Path

from jsctl import registry
from jsctl.jetstream import error_catalog, error_hints
from jsctl.nats import error_code_enum
from jsctl.nats.error_code_enum import ErrorCode
from tests.support.error_codes import name, source


def test_it_is_the_servers_list() -> None:
    entries = error_catalog.load()
    assert {code.name: code.value for code in ErrorCode} == {
        name(entry["constant"]): entry["error_code"] for entry in entries
    }
    assert len(ErrorCode.__members__) == len(entries), "two errors have one name"


def test_it_is_what_the_generator_writes() -> None:
    assert Path(error_code_enum.__file__).read_text(encoding="utf-8") == source()


def test_names() -> None:
    assert name("JSStreamNotFoundErr") == "STREAM_NOT_FOUND"
    assert name("JSStreamWrongLastSequenceErrF") == "STREAM_WRONG_LAST_SEQUENCE"
    assert name("JSStreamMsgDeleteFailedF") == "STREAM_MSG_DELETE_FAILED"
    assert name("JSInvalidJSONErr") == "INVALID_JSON"


def test_every_noun_names_a_code() -> None:
    codes = [noun.error for noun in registry.list_nouns() if noun.error]
    assert codes and set(codes) <= ErrorCode.__members__.keys()
    assert error_hints.find_hint(ErrorCode.STREAM_NOT_FOUND).startswith("jsctl stream ls ")


def test_they_are_loaded_for_an_error_only() -> None:
    code = "import sys, jsctl.jetstream.api; sys.exit('jsctl.nats.error_code_enum' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
