"""Keys, JWTs and the folder that `nsc` shares."""

import re
import stat
from pathlib import Path

import nkeys
import pytest

from jsctl.auth.folders import StoreFolders
from jsctl.auth.jwt import decode_jwt, encode_jwt
from jsctl.auth.keys import ACCOUNT, OPERATOR, USER, create_key, parse_seed
from jsctl.auth.store import AuthStore, format_creds
from jsctl.errors import BadInput


@pytest.mark.parametrize(("kind", "letter"), [(OPERATOR, "O"), (ACCOUNT, "A"), (USER, "U")])
def test_keys_say_their_kind(kind: str, letter: str) -> None:
    key = create_key(kind)
    assert re.fullmatch(rf"{letter}[A-Z2-7]{{55}}", key.public)
    assert key.seed.startswith(f"S{letter}")
    assert parse_seed(f" {key.seed}\n") == key
    assert key.seed not in repr(key)


def test_an_invalid_seed_is_not_quoted() -> None:
    with pytest.raises(BadInput) as error:
        parse_seed("SUSECRET")
    assert "SUSECRET" not in str(error.value)


def test_a_jwt_is_signed_and_read_back() -> None:
    operator, account = create_key(OPERATOR), create_key(ACCOUNT)
    claims = {"sub": account.public, "name": "A", "nats": {"type": "account", "new_in_2030": [1]}}
    token = encode_jwt(claims, operator)
    read = decode_jwt(token)
    assert {key: read[key] for key in claims} == claims
    assert read["iss"] == operator.public
    assert re.fullmatch(r"[A-Z2-7]{52}", read["jti"])
    signed, _, signature = token.rpartition(".")
    import base64

    data = base64.urlsafe_b64decode(signature + "==")
    assert nkeys.from_seed(bytearray(operator.seed.encode())).verify(signed.encode(), data)


@pytest.mark.parametrize("token", ["", "a.b", "a.b.c", "a.e30.c", "a.!!.c", "x" * 10_000])
def test_texts_that_are_not_jwts(token: str) -> None:
    with pytest.raises(BadInput, match="not a NATS JWT"):
        decode_jwt(token)


def test_the_store_is_private(tmp_path: Path) -> None:
    store = AuthStore(StoreFolders.below(tmp_path / "auth"), "OP")
    operator, user = create_key(OPERATOR), create_key(USER)
    store.write_operator("t.o.k")
    store.write_seed(operator)
    store.write_account("ACC", "t.o.k")
    store.write_user("ACC", "u", "t.o.k", user)
    paths = [tmp_path / "auth", *(tmp_path / "auth").rglob("*")]
    modes = {stat.S_IMODE(path.stat().st_mode) for path in paths if path.is_dir()}
    assert modes == {0o700}
    assert {stat.S_IMODE(path.stat().st_mode) for path in paths if path.is_file()} == {0o600}
    assert store.get_seed_path(operator.public).read_text() == operator.seed
    assert store.get_creds_path("ACC", "u").read_text() == format_creds("t.o.k", user.seed)
