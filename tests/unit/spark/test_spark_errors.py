"""What is left of an error of Spark: one line that says what failed."""

import pytest

from jsctl.spark.export.job_errors import job_error
from jsctl.spark.session.spark_errors import extract_message

WRITING = "Task failed while writing rows to file:/data/orders/.staging/a39bdc/ORDERS. SQLSTATE: 58030"
FULL = f"[TASK_WRITE_FAILED] {WRITING}\n\tat X\nCaused by: java.io.IOException: No space left on device"
CALLED = (
    "An error occurred while calling o79.save.\n: org.apache.spark.SparkException: Job aborted.\n\tat X\n"
    "Caused by: java.nio.file.AccessDeniedException: /data/x\n\tat Y"
)
IN_TASK = (
    'An exception was thrown from the Python worker:\nTraceback (most recent call last):\n  File "a.py"\n'
    "OSError: first\n\nDuring handling, another exception occurred:\n\nTraceback (most recent call last):\n"
    "  File \"a.py\", line 2\n    raise KeyError\nKeyError: 'a\nb'\n"
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (FULL, "No space left on device"),
        (CALLED, "/data/x"),
        (IN_TASK, "KeyError: 'a"),
        ("An error occurred while calling o1.load.\n: java.lang.Error: broken\n\tat X", "broken"),
        ("[NO_TABLE] no such table. SQLSTATE: 42P01", "no such table."),
    ],
)
def test_first_line(text: str, line: str) -> None:
    assert extract_message(RuntimeError(text)) == line


def test_a_full_disk_names_the_folder_of_the_export() -> None:
    error = job_error(RuntimeError(FULL))
    assert str(error) == "Spark cannot write to /data/orders: No space left on device"
