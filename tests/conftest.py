"""What pytest needs before it collects tests."""

import os
import signal
import sys

from hypothesis import settings

pytest_plugins = ("tests.support.fixtures", "tests.support.selection", "tests.support.workers")

# A test's terminal says its own size; xdist gives its workers one that would go before it.
for _size in ("COLUMNS", "LINES"):
    os.environ.pop(_size, None)

# Tests start jsctl hundreds of times: without byte code on disk each of those would compile it again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Few examples in every run, the same each time; --hypothesis-profile=thorough tries many others.
# On a busy machine an example takes as long as it takes; the test's own timeout remains.
settings.register_profile("jsctl", deadline=None, max_examples=30, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("jsctl")

# A run in the background inherits ignored signals, and so would the processes to which tests send them.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Commands that tests start do not use an archive of classes, unless a test is about it.
os.environ.setdefault("JSCTL_SPARK_ARCHIVE", "off")
