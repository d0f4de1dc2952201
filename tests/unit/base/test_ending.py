"""A process that ends without freeing anything: all that Python does before it is done."""

import os
import subprocess
import sys
from pathlib import Path

PROBE = """
import atexit, sys, threading, time
from jsctl.base import ending

ending.prepare()
atexit.register(print, "registered")

class Freed:
    def __del__(self):
        print("freed")

kept = Freed()
threading.Thread(target=lambda: (time.sleep(0.05), print("thread"))).start()
print("main")
ending.end(3)
"""


def test_threads_and_functions_of_atexit_end_before_and_nothing_is_freed() -> None:
    ended = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=False)
    assert ended.stdout == "main\nthread\nregistered\n"
    assert (ended.returncode, ended.stderr) == (3, "")


def test_output_that_cannot_be_written_has_the_status_of_python() -> None:
    code = "from jsctl.base import ending; ending.prepare(); print('x'); ending.end(0)"
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run([sys.executable, "-c", code], stdout=full, check=False, env=environ)
    assert ended.returncode == 120
