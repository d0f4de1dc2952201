"""Logins that travel to other machines: settings that need no file, and signatures."""

import asyncio
import base64
import sys
from pathlib import Path
from typing import Any

import nkeys
import pytest
import trustme

from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, MissingDependency
from jsctl.nats import login
from jsctl.nats.addresses import parse_addresses
from jsctl.nats.tls import build_tls_options
from tests.support.jwt import new_key


def user_seed() -> str:
    return new_key(nkeys.PREFIX_BYTE_USER).seed


@pytest.mark.parametrize("seed", ["SU", "SUAAAA", "PA" + "A" * 56, "\xff" * 58])
def test_a_text_that_is_not_a_seed_of_a_user(seed: str) -> None:
    with pytest.raises(BadInput, match="seed is not valid"):
        login.parse_seed(seed)


def test_a_signature_names_the_package_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nkeys", None)
    with pytest.raises(MissingDependency, match="PyNaCl is not installed") as caught:
        login.parse_seed(user_seed())
    assert "pip install pynacl" in str(caught.value)
    assert login.parse_seed("") is None, "a login without a signature needs no package"


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
    carried = [asyncio.run(login.with_files(one)) for one in (creds, nkey)]
    for path in tmp_path.iterdir():
        path.unlink()
    (server,) = parse_addresses("tls://localhost:4222")
    signature = base64.b64encode(nkeys.from_seed(bytearray(seed.encode())).sign(b"n")).decode()
    assert login.build_authentication(carried[0], server)("n") == {"jwt": "J.W.T", "sig": signature}
    assert build_tls_options(carried[0], server).get_context().get_ca_certs()
    public_key = nkeys.from_seed(bytearray(seed.encode())).public_key.decode()
    assert login.build_authentication(carried[1], server)("n") == {"nkey": public_key, "sig": signature}
    for one in carried:
        assert seed not in repr(one) and "PRIVATE" not in repr(one)
    with pytest.raises(BadInput, match="does not exist"):
        asyncio.run(login.with_files(creds))
