"""The manual's page of clusters and schedulers, as far as one machine goes: Spark takes its lines, and an API
of Kubernetes on this machine gets the pod. `test_package` runs its job on a standalone cluster."""

import json
import os
import re
import shlex
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.contract.test_commands import parse
from tests.scenarios.test_manual import blocks, lines
from tests.support import spark_home
from tests.support.spark_cluster import home

pytestmark = pytest.mark.spark

LINES = [line for block in blocks("clusters") if block.language == "bash" for line in lines(block.text)]


def submit(line: str, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Run a line of spark-submit, with more arguments before its own."""
    saved = ("HOME", "PATH", "LANG", "JAVA_HOME")
    environ = {name: os.environ[name] for name in saved if name in os.environ}
    environ |= {"SPARK_HOME": str(home()), "SPARK_LOCAL_IP": "127.0.0.1"}
    words = [str(home() / "bin" / "spark-submit"), *more, *shlex.split(line)[1:]]
    return subprocess.run(
        words, cwd=folder, env=environ, capture_output=True, text=True, check=False, timeout=200
    )


@contextmanager
def kubernetes() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Run an API that creates whatever it is given; yield its address and what it was given."""
    created: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            resource = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            created.append(resource)
            body = json.dumps(resource | {"metadata": resource["metadata"] | {"uid": "u"}}).encode()
            self.send_response(201)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_PATCH = do_PUT = do_POST

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", created
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_lines_of_jsctl_parse() -> None:
    pages = "".join(block.text for block in blocks("clusters") if block.language != "dockerfile")
    found = re.findall(r"jsctl export [^\"\n]+", pages)
    assert len(found) == 4
    for line in found:
        parse(line)


def test_spark_knows_the_flags() -> None:
    spark_home.require_whole_java()
    help = subprocess.run(
        [home() / "bin" / "spark-submit", "--help"], capture_output=True, text=True, check=False
    )
    flags = {
        word for line in LINES if line.startswith("spark-submit") for word in line.split() if word[:2] == "--"
    }
    known = set(re.findall(r"--[a-z-]+", help.stdout + help.stderr))
    assert flags and flags <= known


@pytest.mark.long
def test_kubernetes_gets_the_pod(tmp_path: Path) -> None:
    spark_home.require_whole_java()
    [line] = [line for line in LINES if "k8s://" in line]
    with kubernetes() as (address, created):
        words = line.replace("k8s://https://kubernetes:6443", f"k8s://{address}")
        done = submit(words, tmp_path, "--conf", "spark.kubernetes.submission.waitAppCompletion=false")
        assert done.returncode == 0, done.stderr
    [pod] = [one["spec"] for one in created if one["kind"] == "Pod"]
    [container] = pod["containers"]
    assert container["image"] == "registry.example.net/jsctl-spark:1"
    assert container["args"][-4:] == line.split()[-4:]
    assert {"mountPath": "/run/secrets/nats", "name": "nats-volume"} in container["volumeMounts"]
    assert pod["serviceAccountName"] == "spark"


@pytest.mark.skipif(not shutil.which("kubectl"), reason="there is no kubectl here")
def test_a_cron_job_of_kubernetes(tmp_path: Path) -> None:
    [line] = [line for line in LINES if line.startswith("kubectl")]
    words = shlex.split(line.replace(" -- ", " --dry-run=client -o json -- "))
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [container] = json.loads(done.stdout)["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert container["command"][:3] == ["jsctl", "export", "stream"]


def test_yarn_is_asked_for(tmp_path: Path) -> None:
    """There is no Hadoop cluster here: Spark takes the line as far as the question where one is."""
    spark_home.require_whole_java()
    [line] = [line for line in LINES if "--master yarn" in line]
    done = submit(line, tmp_path)
    assert done.returncode == 1
    assert "either HADOOP_CONF_DIR or YARN_CONF_DIR must be set" in done.stderr
