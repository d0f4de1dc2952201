"""`auth nkey sign`."""

import base64
from pathlib import Path

import nkeys

from tests.support.run import Cli


def test_sign(offline_cli: Cli, tmp_path: Path) -> None:
    data, key = tmp_path / "data", tmp_path / "key"
    data.write_bytes(b"\0\1\2")
    offline_cli(f"auth nkey gen user --output {key}", status=0)
    signature = offline_cli(f"auth nkey sign {data} {key}", status=0).out.strip()
    signed = nkeys.from_seed(bytearray(key.read_text().split()[0].encode())).sign(b"\0\1\2")
    assert base64.b64decode(signature + "==", altchars=b"-_") == signed
    assert signature in offline_cli(f"auth nkey sign {data} {key} --json", status=0).json.values()
    assert "contains no seed" in offline_cli(f"auth nkey sign {data} {data}", status=64).err
