"""The archive that goes to executors, used by a Python that has no packages of its own."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nkeys
import pytest

from jsctl.spark.session import task_archive
from tests.support.jwt import new_key

SIGN = """
import sys
sys.path.insert(0, sys.argv[1])
from importlib.util import find_spec
assert find_spec("nacl") is None, "this Python has PyNaCl itself"
from jsctl.spark.session.task_archive import provide_pynacl
from jsctl.nats import login
provide_pynacl()
try:
    print(login.parse_seed(sys.argv[2]).sign(b"nonce").hex())
except Exception as error:
    print(type(error).__name__, error)
"""


def sign(archive: Path, seed: str) -> str:
    """What a Python without site-packages prints that signs with a seed."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", SIGN, str(archive), seed],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def seed() -> str:
    return new_key(nkeys.PREFIX_BYTE_USER).seed


@pytest.mark.slow
def test_a_task_signs_with_the_pynacl_of_the_archive(tmp_path: Path, seed: str) -> None:
    archive = task_archive.write_archive(tmp_path / "jsctl.zip")
    expected = nkeys.from_seed(bytearray(seed.encode())).sign(b"nonce").hex()
    with ThreadPoolExecutor(3) as pool:  # tasks of an executor start at the same time
        assert list(pool.map(lambda _: sign(archive, seed), range(3))) == [expected] * 3
    assert sign(archive, seed) == expected
    assert {path.name for path in tmp_path.iterdir()} == {"jsctl.zip", "jsctl.compiled"}


def test_an_archive_of_another_platform_leads_to_a_clear_error(
    tmp_path: Path, seed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        task_archive, "_describe_platform", lambda: "3.11 .cpython-311-darwin.so darwin arm64"
    )
    archive = task_archive.write_archive(tmp_path / "jsctl.zip")
    output = sign(archive, seed)
    assert output.startswith("MissingDependency PyNaCl is not installed, and this login needs it to sign")
    assert "executors" in output
    assert [path.name for path in tmp_path.iterdir()] == ["jsctl.zip"]
