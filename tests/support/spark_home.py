"""A Spark that starts several times faster than the one in the PySpark package: dozens of tests start one.

Its JVMs share an archive of the classes that each of them would load and check, and its Python processes
take PySpark from folders with byte code, where the package has archives of source. Both are kept in
pytest's cache. A run of all tests makes them in the background (`python -m tests.support.spark_home FOLDER`),
another the first worker that needs them.
"""

import hashlib
import os
import re
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

import pytest

from jsctl.base import posix
from jsctl.spark.session import class_archive, java

QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:MetaspaceSize=200m"
"""What JVMs of short programs run best with: the first collections of garbage would make room for classes."""

INTERPRETED = " -Dspark.sql.codegen.wholeStage=false -Dspark.sql.codegen.factoryMode=NO_CODEGEN"
"""Settings of Spark: to compile a query takes longer than to interpret it on a few rows."""

_OFTEN = [
    "spark-launcher",
    "spark-catalyst",
    "scala-library",
    "spark-core",
    "scala-reflect",
    "spark-sql",
    "log4j",
    "parquet",
    "hadoop",
    "jackson",
    "spark-config",
    "spark-network",
    "janino",
    "commons-compiler",
    "ivy",
    "netty-c",
    "netty-t",
    "antlr4",
]
"""How the names of JARs begin: that of the launcher, and those whose classes a program needs most."""

_LOAD = """
import sys
from pathlib import Path
from jsctl.spark.session.session import open_session
folder = sys.argv[1]
with open_session("local[2]", new_archive=Path(sys.argv[2])) as spark:
    for format in ("parquet", "json"):
        rows = spark.range(9).selectExpr("id", "id % 3 AS part", "string(id) AS text", "now() AS time")
        rows.write.format(format).partitionBy("part").save(f"{folder}/{format}")
        spark.read.format(format).load(f"{folder}/{format}").createOrReplaceTempView(format)
        sql = f"SELECT part, count(*), max(time) FROM {format} WHERE id > 1 GROUP BY part ORDER BY part"
        spark.sql(sql).collect()
"""
"""A program that loads what most programs need."""


@cache
def use_quick_spark(folder: Path) -> None:
    """Use the quick Spark of the folder in this process and its children."""
    package = Path(str(import_module("pyspark").__file__)).parent
    found = java.find_java()
    own = Path(__file__).read_text(encoding="utf-8")
    parts = (found.path, found.version, package, package.stat().st_mtime_ns, own)
    key = hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:12]
    home, archive = folder / key, folder / f"{key}.jsa"
    with (folder / "lock").open("w") as lock:
        posix.lock(lock)
        if not home.exists():
            _link(package, home)
        os.environ["SPARK_HOME"] = str(home)
        if not archive.exists():
            _archive_classes(archive)
    # An archive that does not fit is left out, without a word.
    with_archive = class_archive.build_options(archive).replace('"', "") if archive.exists() else ""
    os.environ["SPARK_SUBMIT_OPTS"] = f"{QUICK}{INTERPRETED} {with_archive}"
    os.environ["SPARK_LAUNCHER_OPTS"] = QUICK  # of the JVM that puts the command line of the other together


def _link(package: Path, home: Path) -> None:
    """Make a SPARK_HOME of links, where folders have the names of the archives that executors import from."""
    new = home.with_suffix(".new")
    for archive in (package / "python" / "lib").glob("*.zip"):
        name = archive.name.partition("-")[0].removesuffix(".zip")
        unpacked = new / "python" / "lib" / archive.name
        unpacked.mkdir(parents=True, exist_ok=True)
        if not (unpacked / name).exists():
            (unpacked / name).symlink_to(Path(str(import_module(name).__file__)).parent)
    _order_jars(package / "jars", new)
    link_home(package, new)
    new.replace(home)


def _order_jars(jars: Path, home: Path) -> None:
    """Make a folder with one JAR that names the others, those with the most classes first: for each class
    that it archives, the JVM follows the paths of one JAR after the other until it finds the right one. An
    empty JAR says which Hadoop that is."""
    linked = home / "linked"
    linked.mkdir(exist_ok=True)
    (home / "jars").mkdir(exist_ok=True)
    names = sorted(path.name for path in jars.glob("*.jar"))
    names.sort(
        key=lambda name: next((at for at, word in enumerate(_OFTEN) if name.startswith(word)), len(_OFTEN))
    )
    for name in names:
        try:
            os.link(jars / name, linked / name)  # whose path is short to follow
        except OSError:  # on another file system
            (linked / name).symlink_to(jars / name)
    paths = " ".join(f"../linked/{name}" for name in names)
    # A line of a manifest has 72 bytes at most, and goes on after a space.
    line = "\n ".join(re.findall(r".{1,70}", f"Class-Path: {paths}"))
    manifests = {"all.jar": f"Manifest-Version: 1.0\n{line}\n"}
    manifests |= {name: "Manifest-Version: 1.0\n" for name in names if name.startswith("hadoop-client-api-")}
    for name, manifest in manifests.items():
        with ZipFile(home / "jars" / name, "w") as jar:
            jar.writestr("META-INF/MANIFEST.MF", manifest)


def require_whole_java() -> None:
    """Skip a test whose program has Spark itself start Java, with a module that the package's Java lacks."""
    modules = java.read_modules(java.find_java().path)
    if modules and "jdk.incubator.vector" not in modules:
        pytest.skip(
            "this Java has no jdk.incubator.vector, which Spark demands where jsctl does not start it"
        )


def link_home(spark: Path, home: Path) -> None:
    """Make a SPARK_HOME whose parts are those of another; executors of a local cluster work below it."""
    home.mkdir(parents=True, exist_ok=True)
    for part in spark.iterdir():
        if part.name not in ("work", "__pycache__") and not (home / part.name).exists():
            (home / part.name).symlink_to(part)


def _archive_classes(archive: Path) -> None:
    new = archive.with_suffix(".draft")
    new.unlink(missing_ok=True)
    from jsctl.spark.session.make_class_archive import write_base

    if base := class_archive.get_base(archive):
        write_base(base)
    with TemporaryDirectory() as folder, suppress(subprocess.TimeoutExpired):
        subprocess.run(
            [sys.executable, "-c", _LOAD, folder, new],
            env={**os.environ, "SPARK_SUBMIT_OPTS": QUICK},
            capture_output=True,  # until the JVM has closed its ends, too
            check=False,
            timeout=600,
        )
    if class_archive.is_finished(new):
        new.replace(archive)


if __name__ == "__main__":
    use_quick_spark(Path(sys.argv[1]))
