"""`auth nkey gen`."""

import stat
from pathlib import Path

import nkeys
import pytest

from tests.support.run import Cli


@pytest.mark.parametrize(
    ("kind", "letter"),
    [("user", "U"), ("account", "A"), ("server", "N"), ("cluster", "C"), ("operator", "O"), ("curve", "X")],
)
def test_gen_and_show(kind: str, letter: str, offline_cli: Cli, tmp_path: Path) -> None:
    seed, public = offline_cli(f"auth nkey gen {kind} --public", status=0).out.split()
    assert seed.startswith(f"S{letter}") and public.startswith(letter) and len(public) == 56
    file = tmp_path / "key.nk"
    shown = offline_cli(f"auth nkey gen {kind} --public --output {file} --json", status=0)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    seed, public = file.read_text().split()
    assert seed not in shown.out and shown.json["public"] == public
    assert offline_cli(f"auth nkey show {file}", status=0).out == public + "\n"
    if kind != "curve":
        assert nkeys.from_seed(bytearray(seed.encode())).public_key.decode() == public


def test_the_same_entropy_gives_the_same_key(offline_cli: Cli, tmp_path: Path) -> None:
    source = tmp_path / "random"
    source.write_bytes(bytes(range(32)))
    first, second = (offline_cli(f"auth nkey gen user --entropy {source}", status=0).out for _ in "12")
    assert first == second
    source.write_bytes(b"few")
    assert "32 are needed" in offline_cli(f"auth nkey gen user --entropy {source}", status=64).err


def test_a_seed_is_not_overwritten(offline_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "key.nk"
    offline_cli(f"auth nkey gen user --output {file}", status=0)
    before = file.read_text()
    outcome = offline_cli(f"auth nkey gen user --output {file}", status=64)
    assert (outcome.err, file.read_text()) == (
        f"jsctl: error: the file {file} exists; overwrite it with --force\n",
        before,
    )
    offline_cli(f"auth nkey gen user --output {file} --force", status=0)
    assert file.read_text() != before
