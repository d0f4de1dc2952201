"""Exports to S3: a real API on this machine, real kills. hadoop-aws is from Maven Central the first time."""

import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from tests.commands.export.test_stream import fill
from tests.support.run import Cli
from tests.support.s3 import LOGIN, Store, serve_s3

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(900)]

COUNT = 60_000


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with serve_s3(tmp_path_factory.mktemp("s3") / "log") as store:
        yield store


def start(cli: Cli, store: Store, *words: str, program: Sequence[str] = ("-m", "jsctl")) -> Popen[str]:
    return Popen(
        [sys.executable, *program, *words, *store.settings],
        env={
            **os.environ,
            **cli.environ,
            **LOGIN,
            "HOME": str(Path.home()),
            "SPARK_HOME": "",
            "JAVA_HOME": "",
        },
        stdout=PIPE,
        stderr=PIPE,
        text=True,
    )


def run(cli: Cli, store: Store, *words: str, program: Sequence[str] = ("-m", "jsctl")) -> str:
    process = start(cli, store, *words, program=program)
    out, err = process.communicate(timeout=600)
    if "unresolved dependency" in err or "Server access error" in err:
        pytest.skip("hadoop-aws is not here and Maven Central cannot be reached")
    assert process.returncode == 0 and "hush" not in out + err, err
    return out


def test_killed_and_again(cli: Cli, url: str, store: Store) -> None:
    fill(url, COUNT)
    line = ("export", "stream", "ORDERS", "--to", "s3a://lake/x", "--incremental")
    run(cli, store, *line, "--to-seq", "1000")
    assert store.sequences("lake/x/ORDERS") == list(range(1, 1001))
    done = 1000
    for _ in range(3):
        process = start(cli, store, *line)
        time.sleep(random.uniform(4, 14))
        process.kill()
        process.communicate()
        run(cli, store, *line, "--to-seq", str(done + 5000))
        found = store.sequences("lake/x/ORDERS")
        done = len(found)
        assert found == list(range(1, done + 1)) and done >= 6000
    run(cli, store, *line, "--verify")
    assert store.sequences("lake/x/ORDERS") == list(range(1, COUNT + 1))
    query = run(cli, store, "export", "query", "--from", "s3a://lake/x", "SELECT count(*) AS n FROM ORDERS")
    assert f"{COUNT:,}" in query


def test_two_at_once(cli: Cli, url: str, store: Store) -> None:
    fill(url, COUNT)
    line = ("export", "stream", "ORDERS", "--to", "s3a://lake/two", "--incremental")
    processes = [start(cli, store, *line) for _ in range(2)]
    for process in processes:
        _, err = process.communicate(timeout=600)
        assert process.returncode == 0 or "another export" in err, err
    run(cli, store, *line)
    assert store.sequences("lake/two/ORDERS") == list(range(1, COUNT + 1))


REPLACE_AND_READ = """
import sys, threading, time
from jsctl.spark.session.hadoop import HadoopPath
from jsctl.spark.session.packages import add_packages
from jsctl.spark.session.session import SessionOptions

file = HadoopPath("s3a://lake/replaced.json")
conf = dict(word.split("=", 1) for word in sys.argv if "=" in word)
with SessionOptions(conf=add_packages(conf, "auto", [file])).open() as spark:
    file = file.connect(spark)
    file.write_text("0")

    def write():
        for n in range(1, 201):
            file.write_text("1" * n)
            time.sleep(0.01)

    writer = threading.Thread(target=write)
    writer.start()
    while writer.is_alive():
        assert file.read_text().strip("1") in ("", "0")
"""


def test_a_file_that_is_replaced_while_it_is_read(cli: Cli, store: Store) -> None:
    """S3A opens a file and reads it in two requests, and the second asks for what the first one saw."""
    run(cli, store, program=("-c", REPLACE_AND_READ))
