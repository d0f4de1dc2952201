"""Ctrl-C while Spark works for a command that waits in the main thread."""

import signal
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.long]

SCRIPT = """
import os, signal, threading, time
from jsctl.errors import JsctlError
from jsctl.spark.session.session import open_session

def interrupt(tracker):
    while not tracker.getActiveJobsIds():
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)

with open_session() as spark:
    threading.Thread(target=interrupt, args=[spark.sparkContext.statusTracker()]).start()
    try:
        spark.range(1).selectExpr("reflect('java.lang.Thread', 'sleep', 900000L)").toArrow()
    except Exception:
        raise JsctlError("Spark cannot read the rows") from None
"""


def test_ctrl_c_is_no_error_of_spark() -> None:
    """PySpark raises the error of the cancelled job in place of KeyboardInterrupt."""
    process = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert process.returncode == -signal.SIGINT, process.stderr
    assert process.stderr.splitlines()[-1] == "KeyboardInterrupt"
