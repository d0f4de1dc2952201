"""Exports to S3: a real API on this machine, real kills. hadoop-aws is from Maven Central the first time."""

import os
import random
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from pyarrow.fs import FileSelector

from jsctl.errors import JsctlError
from jsctl.spark.export.task_folders import S3Folder, name_in_errors
from tests.commands.export.test_stream import fill
from tests.support.run import Cli
from tests.support.s3 import LOGIN, Store, serve_metadata, serve_s3
from tests.support.waiting import wait_for

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(900)]

COUNT = 60_000


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with serve_s3(tmp_path_factory.mktemp("s3") / "log") as store:
        yield store


def start(
    cli: Cli,
    store: Store,
    *words: str,
    program: Sequence[str] = ("-m", "jsctl"),
    login: Mapping[str, str] = LOGIN,
) -> Popen[str]:
    return Popen(
        [sys.executable, *program, *words, *store.settings],
        env={**os.environ, **cli.environ, **login, "HOME": str(Path.home())},
        stdout=PIPE,
        stderr=PIPE,
        text=True,
    )


def run(cli: Cli, store: Store, *words: str, **options: Any) -> str:
    process = start(cli, store, *words, **options)
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
        assert process.returncode == 0 or "another export" in err or "run it again" in err, err
    run(cli, store, *line)
    assert store.sequences("lake/two/ORDERS") == list(range(1, COUNT + 1))


def created_by(store: Store, folder: str) -> set[str]:
    """What wrote the files of a table."""
    files = pyarrow.dataset.dataset(folder, filesystem=store.files).files
    return {pq.read_metadata(file, filesystem=store.files).created_by.partition(" ")[0] for file in files}


def test_tasks_write_partitions(cli: Cli, url: str, store: Store) -> None:
    fill(url, 2000)
    line = ("export", "stream", "ORDERS", "--incremental", "--partition-by", "hour", "--to")
    for to, settings in (("tasks", ()), ("spark", ("--conf", "spark.sql.parquet.compression.codec=snappy"))):
        run(cli, store, *line, f"s3a://lake/{to}", "--to-seq", "900", *settings)
        run(cli, store, *line, f"s3a://lake/{to}", "--verify", *settings)
        assert store.sequences(f"lake/{to}/ORDERS") == list(range(1, 2001))
    assert created_by(store, "lake/tasks/ORDERS") == {"parquet-cpp-arrow"}
    assert created_by(store, "lake/spark/ORDERS") == {"parquet-mr"}


@pytest.mark.skipif(Path("~/.aws").expanduser().exists(), reason="pyarrow would take the login from ~/.aws")
def test_the_role_of_a_machine(cli: Cli, url: str, store: Store) -> None:
    """Both Hadoop and pyarrow ask for it."""
    fill(url, 20)
    with serve_metadata() as metadata:
        role = {"AWS_EC2_METADATA_SERVICE_ENDPOINT": metadata}
        run(cli, store, "export", "stream", "ORDERS", "--to", "s3a://lake/role", "--verify", login=role)
    assert created_by(store, "lake/role/ORDERS") == {"parquet-cpp-arrow"}


def test_ctrl_c_while_no_store_answers(cli: Cli, url: str, store: Store, tmp_path: Path) -> None:
    """Hadoop goes on asking for minutes."""
    fill(url, COUNT)
    run(cli, store, "export", "stream", "ORDERS", "--to", "s3a://lake/first", "--to-seq", "1")
    with serve_s3(tmp_path / "log") as lost:
        process = start(cli, lost, "export", "stream", "ORDERS", "--to", "s3a://lake/x", "--file-size", "1kB")
        table = FileSelector("lake/x/ORDERS", allow_not_found=True)
        wait_for(lambda: lost.files.get_file_info(table), "no file in the store", 90)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130


def test_a_file_is_there_when_it_is_complete(store: Store) -> None:
    options = (
        ("access_key", "somebody"),
        ("secret_key", "hush"),
        ("region", "us-east-1"),
        ("endpoint_override", f"127.0.0.1:{store.port}"),
        ("scheme", "http"),
    )
    folder = S3Folder("lake/complete", "s3a://lake/complete", options)
    with folder.create("a=1/whole") as file:
        file.write(b"whole")
    with pytest.raises(ZeroDivisionError), folder.create("a=1/whole") as file:
        file.write(b"a part")
        raise ZeroDivisionError
    assert store.files.open_input_stream("lake/complete/a=1/whole").read() == b"whole"
    lost = S3Folder("no-such-bucket/x", "s3a://no-such-bucket/x", options)
    message = "Spark cannot write to s3a://no-such-bucket/x"
    with pytest.raises(JsctlError, match=message), name_in_errors(lost.target), lost.create("y"):
        pass


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
