"""Connection settings that go through a Spark Connect server."""

import pickle
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from jsctl.contexts.settings import Settings
from jsctl.errors import JsctlError, MissingDependency
from jsctl.spark.session import settings_box, task_archive

KEY = bytes(range(32))
SECRET = Settings(
    url="nats://me:Tr0ub4dor@host,tls://other:4222",
    user="mé",
    js_domain="hub",
    tlsfirst=True,
    timeout=7,
    files=(("x.creds", "SEED"), ("ca.pem", "line\nline\n")),
)


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module with KEY, as an archive has one."""
    keys: Any = types.ModuleType("jsctl_key_test")
    keys.KEY = KEY
    monkeypatch.setitem(sys.modules, "jsctl_key_test", keys)
    return "jsctl_key_test"


def test_every_field_comes_out_as_it_went_in(module: str) -> None:
    opened = settings_box.open_box(module, settings_box.seal(SECRET, KEY))
    assert opened == SECRET
    for name in Settings._fields:
        assert type(getattr(opened, name)) is type(getattr(SECRET, name)), name


def test_a_pickle_shows_no_secret_and_opens_only_beside_the_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = pickle.dumps(settings_box.BoxedSettings(SECRET))
    assert b"Tr0ub4dor" not in sent and b"SEED" not in sent and task_archive.get_session_key()[1] not in sent
    with pytest.raises(ModuleNotFoundError):
        pickle.loads(sent)
    monkeypatch.syspath_prepend(str(task_archive.write_archive(tmp_path / "jsctl.zip")))
    assert pickle.loads(sent) == SECRET


@pytest.mark.parametrize("position", [0, 23, 24, 40, -1])
def test_an_altered_box_is_refused(module: str, position: int) -> None:
    box = bytearray(settings_box.seal(SECRET, KEY))
    box[position] ^= 1
    with pytest.raises(JsctlError, match="cannot be decrypted"):
        settings_box.open_box(module, bytes(box))


@pytest.mark.parametrize("length", [0, 10, 24, 40])
def test_a_truncated_box_is_refused(module: str, length: int) -> None:
    with pytest.raises(JsctlError, match="cannot be decrypted"):
        settings_box.open_box(module, settings_box.seal(SECRET, KEY)[:length])


def test_a_box_that_another_key_sealed_is_refused(module: str) -> None:
    with pytest.raises(JsctlError, match="cannot be decrypted"):
        settings_box.open_box(module, settings_box.seal(SECRET, bytes(32)))


def test_two_boxes_of_the_same_settings_differ() -> None:
    assert settings_box.seal(SECRET, KEY) != settings_box.seal(SECRET, KEY)


def test_the_package_that_is_missing_is_named(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    box = settings_box.seal(SECRET, KEY)
    monkeypatch.setitem(sys.modules, "nacl.secret", None)
    with pytest.raises(MissingDependency, match="PyNaCl is not installed"):
        settings_box.open_box(module, box)


@pytest.mark.parametrize(
    "secret",
    [
        {"password": "x"},
        {"token": "x"},
        {"jwt": "x"},
        {"seed": "x"},
        {"files": (("a", "b"),)},
        {"url": "nats://token@host"},
        {"socks_proxy": "socks5://a:b@host"},
    ],
)
def test_settings_with_a_secret_are_boxed_for_connect_only(secret: dict[str, Any]) -> None:
    connect: Any = types.SimpleNamespace()
    classic: Any = types.SimpleNamespace(sparkContext=object())
    settings = Settings(**secret)
    assert isinstance(settings_box.prepare_settings_for_tasks(connect, settings), settings_box.BoxedSettings)
    assert settings_box.prepare_settings_for_tasks(classic, settings) is settings
    public = Settings(url="nats://host", user="me", tlsfirst=True)
    assert settings_box.prepare_settings_for_tasks(connect, public) is public, "this needs no PyNaCl there"
