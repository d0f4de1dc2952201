import subprocess
import sys

_FORKED = """
import os, signal
from jsctl.jetstream.backup.machine import Machine
Machine("s2")
pid = os.fork()
if not pid:
    signal.alarm(30)
    Machine("entries")
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
"""


def test_a_forked_process_compiles_another_module() -> None:
    subprocess.run([sys.executable, "-c", _FORKED], check=True, timeout=60)
