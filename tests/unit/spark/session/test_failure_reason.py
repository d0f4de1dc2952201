"""Why Spark did not start, from what the JVM wrote."""

from pathlib import Path

import pytest

from jsctl.spark.session.session import _find_failure_reason

REDUCED_JAVA = """WARNING: Using incubator modules: jdk.incubator.vector
Error occurred during initialization of boot layer
java.lang.module.FindException: Module jdk.incubator.vector not found
"""


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (REDUCED_JAVA, "Module jdk.incubator.vector not found"),
        ("Error: Could not create the Java Virtual Machine.", "Could not create the Java Virtual Machine."),
        ("all is well", "Java gateway process exited"),
    ],
)
def test_the_line_that_names_the_failure(tmp_path: Path, log: str, reason: str) -> None:
    (tmp_path / "spark.log").write_text(log)
    assert _find_failure_reason(tmp_path / "spark.log", RuntimeError("Java gateway process exited")) == reason
