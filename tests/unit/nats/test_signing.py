"""Logins that travel: signatures without a C library, and settings that need no file."""

import asyncio
import base64
import binascii
import os
import pickle
from pathlib import Path
from typing import Any

import nkeys
import pytest
import trustme

from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput
from jsctl.nats import login, signing
from jsctl.spark.session import cluster
from jsctl.spark.session import sealed_options as sealed


def user_seed() -> str:
    raw = bytes([18 << 3 | (20 << 3) >> 5, ((20 << 3) & 31) << 3]) + os.urandom(32)
    return base64.b32encode(raw + binascii.crc_hqx(raw, 0).to_bytes(2, "little")).rstrip(b"=").decode()


def test_signatures_are_those_of_nkeys() -> None:
    for size in range(20):
        seed, nonce = bytearray(user_seed().encode()), os.urandom(size)
        ours, theirs = signing.from_seed(seed), nkeys.from_seed(seed)
        assert ours.public_key == theirs.public_key
        assert ours.sign(nonce) == theirs.sign(nonce)


def test_what_a_connect_server_logs_has_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(url="nats://me:Tr0ub4dor@host", files=(("x.creds", user_seed()),))
    sent = pickle.dumps(sealed.Closed(settings))
    assert b"Tr0ub4dor" not in sent and settings.files[0][1].encode() not in sent
    with pytest.raises(ModuleNotFoundError):
        pickle.loads(sent)
    monkeypatch.syspath_prepend(str(cluster.pack(tmp_path / "jsctl.zip")))
    assert pickle.loads(sent) == settings


def test_what_is_no_seed() -> None:
    good = user_seed()
    for seed in ("", "SU", "SUAAAA", "SA" + good[2:], good[:-2] + "77", "\xff" * 58):
        with pytest.raises(ValueError):
            signing.from_seed(bytearray(seed.encode()))


def test_files_and_their_names_are_needed_no_more(tmp_path: Path) -> None:
    ca = trustme.CA()
    own = ca.issue_cert("localhost")
    seed = user_seed()
    ca.cert_pem.write_to_path(tmp_path / "ca")
    own.cert_chain_pems[0].write_to_path(tmp_path / "cert")
    own.private_key_pem.write_to_path(tmp_path / "key")
    (tmp_path / "creds").write_text(
        f"-----BEGIN NATS USER JWT-----\nJ.W.T\n------END NATS USER JWT------\n"
        f"-----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
    )
    (tmp_path / "nkey").write_text(seed)
    names = {"tlsca": "ca", "tlscert": "cert", "tlskey": "key"}
    files: dict[str, Any] = {setting: str(tmp_path / name) for setting, name in names.items()}
    creds = Settings(creds=str(tmp_path / "creds"), **files)
    nkey = Settings(nkey=str(tmp_path / "nkey"))
    carried = [asyncio.run(login.carried(one)) for one in (creds, nkey)]
    for path in tmp_path.iterdir():
        path.unlink()
    (server,) = login.servers("tls://localhost:4222")
    options = asyncio.run(login.authentication(carried[0], server))
    assert options["user_jwt_cb"]() == b"J.W.T"
    assert base64.b64decode(options["signature_cb"]("n")) == nkeys.from_seed(bytearray(seed.encode())).sign(
        b"n"
    )
    assert login.tls(carried[0], server)["tls"].get_ca_certs()
    assert asyncio.run(login.authentication(carried[1], server)) == {"nkeys_seed_str": seed}
    for one in carried:
        assert seed not in repr(one) and "PRIVATE" not in repr(one)
    with pytest.raises(BadInput, match="does not exist"):
        asyncio.run(login.carried(creds))
