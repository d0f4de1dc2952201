"""Which errors of the JetStream API pass by themselves."""

import pytest

from jsctl.errors import ApiError, BadInput, JsctlError, Unreachable
from jsctl.jetstream.api import is_transient


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ApiError(503, 10008, "JetStream system temporarily unavailable"), True),
        (ApiError(500, 10003, "insufficient resources"), True),
        (ApiError(404, 10059, "stream not found"), False),
        (ApiError(400, 10052, "invalid configuration"), False),
        (Unreachable("no answer"), True),
        (BadInput("not a valid subject"), False),
    ],
)
def test_errors_that_pass(error: JsctlError, expected: bool) -> None:
    assert is_transient(error) is expected
