"""Packages that are added to Spark: those of file systems and table formats that it does not bring."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from jsctl.errors import BadInput
from jsctl.spark.session import java
from jsctl.spark.session.hadoop import PACKAGES, HadoopPath, Place

_SETTING = "spark.jars.packages"
AUTO = "auto"


def add_packages(settings: Mapping[str, str], names: str, places: Sequence[Place]) -> dict[str, str]:
    """Return settings that add packages to Spark.

    names: Maven coordinates separated by commas; `auto` among them for those that the places need.

    Raises BadInput.
    """
    packages = [name.strip() for name in settings.get(_SETTING, "").split(",") if name.strip()]
    for name in map(str.strip, names.split(",")):
        if name == AUTO:
            packages += find_packages(places)
        elif re.fullmatch(r"[\w.-]+(:[\w.-]+){2,3}", name):
            packages.append(name)
        else:
            raise BadInput(f"--packages {name!r} is not a package", "write auto, or GROUP:NAME:VERSION")
    joined = ",".join(dict.fromkeys(packages))
    return {**settings, **({_SETTING: joined} if joined else {})}


def find_packages(places: Sequence[Place]) -> list[str]:
    """Return the packages of the file systems of these places that Spark does not bring."""
    schemes = dict.fromkeys(place.scheme for place in places if isinstance(place, HadoopPath))
    jars = {file.name for file in _list_jars()}
    packages = []
    for scheme in schemes:
        package = PACKAGES.get(scheme, "").format(hadoop=read_hadoop_version())
        artifact = package.split(":")[1] if package else ""
        if package and not any(jar.startswith(f"{artifact}-") for jar in jars):
            packages.append(package)
    return packages


def read_hadoop_version() -> str:
    """Return the version of Hadoop that Spark brings. Raises BadInput when it brings none."""
    for file in _list_jars():
        if match := re.fullmatch(r"hadoop-(?:client-api|common)-(\d[\w.-]*)\.jar", file.name):
            return match[1]
    raise BadInput("this Spark brings no Hadoop", "name the packages with --packages GROUP:NAME:VERSION")


def _list_jars() -> list[Path]:
    return sorted((java.find_spark_home() / "jars").glob("*.jar"))
