"""The start of Spark's JVM, stopped at any moment."""

import signal
import subprocess
import threading
from pathlib import Path

import pytest

from jsctl.spark.session import jvm_start
from tests.support.processes import children

pytest.importorskip("pyspark")


def test_ctrl_c_while_the_process_is_created_leaves_nothing(tmp_path: Path) -> None:
    """Popen reads a pipe until the program has replaced the fork, which takes long on a busy machine."""
    from pyspark import java_gateway

    script = tmp_path / "jvm"
    script.write_text("#!/bin/sh\nsleep 60\n")
    script.chmod(0o755)
    main = threading.main_thread().ident
    assert main is not None
    timer = threading.Timer(0.5, signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt), jvm_start.allow_abort():
            create = vars(java_gateway)["Popen"]
            create([str(script)], stdin=subprocess.PIPE, preexec_fn=lambda: threading.Event().wait(2))
    finally:
        timer.join()
    threading.Event().wait(2.5)  # it would be the script by now
    assert children(tmp_path) == []
