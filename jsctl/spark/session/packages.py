"""Packages that are added to Spark: those of file systems and table formats that it does not bring."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from jsctl.errors import BadInput
from jsctl.spark.session import java
from jsctl.spark.session.hadoop import PACKAGES, HadoopPath, Place

PACKAGES_SETTING = "spark.jars.packages"
AUTO = "auto"

FORMAT_PACKAGES = {
    "delta": {
        "4.1": "io.delta:delta-spark_4.1_2.13:4.4.0",
        "4.2": "io.delta:delta-spark_4.2_2.13:4.4.0",
    },
    "iceberg": {
        "4.0": "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.11.0",
        "4.1": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
    },
}
"""The Maven coordinates of table formats by the version of Spark that they are made for."""

FORMAT_SETTINGS = {
    "delta": {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # Spark's default of 50 tasks for the log of a table takes seconds on one machine.
        "spark.databricks.delta.snapshotPartitions": "4",
    },
    "iceberg": {"spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"},
}
"""Settings of a session that writes tables of a format."""


def add_packages(
    settings: Mapping[str, str], names: str, places: Sequence[Place], format: str = "", table: str = ""
) -> dict[str, str]:
    """Return settings that add packages to Spark.

    names: Maven coordinates separated by commas; `auto` among them for those that are needed by the places,
    the format, and the URIs in settings (of a warehouse) and in the name of a table.

    Raises BadInput.
    """
    packages = [name.strip() for name in settings.get(PACKAGES_SETTING, "").split(",") if name.strip()]
    for name in map(str.strip, names.split(",")):
        if name == AUTO:
            schemes = [place.scheme for place in places if isinstance(place, HadoopPath)]
            schemes += re.findall(r"\b(\w+)://", " ".join([table, *settings.values()]))
            packages += [*find_packages(schemes), *find_format_packages(format)]
        elif re.fullmatch(r"[\w.-]+(:[\w.-]+){2,3}", name):
            packages.append(name)
        else:
            raise BadInput(f"--packages {name!r} is not a package", "write auto, or GROUP:NAME:VERSION")
    joined = ",".join(dict.fromkeys(packages))
    return {**settings, **({PACKAGES_SETTING: joined} if joined else {})}


def find_packages(schemes: Sequence[str]) -> list[str]:
    """Return the packages of the file systems of these schemes that Spark does not bring."""
    jars = {file.name for file in _list_jars()}
    packages = []
    for scheme in dict.fromkeys(schemes):
        package = PACKAGES.get(scheme, "").format(hadoop=read_hadoop_version())
        artifact = package.split(":")[1] if package else ""
        if package and not any(jar.startswith(f"{artifact}-") for jar in jars):
            packages.append(package)
    return packages


def find_format_packages(format: str) -> list[str]:
    """Return the package of a table format for this Spark, none if it has the format. Raises BadInput when no
    release of the format is made for it."""
    packages = FORMAT_PACKAGES.get(format, {})
    jars = [file.name for file in _list_jars()]
    if not packages or any(jar.startswith((f"{format}-spark_", f"{format}-spark-runtime-")) for jar in jars):
        return []
    version = ".".join(read_spark_version().split(".")[:2])
    if version not in packages:
        raise BadInput(
            f"no release of {format} is known that is made for Spark {version}",
            f"it runs with pyspark {' or '.join(packages)}; --packages GROUP:NAME:VERSION names another",
        )
    return [packages[version]]


def read_spark_version() -> str:
    """Return the version of this Spark, empty if it is not known."""
    found = [re.fullmatch(r"spark-core_[\d.]+-(\d[\w.-]*)\.jar", file.name) for file in _list_jars()]
    return next((match[1] for match in found if match), "")


def read_hadoop_version() -> str:
    """Return the version of Hadoop that Spark brings. Raises BadInput when it brings none."""
    for file in _list_jars():
        if match := re.fullmatch(r"hadoop-(?:client-api|common)-(\d[\w.-]*)\.jar", file.name):
            return match[1]
    raise BadInput("this Spark brings no Hadoop", "name the packages with --packages GROUP:NAME:VERSION")


def _list_jars() -> list[Path]:
    return sorted((java.find_spark_home() / "jars").glob("*.jar"))
