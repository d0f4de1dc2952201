"""Spark on other machines: a standalone cluster, executors of a local one, and a Connect server. None of them
has jsctl, or a file of the login."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import trustme

from tests.support import spark_home
from tests.support.jwt import Operator, write_creds
from tests.support.run import Cli
from tests.support.servers import RealServer, free_port
from tests.support.spark_cluster import SCRIPT, Cluster, bare_python, home, without_jsctl
from tests.support.waiting import wait_for

pytestmark = [pytest.mark.cluster, pytest.mark.spark, pytest.mark.timeout(500)]

LOCAL_CLUSTER = "local-cluster[1,1,1024]"
COUNT = 200

SLEEPY = "reflect('java.lang.Thread', 'sleep', 900000L) = ''"
"""A condition that takes a task a quarter of an hour."""


class Network:
    """A server that wants a signed login and a client's certificate. `run` starts jsctl with a context for
    it, whose files only that process can open: they are gone, and it has them open."""

    def __init__(self, folder: Path, cluster: Cluster) -> None:
        operator, authority = Operator(), trustme.CA()
        jwt, key = operator.user()
        pems = {
            "ca": authority.cert_pem.bytes().decode(),
            "both": authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.bytes().decode(),
        }
        own = authority.issue_cert("client@example.net")
        pems |= {"key": own.private_key_pem.bytes().decode(), "cert": own.cert_chain_pems[0].bytes().decode()}
        for name, text in pems.items():
            (folder / name).write_text(text)
        write_creds(folder / "creds", jwt, key.seed)
        self.secrets = [key.seed, jwt, *(line for line in pems["key"].splitlines() if len(line) > 40)]
        self.folder = folder
        self.cluster = cluster
        tls = f'cert_file: "{folder}/both", key_file: "{folder}/both", ca_file: "{folder}/ca", verify: true'
        self.server = RealServer(folder, f"{operator.config()}\ntls {{ {tls} }}\n").start()
        self.files = {name: os.open(folder / name, os.O_RDONLY) for name in ("creds", "ca", "cert", "key")}
        for name in self.files:
            (folder / name).unlink()
        path = {name: f"/dev/fd/{number}" for name, number in self.files.items()}
        self.cli = Cli(folder / "config")
        flags = (
            f"--creds {path['creds']} --tlsca {path['ca']} --tlscert {path['cert']} --tlskey {path['key']}"
        )
        self.cli(f"context add net -s {self.server.url} {flags} --defaults --select", status=0)
        self.cli("stream add ORDERS --subjects ORDERS.> --allow-direct --defaults", status=0)
        self.cli(f"pub ORDERS.a '{{\"id\": 1}}' --count {COUNT}", status=0)

    def run(self, *args: str, stdin: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
        """A process of its own, by its arguments."""
        variables = {
            **os.environ,
            **self.cli.environ,
            "PYSPARK_PYTHON": str(self.cluster.python),
            **environ,
        }
        return subprocess.run(
            args,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            env=variables,
            timeout=400,
            pass_fds=tuple(self.files.values()),
            cwd=self.folder,
        )

    def jsctl(self, *args: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return self.run(sys.executable, "-m", "jsctl", *args, **environ)

    def lines(self, lines: list[str], master: str, conf: dict[str, str]) -> list[tuple[int, str, str]]:
        """What lines give, (status, stdout, stderr): in one process, with one Spark if there is a master."""
        answers = {"home": str(self.cli.home), "master": master, "conf": conf, "lines": lines}
        root = str(Path(__file__).parents[3])
        done = self.run(sys.executable, "-c", SCRIPT, root, stdin=json.dumps(answers))
        assert done.returncode == 0, done.stderr
        return [(status, out, err) for status, out, err in map(json.loads, done.stdout.splitlines())]

    def stop(self) -> None:
        for number in self.files.values():
            os.close(number)
        self.server.stop()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Both kinds, which start side by side."""
    folder = tmp_path_factory.mktemp("spark")
    python = bare_python(folder / "python")
    assert without_jsctl(python)
    cluster = Cluster(folder, python)
    try:
        with ThreadPoolExecutor(2) as pool:
            for started in (pool.submit(cluster.start_worker), pool.submit(cluster.start_connect)):
                started.result()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory, cluster: Cluster) -> Iterator[Network]:
    network = Network(tmp_path_factory.mktemp("network"), cluster)
    yield network
    network.stop()


def sequences(table: Path) -> list[int]:
    return sorted(pq.read_table(table, columns=["sequence"])["sequence"].to_pylist())


def all_text(*folders: Path) -> str:
    """Of all files: event logs, which hold what Spark's pages show, logs, and what executors were given."""
    results = [
        file for folder in folders for file in folder.rglob("*") if file.is_file() and not file.is_symlink()
    ]
    return "\n".join(file.read_text(errors="replace") for file in results if file.suffix != ".zip")


@pytest.mark.parametrize("place", ["standalone", "connect"])
def test_every_command(network: Network, cluster: Cluster, tmp_path: Path, place: str) -> None:
    remote = f" --remote {cluster.remote}" if place == "connect" else ""
    to, reports, copy = tmp_path / "orders", tmp_path / "reports", f"COPY_{place}"
    network.cli(f"stream add {copy} --subjects {copy}.> --defaults", status=0)
    export = f"export stream ORDERS --to {to} --decode json --keep-data --partition-by date"
    sql = "SELECT count(*) AS n, max(sequence) AS last FROM ORDERS"
    lines = [
        f"{export} --to-seq 150{remote}",
        f"{export} --incremental --verify --json --query '{sql}'{remote}",
        f"import {tmp_path}/orders --stream {copy} --map ORDERS={copy} --tasks 2 --json{remote}",
    ]
    if remote:  # these start no Python on an executor: what runs where is the same on a worker
        lines += [
            f"export reports --to {reports}{remote}",
            f"export rollup --from {reports}{remote}",
            f"report history --from {reports} --json",
        ]
    events = cluster.folder / "events"
    conf = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": events.as_uri(),
    }
    master = "" if remote else cluster.master
    done = network.lines(lines, master, conf)
    assert [(status, err) for status, _, err in done] == [(0, "")] * len(lines), done
    assert done[0][1].startswith("exported 150 messages"), done[0]
    again = json.loads(done[1][1])
    assert (again["exported"], again["streams"][0]["verified"]["same"]) == (50, True)
    assert again["query"] == [{"n": COUNT, "last": COUNT}]
    assert sequences(to / "ORDERS") == list(range(1, COUNT + 1))
    assert json.loads(done[2][1])["published"] == COUNT
    assert network.cli(f"stream info {copy} --json", status=0).json["state"]["messages"] == COUNT
    assert not remote or (reports / "rollup" / "streams_hourly").is_dir()
    output = all_text(events, *cluster.folder.glob("work")) + "".join(map(cluster.log, cluster.processes))
    assert "jetstream_ORDERS" in output
    assert not [secret for secret in network.secrets if secret in output]


@pytest.mark.long
def test_executors_of_a_local_cluster(network: Network, tmp_path: Path) -> None:
    spark_home.require_whole_java()
    work = home() / "work"  # where its workers put what they are given
    before = set(work.glob("app-*/*/jsctl.zip"))
    export = ["export", "stream", "ORDERS", "--to", str(tmp_path / "orders"), "--verify"]
    quick = os.environ["SPARK_SUBMIT_OPTS"]  # for the executor's JVM, too
    done = network.jsctl(*export, "--master", LOCAL_CLUSTER, JDK_JAVA_OPTIONS=quick)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert f"verified ORDERS: {COUNT} messages" in done.stdout
    assert sequences(tmp_path / "orders" / "ORDERS") == list(range(1, COUNT + 1))
    assert set(work.glob("app-*/*/jsctl.zip")) <= before


NOTEBOOK = """
import sys
from pathlib import Path
from pyspark.sql import SparkSession
from jsctl.spark import connect, decode
from jsctl.spark.export import shared_folder
spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
connect(spark, context="net")
orders = spark.read.format("jetstream").option("stream", "ORDERS").load()
rows = orders.where("sequence <= 3").selectExpr("'NOTES.a' AS subject", "data")
rows.write.format("jetstream").mode("append").option("stream", "NOTES").save()
print(orders.count())
decoded = spark.read.format("jetstream").options(stream="ORDERS", decode="json", schema="id INT").load()
for frame in (decoded, decode(orders, "json", schema="id INT")):
    print(frame.selectExpr("sum(id)").first()[0])
table = Path(sys.argv[2])
orders.repartition(3).write.parquet(table.as_uri())
def check():
    shared_folder.check_visible(spark, table, orders.count(), lambda: spark.read.parquet(table.as_uri()))
check()
next(table.glob("*.parquet")).unlink()
try:
    check()
except Exception as error:
    print(error)
try:
    spark.read.format("jetstream").options(stream="ORDERS", token="t").load().count()
except Exception as error:
    print(error)
"""


def test_a_notebook_over_connect(network: Network, cluster: Cluster, tmp_path: Path) -> None:
    network.cli("stream add NOTES --subjects NOTES.> --defaults", status=0)
    done = network.run(sys.executable, "-c", NOTEBOOK, cluster.remote, str(tmp_path / "table"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:3] == [str(COUNT)] * 3, done.stderr
    assert "this machine does not see all of what Spark wrote to table" in done.stdout
    assert "option token is already set by connect" in done.stdout
    assert network.cli("stream info NOTES --json", status=0).json["state"]["messages"] == 3
    output = all_text(cluster.folder / "events") + cluster.log("connect")
    assert not [secret for secret in network.secrets if secret in output]


def failed(done: subprocess.CompletedProcess[str], status: int, words: str) -> None:
    """One line, and nothing else."""
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (status, "", 1), done
    assert words in done.stderr, done.stderr


def test_missing_masters_and_servers(network: Network, cluster: Cluster, tmp_path: Path) -> None:
    export = ("export", "stream", "ORDERS", "--to", str(tmp_path / "orders"))
    port = free_port()
    begin = time.monotonic()
    done = network.jsctl(*export, "--master", f"spark://127.0.0.1:{port}")
    failed(done, 4, f"no Spark master answers at spark://127.0.0.1:{port}")
    done = network.jsctl(*export, "--remote", f"sc://127.0.0.1:{port}/;token=Tr0ub4dor")
    failed(done, 4, f"no Spark Connect server answers at sc://127.0.0.1:{port};")
    assert time.monotonic() - begin < 30
    failed(network.jsctl(*export, "--remote", "http://x"), 64, "use one such as sc://host:15002")
    failed(network.jsctl(*export, "--master", "spark://"), 64, "use one such as spark://host:7077")
    hidden = next(cluster.python.parents[1].glob("lib/python*/site-packages/pyarrow"))
    hidden.rename(cluster.folder / "hidden")
    try:
        failed(network.jsctl(*export, "--remote", cluster.remote), 1, "the executors have no pyarrow")
    finally:
        (cluster.folder / "hidden").rename(hidden)
    assert not (tmp_path / "orders").exists()


def test_a_folder_that_is_not_shared(network: Network, cluster: Cluster, tmp_path: Path) -> None:
    apart = ("unshare", "-rm", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', str(tmp_path))
    if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no file system of one's own here")
    export = f"-m jsctl export stream ORDERS --to {tmp_path}/orders --remote {cluster.remote}"
    done = network.run(*apart, sys.executable, *export.split())
    failed(done, 1, "this machine does not see all of what Spark wrote to ORDERS")
    assert list(tmp_path.rglob("*.parquet")), "it did write"


def test_spark_that_dies(network: Network, cluster: Cluster, tmp_path: Path) -> None:
    """The last one: nothing is left of the cluster."""
    rows = tmp_path / "rows.json"
    rows.write_text('{"subject": "ORDERS.b", "data": "b"}\n')

    def publish(*flags: str) -> tuple[Any, float]:
        done = network.jsctl("import", str(rows), "--stream", "ORDERS", "--where", SLEEPY, *flags)
        return done, time.monotonic()

    def running(text: str) -> int:
        return text.count("Running task ") + text.count("Starting task ")

    def executors() -> str:
        return all_text(*cluster.folder.glob("work"))

    before = running(cluster.log("connect")), running(executors())
    with ThreadPoolExecutor(2) as pool:
        remote = pool.submit(publish, "--remote", cluster.remote)
        master = pool.submit(publish, "--master", cluster.master)
        try:
            wait_for(lambda: running(cluster.log("connect")) > before[0], "no task over Connect", 120)
            wait_for(lambda: running(executors()) > before[1], "no task on the worker", 120)
        finally:
            cluster.kill("connect")
            cluster.kill("master")
            assert not master.done()  # tasks go on without a master
            cluster.kill("worker")
            killed = time.monotonic()
        done, ended = remote.result()
        failed(done, 4, f"the Spark Connect server at {cluster.remote} went away")
        assert ended - killed < 60
        done, ended = master.result()
        failed(done, 4, f"the Spark master at {cluster.master} went away")
        assert ended - killed < 60
