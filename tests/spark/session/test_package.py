"""`python -m jsctl.spark.package`: a plain spark-submit with only that ZIP file, on a standalone cluster
whose Python has no jsctl, to a server that wants a signed login."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.scenarios.test_manual import blocks
from tests.support import spark_home
from tests.support.jwt import Operator, write_creds
from tests.support.run import Cli
from tests.support.servers import RealServer
from tests.support.spark_cluster import Cluster, bare_python, home, without_jsctl

pytestmark = [pytest.mark.cluster, pytest.mark.spark, pytest.mark.timeout(300)]


def package(*arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "jsctl.spark.package", *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def test_spark_submit_with_the_package(tmp_path: Path) -> None:
    spark_home.require_whole_java()
    archive = tmp_path / "jsctl.zip"
    done = package(str(archive))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert f"wrote {archive}, " in done.stderr
    python = bare_python(tmp_path / "python")
    assert without_jsctl(python)
    operator = Operator()
    jwt, key = operator.user()
    write_creds(tmp_path / "creds", jwt, key.seed)
    [job_file] = [block.text for block in blocks("clusters") if block.path == "job.py"]
    (tmp_path / "job.py").write_text(job_file + "\nimport jsctl\nprint('from:', jsctl.__file__)\n")
    server = RealServer(tmp_path, operator.config()).start()
    cluster = Cluster(tmp_path, python)
    try:
        cluster.start_worker()
        cli = Cli(tmp_path / "config")
        cli(f"context add net -s {server.url} --creds {tmp_path}/creds --defaults --select", status=0)
        cli("stream add ORDERS --subjects ORDERS.> --allow-direct --defaults", status=0)
        cli("pub ORDERS.a x --count 50", status=0)
        saved = ("HOME", "PATH", "LANG", "JAVA_HOME")
        environ = {name: os.environ[name] for name in saved if name in os.environ}
        environ |= {"PYSPARK_PYTHON": str(python), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(home())}
        submit = [str(home() / "bin" / "spark-submit"), "--master", cluster.master]
        job = subprocess.run(
            [*submit, "--py-files", str(archive), "job.py", server.url, "creds", str(tmp_path / "orders")],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert job.returncode == 0, job.stderr[-4000:]
        assert "jsctl.zip/jsctl/__init__.py" in job.stdout
        assert len(pq.read_table(tmp_path / "orders")) == 50
    finally:
        cluster.stop()
        server.stop()


def test_the_package_has_no_secret_and_says_what_is_wrong(tmp_path: Path) -> None:
    archive = tmp_path / "jsctl.zip"
    assert package(str(archive)).returncode == 0
    names = zipfile.ZipFile(archive).namelist()
    assert {"jsctl/__init__.py", "nats/__init__.py", "nkeys/__init__.py"} <= set(names)
    assert not [name for name in names if "jsctl_key" in name or name.endswith(".pyc")]
    for arguments, status, words in (
        (["jsctl.whl"], 64, "jsctl.whl is not the name of a ZIP file; use one such as jsctl.zip"),
        ([str(tmp_path / "no" / "x.zip")], 1, "cannot write"),
        ([], 64, "usage: python -m jsctl.spark.package FILE.zip"),
        (["--help"], 0, "usage: python -m jsctl.spark.package FILE.zip"),
    ):
        done = package(*arguments)
        assert (done.returncode, done.stderr.count("\n")) == (status, 1), done.stderr
        assert words in done.stderr
