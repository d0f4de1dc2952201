"""`auth nkey`."""

import base64
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


def test_seal(offline_cli: Cli, tmp_path: Path) -> None:
    data, mine, sealed = (tmp_path / name for name in ("data", "mine", "sealed"))
    data.write_bytes(b"for you")
    offline_cli(f"auth nkey gen curve --output {mine}", status=0)
    public = offline_cli(f"auth nkey show {mine}", status=0).out.strip()
    first, second = (offline_cli(f"auth nkey seal {data} {mine} {public}", status=0).out for _ in "12")
    assert first != second, "each time with another nonce"
    sealed.write_text(first)
    assert offline_cli(f"auth nkey unseal {sealed} {mine} {public}", status=0).out == "for you\n"
    assert "curve" in offline_cli(f"auth nkey seal {data} {mine} {'U' * 56}", status=64).err


def test_show(offline_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "key.nk"
    public = offline_cli(f"auth nkey gen user --public --output {file} --json", status=0).json["public"]
    assert offline_cli(f"auth nkey show {file}", status=0).out == f"{public}\n"
    assert offline_cli(f"auth nkey show {file} --json", status=0).json["public"] == public
    assert "cannot read nope" in offline_cli("auth nkey show nope", status=64).err


def test_sign(offline_cli: Cli, tmp_path: Path) -> None:
    data, key = tmp_path / "data", tmp_path / "key"
    data.write_bytes(b"\0\1\2")
    offline_cli(f"auth nkey gen user --output {key}", status=0)
    signature = offline_cli(f"auth nkey sign {data} {key}", status=0).out.strip()
    signed = nkeys.from_seed(bytearray(key.read_text().split()[0].encode())).sign(b"\0\1\2")
    assert base64.b64decode(signature + "==", altchars=b"-_") == signed
    assert signature in offline_cli(f"auth nkey sign {data} {key} --json", status=0).json.values()
    assert "contains no seed" in offline_cli(f"auth nkey sign {data} {data}", status=64).err


def test_seal_and_unseal(offline_cli: Cli, tmp_path: Path) -> None:
    data, mine, yours, sealed, out = (tmp_path / name for name in ("data", "mine", "yours", "sealed", "out"))
    data.write_bytes(bytes(range(256)))
    for key in (mine, yours):
        offline_cli(f"auth nkey gen x25519 --output {key}", status=0)
    me, you = (offline_cli(f"auth nkey show {key}", status=0).out.strip() for key in (mine, yours))
    for b64 in ("", "--no-b64"):
        offline_cli(f"auth nkey seal {data} {mine} {you} --output {sealed} {b64}", status=0)
        offline_cli(f"auth nkey unseal {sealed} {yours} {me} --output {out} {b64}", status=0)
        assert out.read_bytes() == data.read_bytes()
    assert (
        "cannot be decrypted" in offline_cli(f"auth nkey unseal {sealed} {mine} {me} --no-b64", status=64).err
    )
    assert "--no-b64" in offline_cli(f"auth nkey unseal {sealed} {mine} {me}", status=64).err
    assert "curve" in offline_cli(f"auth nkey seal {data} {mine} {'U' * 56}", status=64).err
    data.write_text("for you")
    sealed.write_text(offline_cli(f"auth nkey encrypt {data} {mine} {you}", status=0).out)
    assert offline_cli(f"auth nkey open {sealed} {yours} {me}", status=0).out == "for you\n"


def test_sign_and_verify(offline_cli: Cli, tmp_path: Path) -> None:
    data, key, signature, public = (tmp_path / name for name in ("data", "key", "sig", "pub"))
    data.write_bytes(b"\0\1\2")
    offline_cli(f"auth nkey gen user --output {key}", status=0)
    signature.write_text(offline_cli(f"auth nkey sign {data} {key}", status=0).out)
    public.write_text(offline_cli(f"auth nkey show {key}", status=0).out)
    for one in (key, public):
        assert "Verified OK" in offline_cli(f"auth nkey verify {data} {signature} {one}", status=0).out
    data.write_bytes(b"\0\1\3")
    assert "did not sign" in offline_cli(f"auth nkey verify {data} {signature} {public}", status=1).err
    signature.write_text("!!")
    assert "not a signature" in offline_cli(f"auth nkey verify {data} {signature} {public}", status=64).err
    assert "has only a public key" in offline_cli(f"auth nkey sign {data} {public}", status=64).err
    assert "contains no seed" in offline_cli(f"auth nkey sign {data} {data}", status=64).err
