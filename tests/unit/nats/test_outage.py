"""What is said about the errors that a server sends."""

import pytest

from jsctl.nats import outage
from jsctl.nats.events import ErrorReported


def test_an_error_that_is_repeated_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    now = [100.0]
    monkeypatch.setattr("jsctl.nats.outage.time.monotonic", lambda: now[0])
    reporter = outage.ConnectionReporter(said.append)
    for _ in range(237_954):
        reporter(ErrorReported("Slow Consumer"))
    assert said == ["jsctl: Slow Consumer"]
    now[0] += 6
    reporter(ErrorReported("Slow Consumer"))
    assert said[1:] == ["jsctl: the server sent 237,953 further errors", "jsctl: Slow Consumer"]
    reporter(ErrorReported("Slow Consumer"))
    reporter.stop()
    assert said[3:] == ["jsctl: the server sent 1 further error"]
    reporter.stop()
    assert len(said) == 4


def test_ever_different_errors_are_counted() -> None:
    said: list[str] = []
    reporter = outage.ConnectionReporter(said.append)
    for number in range(50_000):
        reporter(ErrorReported(f"error {number}"))
    reporter.stop()
    assert said == [*(f"jsctl: error {n}" for n in range(10)), "jsctl: the server sent 49,990 further errors"]
