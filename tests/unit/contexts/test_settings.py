"""Layers of settings: flag, environment, context, default."""

import json
import operator
from pathlib import Path
from typing import Any

import pytest

from jsctl.contexts.layers import resolve
from jsctl.contexts.model import KEYS, Context, strip_login
from jsctl.contexts.settings import SETTINGS, Settings
from jsctl.contexts.store import ContextStore, is_name, load_file, parse
from jsctl.errors import BadInput, NotFound
from jsctl.jetstream.api import build_api_prefix
from jsctl.nats.addresses import parse_addresses

SAMPLES = sorted((Path(__file__).parents[3] / "contexts").glob("*.json"))


def settings(
    context: dict[str, Any] | None = None, environment: dict[str, Any] | None = None, **flags: Any
) -> Settings:
    base = Context("c", context) if context is not None else None
    return resolve({**(environment or {}), **flags}, base, set(environment or {}) - set(flags))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.stem)
def test_samples_load(path: Path) -> None:
    context = load_file(path)
    assert set(context.raw) == set(KEYS)
    assert context.get("description")
    resolved = resolve({}, context)
    assert parse_addresses(resolved.url)


def test_there_are_samples() -> None:
    assert {path.stem for path in SAMPLES} >= {"local", "hub", "leaf", "creds", "tls"}


def test_precedence() -> None:
    assert settings().url == "nats://127.0.0.1:4222"
    assert settings({"url": "nats://c"}).url == "nats://c"
    assert settings({"url": "nats://c"}, {"server": "nats://e"}).url == "nats://e"
    assert settings({"url": "nats://c"}, {"server": "nats://e"}, server="nats://f").url == "nats://f"
    assert settings({"inbox_prefix": "_X"}).inbox_prefix == "_X"
    assert settings({"inbox_prefix": "_X"}, inbox_prefix="").inbox_prefix == "_INBOX"


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"user": "u", "password": "p"}, {"user": "u", "password": "p"}),
        ({"creds": "f"}, {"creds": "f"}),
        ({"nkey": "f"}, {"nkey": "f"}),
        ({"jwt": "j", "seed": "s"}, {"jwt": "j", "seed": "s"}),
        ({"server": "nats://u:p@h"}, {}),
    ],
)
@pytest.mark.parametrize(
    "context",
    [
        {"user": "cu", "password": "cp"},
        {"token": "ct"},
        {"creds": "cc"},
        {"nkey": "cn"},
        {"user_jwt": "cj", "user_seed": "cs"},
        {"nsc": "nsc://o/a/u", "url": "nats://h"},
    ],
)
def test_a_login_replaces_the_login_below(
    context: dict[str, Any], flags: dict[str, Any], expected: dict[str, str]
) -> None:
    for resolved in (settings(context, **flags), settings(context, flags)):
        for name in ("user", "password", "creds", "nkey", "jwt", "seed", "nsc"):
            assert getattr(resolved, name) == expected.get(name, ""), name
        assert resolved.token == ""


def test_a_token_goes_with_credentials() -> None:
    """An auth callout takes a token beside sentinel credentials."""
    resolved = settings({"creds": "c", "user": "u", "password": "p"}, token="t")
    assert (resolved.creds, resolved.token, resolved.user) == ("c", "t", "")


def test_a_user_alone_is_a_token() -> None:
    resolved = settings({"user": "u", "password": "p"}, user="t")
    assert (resolved.user, resolved.password, resolved.token) == ("", "", "t")


def test_halves_of_a_login_meet() -> None:
    assert settings({"user": "u", "password": "old"}, password="new").password == "new"
    paired = settings({"creds": "c"}, {"password": "p"}, user="u")
    assert (paired.user, paired.password, paired.creds) == ("u", "p", "")
    assert settings({}, {"seed": "s"}, jwt="j").seed == "s"


def test_a_flag_goes_before_the_login_in_a_url() -> None:
    resolved = settings({"url": "nats://a:b@h:1,nats://a:b@i:2"}, user="u", password="p")
    assert resolved.url == "nats://h:1,nats://i:2"


def test_domain_and_prefix() -> None:
    hub = {"jetstream_domain": "hub"}
    behind = {"jetstream_api_prefix": "JS.acc@hub.API"}
    assert settings(hub).js_domain == "hub"
    assert settings(hub, js_domain="leafacc.spoke-1").js_domain == "leafacc.spoke-1"
    assert settings(hub, js_domain="").js_domain == ""
    replaced = settings(hub, js_api_prefix="JS.x")
    assert (replaced.js_domain, replaced.js_api_prefix) == ("", "JS.x")
    cleared = settings(behind, js_domain="")
    assert (cleared.js_domain, cleared.js_api_prefix) == ("", "")
    with pytest.raises(BadInput, match="cannot be used together"):
        settings(js_domain="a", js_api_prefix="b")
    with pytest.raises(BadInput, match="both a JetStream domain and an API prefix"):
        settings(hub | behind)
    assert settings(hub | behind, js_domain="x").js_domain == "x"
    for bad in ("a b", "a.", "*", ">", ".a", "a..b"):
        with pytest.raises(BadInput, match="not a valid subject prefix"):
            settings(js_domain=bad)
    assert build_api_prefix("leafacc.spoke-1") == "$JS.leafacc.spoke-1.API"
    assert build_api_prefix("", "JS.x") == "JS.x"


def test_what_is_refused() -> None:
    with pytest.raises(BadInput, match="unknown color scheme 'pink'"):
        settings(colors="pink")
    assert settings({"color_scheme": "pink"}).colors == "pink"  # another tool's: not worth an error
    with pytest.raises(BadInput, match="more than 0"):
        settings(timeout=0)


def test_typed_flags_do_not_tell_settings_apart() -> None:
    one, other = Settings(url="nats://a"), Settings(url="nats://a", typed=("--server", "nats://a"))
    assert one == other and not operator.ne(one, other) and len({one, other}) == 1
    assert one != one._replace(url="nats://b") and one != tuple(one)


def test_secrets_are_not_in_repr() -> None:
    resolved = settings(
        {
            "password": "hush1",
            "token": "hush2",
            "user_jwt": "hush3",
            "user_seed": "hush4",
            "url": "nats://u:hush5@h",
            "socks_proxy": "socks5://u:hush6@h",
        }
    )
    assert "hush" not in repr(resolved)
    assert "hush" not in repr(Context("c", {"password": "hush"}))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("nats://u:p@h:4222", "nats://h:4222"),
        ("u:p@h", "h"),
        ("nats://h", "nats://h"),
        ("nats://t@[::1]:4222,tls://u:p@h:1", "nats://[::1]:4222,tls://h:1"),
        ("nats://u:p@ss@h:1", "nats://h:1"),
        ("nats://u:p/ss@h:1", "nats://h:1"),
        ("nats://u:p,ss@h:1", "nats://h:1"),
        ("nats://u:12,34@h:1", "nats://h:1"),
        ("nats://u:p://ss@h:1", "nats://h:1"),
        ("nats://u:pass", "nats://u"),
        ("wss://h:443/secret?token=secret", "wss://h:443"),
        ("nats://h:1, nats://u:p@i:2", "nats://h:1,nats://i:2"),
        ("sc://h:15002/;token=secret;user_id=me", "sc://h:15002"),
        ("spark://h:7077,i:7077", "spark://h:7077,i:7077"),
        ("k8s://https://u:p@h:443/x", "k8s://https://h:443"),
        ("local[4,2]", "local[4,2]"),
        ("yarn", "yarn"),
    ],
)
def test_public_url(url: str, shown: str) -> None:
    assert strip_login(url) == shown


def test_hidden_urls_keep_the_user() -> None:
    document = Context("c", {"url": "nats://u:hush@h:1,nats://hush@i", "x_token": "hush"}).document()
    assert document["url"] == "nats://u:********@h:1,nats://********@i"
    assert "hush" not in json.dumps(document)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "a\\b", "../x", "a..b", "a\0b", ".x", "a\nb", " a", "\x1b[1m"]
)
def test_names_that_are_refused(name: str, tmp_path: Path) -> None:
    store = ContextStore(tmp_path / "nats")
    assert not is_name(name)
    for use in (store.load, store.remove, store.select, store.exists, lambda n: store.save(n, {})):
        with pytest.raises(BadInput, match="is not a valid context name"):
            use(name)
    assert not (tmp_path / "nats").exists()


def test_files_are_private_and_whole(tmp_path: Path) -> None:
    store = ContextStore(tmp_path / "config" / "nats")
    raw = {
        "url": "nats://h",
        "x_unknown": {"deep": [1, 12345678901234567890]},
        "description": "Zürich \ud800",
    }
    path = Path(store.save("ngs.js", raw).path)
    store.select("ngs.js")
    assert {p.stat().st_mode & 0o777 for p in (path, store.root / "context.txt")} == {0o600}
    assert {p.stat().st_mode & 0o777 for p in (store.root, path.parent)} == {0o700}
    assert store.load("ngs.js").raw["x_unknown"] == raw["x_unknown"]
    assert store.load("ngs.js").raw["description"] == raw["description"]
    assert "Zürich" in path.read_text()
    assert [p.name for p in path.parent.iterdir()] == ["ngs.js.json"]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ContextStore(tmp_path)
    path = Path(store.save("a", {"description": "old"}).path)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        store.save("a", {"description": "new"})
    assert store.load("a").get("description") == "old"
    assert [p.name for p in path.parent.iterdir()] == ["a.json"]


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    store = ContextStore(tmp_path / "nats")
    real = tmp_path / "dotfiles.json"
    store.save("x", {})
    real.write_text("{}")
    store.path("linked").symlink_to(real)
    store.save("linked", {"description": "new"})
    assert store.path("linked").is_symlink()
    assert json.loads(real.read_text())["description"] == "new"


def test_strange_files_are_left_out(tmp_path: Path) -> None:
    store = ContextStore(tmp_path)
    assert store.names() == []
    store.save("b", {})
    store.save("a.b", {})
    folder = tmp_path / "context"
    (folder / "empty.json").touch()
    (folder / "note.txt").write_text("x")
    (folder / "folder.json").mkdir()
    (folder / "gone.json").symlink_to(tmp_path / "nowhere")
    assert store.names() == ["a.b", "b"]
    (tmp_path / "context.txt").write_text("../../etc/passwd")
    assert store.selected() == ""
    (tmp_path / "context.txt").write_text("gone2\n")
    with pytest.raises(NotFound, match="the selected context 'gone2' does not exist"):
        store.load(store.selected())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n  "url": x\n}', "line 2, column 10"),
        ("[]", "JSON object"),
        ('{"url": 1}', "'url' must be text"),
        ('{"tls_first": "yes"}', "'tls_first' must be true or false"),
    ],
)
def test_files_that_are_not_contexts(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse(text)


def test_no_two_settings_have_one_flag_variable_or_key() -> None:
    flags = [name for setting in SETTINGS.values() if setting.flag for name in setting.flag.names]
    variables = [each.flag.variable for each in SETTINGS.values() if each.flag and each.flag.variable]
    keys = [setting.key.name for setting in SETTINGS.values() if setting.key]
    for names in (flags, variables, keys):
        assert len(names) == len({*names})
