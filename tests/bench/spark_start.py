"""What short work with Spark takes, in one run: `python tests/bench/spark_start.py [--rounds N]`.

In turn: plain PySpark from its import to a small Parquet file; `export stream` of 1,000 messages (aim: at
most 1.0 times that); `export query` of them (aim: at most 0.8 times); `export stream` of 1,000,000 messages
(aim: at most 5 s more than 1,000). The class archive is made first, unless `--without-archive`.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.bench.spark import fill
from tests.support.servers import RealServer

CONFIG = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
"""
FEW, MANY = 1_000, 1_000_000
PLAIN = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[*]").getOrCreate()
spark.range(1000).selectExpr("id", "CAST(id AS STRING) AS text").write.parquet(sys.argv[1])
spark.stop()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--many", type=int, default=MANY)
    parser.add_argument("--without-archive", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environ = {**os.environ, "XDG_CONFIG_HOME": name}
        if options.without_archive:
            environ["JSCTL_SPARK_ARCHIVE"] = "off"
        else:
            # It stays for a later run, as it would on the machine of a user.
            took = timed([sys.executable, "-m", "jsctl", "spark", "warm-up"], environ)
            print(f"the class archive: {took:.1f} s")
        server = RealServer(folder, CONFIG).start()
        try:
            fill(server.url, options.many, b"x" * 200)
            measure(folder, {**environ, "NATS_URL": server.url}, options.rounds)
        finally:
            server.stop()


def measure(folder: Path, environ: dict[str, str], rounds: int) -> None:
    jsctl = [sys.executable, "-m", "jsctl", "export"]
    best: dict[str, float] = {}
    for number in range(rounds):
        few, many, plain = (str(folder / f"{name}{number}") for name in ("few", "many", "plain"))
        lines = {
            "plain PySpark": [sys.executable, "-c", PLAIN, plain],
            "export 1,000": [*jsctl, "stream", "S", "--to", few, "--to-seq", str(FEW)],
            "export query": [*jsctl, "query", "--from", few, "SELECT count(*) FROM S"],
            "export all": [*jsctl, "stream", "S", "--to", many],
        }
        for name, line in lines.items():
            took = timed(line, environ)
            best[name] = min(best.get(name, took), took)
    for name, took in best.items():
        print(
            f"{name:14} {took:6.1f} s, {took / best['plain PySpark']:.2f} times plain PySpark's small write"
        )
    print(f"all messages take {best['export all'] - best['export 1,000']:.1f} s more than 1,000 (aim 5)")


def timed(line: list[str], environ: dict[str, str]) -> float:
    begin = time.perf_counter()
    subprocess.run(line, env=environ, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
