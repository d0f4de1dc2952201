"""The parts with which Spark runs here, and why these: found without starting any of them."""

import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from jsctl.errors import JsctlError, MissingDependency
from jsctl.spark.session import class_archive, java

_INSTALL = "run: pip install 'jsctl[spark]'"


class Part(NamedTuple):
    """A part with which Spark runs.

    Attributes:
        name: such as `Java`.
        version: empty if it is not there or not known.
        source: why this one is used.
        path: of its program or folder.
        error: what is wrong with it, and what to do.
    """

    name: str
    version: str = ""
    source: str = ""
    path: str = ""
    error: str = ""


def list_parts() -> list[Part]:
    """Return Java, Spark, its Hadoop, Python, the packages and the archive of classes, with their faults."""
    return [_describe_java(), *_describe_spark(), *_describe_python(), _describe_archive()]


def _describe_java() -> Part:
    try:
        found = java.find_java()
    except JsctlError as error:
        return Part("Java", error=str(error))
    return Part("Java", found.version, found.source, str(found.path))


def _describe_spark() -> list[Part]:
    try:
        home = java.find_spark_home()
    except JsctlError as error:
        return [Part("Spark", error=str(error))]
    source = "SPARK_HOME" if os.environ.get("SPARK_HOME") else "the package pyspark"
    spark, hadoop = (_read_jar_version(home, name) for name in ("spark-core_*", "hadoop-client-api"))
    python = _read_package_version("pyspark")
    fault: JsctlError | None = None
    if not spark:
        fault = MissingDependency(f"there is no Spark in {home}", "unset SPARK_HOME, or point it at a Spark")
    elif python and spark.split(".")[:2] != python.split(".")[:2]:
        fault = MissingDependency(
            f"SPARK_HOME is Spark {spark}, and PySpark is {python}",
            f"unset SPARK_HOME, or run: pip install 'pyspark=={spark}'",
        )
    return [
        Part("Spark", spark, source, str(home), str(fault or "")),
        Part("Hadoop", hadoop, "this Spark" if hadoop else "", str(home / "jars")),
    ]


def _describe_python() -> list[Part]:
    workers = os.environ.get("PYSPARK_PYTHON")
    parts = [Part("Python", platform.python_version(), "jsctl", sys.executable)]
    if workers and workers != sys.executable:
        parts.append(Part("Python of tasks", "", "PYSPARK_PYTHON", workers))
    for name, package in (("PySpark", "pyspark"), ("PyArrow", "pyarrow")):
        version = _read_package_version(package)
        fault = None if version else MissingDependency(f"{name} is not installed", _INSTALL)
        parts.append(Part(name, version, "this Python" if version else "", error=str(fault or "")))
    return parts


def _describe_archive() -> Part:
    try:
        archive = class_archive.find()
        whole = class_archive.is_whole(archive)
    except JsctlError:
        whole = False
    if not whole:
        return Part("Archive of classes", source="none; jsctl spark warm-up makes it")
    return Part("Archive of classes", "", "jsctl spark warm-up", str(archive))


def _read_jar_version(home: Path, name: str) -> str:
    """Return the version in the name of a jar of Spark, empty if there is none."""
    jars = sorted(home.glob(f"jars/{name}-[0-9]*.jar"))
    return jars[0].stem.rpartition("-")[2] if jars else ""


def _read_package_version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
