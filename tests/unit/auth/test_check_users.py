"""What is wrong with users, credentials and JWTs, and what a push refuses."""

import time
from pathlib import Path
from typing import Any

import pytest

from jsctl.auth.check import Finding, check, check_for_push
from jsctl.auth.keys import ACCOUNT, create_key
from tests.support.auth_store import UNLIMITED, Store
from tests.support.run import Cli
from tests.unit.auth.test_check import SERVICE, Change, assert_line_fixes, assert_lines_parse, found, user


def role_of(store: Store, **template: Any) -> Any:
    key = create_key(ACCOUNT)
    store.files.write_seed(key)
    scope = {"kind": "user_scope", "key": key.public, "role": "app", "template": template}
    store.account("IMP", signing_keys=[scope])
    return key


def mend(store: Store, folder: Path, code: str, *, loses: bool = False) -> None:
    """Paste the line of the only finding: then there is none, and no claim is lost. loses: what is at fault
    is among claims that are compared as one, and goes."""
    [finding] = check(store.read())
    assert (finding.code, finding.where) == (code, "user IMP/app")
    if loses:
        Cli(folder / "config")(f"{finding.fix.removeprefix('jsctl ')} --store {store.root}", status=0)
    else:
        assert_line_fixes(store, folder, finding)
    assert found(store) == []


def test_users_of_a_role(store: Store, tmp_path: Path) -> None:
    key = role_of(store, subs=5)
    store.user("IMP", "app", signer=key)
    mend(store, tmp_path, "scoped-user-with-permissions", loses=True)
    store.user("IMP", "app", signer=key, nats={"pub": {"allow": []}})
    mend(store, tmp_path, "scoped-user-with-permissions", loses=True)
    [app] = store.read().find_users("app")
    assert app.issuer == key.public
    store.user("IMP", "app", signer=key, nats={"pub": {}, "sub": {}})
    assert found(store) == []


def test_a_role_that_needs_a_tag(store: Store, tmp_path: Path) -> None:
    key = role_of(store, pub={"deny": ["x.{{tag(team)}}"]})
    store.user("IMP", "app", signer=key, nats={"tags": ["color:blue"]})
    [finding] = check(store.read())
    assert (finding.code, finding.where) == ("scope-template", "user IMP/app")
    line = f"{finding.fix.removeprefix('jsctl ')} --store {store.root}"
    Cli(tmp_path / "config")(line, answers=["red"], status=0)  # it asks for the tag
    assert found(store) == []
    [app] = store.read().find_users("app")
    assert app.nats["tags"] == ["color:blue", "team:red"]
    key = role_of(store, pub={"allow": ["x.{{color()}}"]})
    store.user("IMP", "app", signer=key, nats={})
    assert found(store) == [("scope-template", "user IMP/app")]


USERS: list[tuple[str, Change]] = [
    ("permission-subject", user(pub={"allow": ["a b"]})),
    ("permission-subject", user(pub={"allow": ["a.>.b"]})),
    ("user-source", user(src=["10.0.0.1"])),
    ("user-source", user(src="10.0.0.0/8,x")),
    ("user-times", user(times=[{"start": "8:00", "end": "09:00:00"}])),
    ("user-times", user(times=[{"start": "08:00:00"}])),
    ("user-locale", user(times_location="Nowhere/Land")),
    ("user-connection-types", user(allowed_connection_types=["FAX"])),
    ("user-issuer-account", user(issuer_account="x")),
    ("user-signer", lambda store: store.user("IMP", "app", signer=create_key(ACCOUNT))),
    ("user-signer", lambda store: store.user("IMP", "app", signer=store.accounts["EXP"], nats={})),
    ("expired", user(top={"exp": 1})),
    ("token-type", user(nats={"type": "account"})),
]


NOT_FIXED = {"permission-subject", "user-source", "user-times", "user-locale", "user-connection-types"}
"""Codes of findings for which a person has to choose: an empty list would allow everything."""


@pytest.mark.parametrize(("code", "change"), USERS)
def test_users(store: Store, tmp_path: Path, code: str, change: Change) -> None:
    change(store)
    assert_lines_parse(check(store.read()))
    errors = [finding for finding in check(store.read()) if finding.severity == "error"]
    assert [(finding.code, finding.where) for finding in errors] == [(code, "user IMP/app")]
    if errors[0].fix or code not in NOT_FIXED:
        assert_line_fixes(store, tmp_path, errors[0])


def test_bearer_tokens_and_revocations(store: Store, tmp_path: Path) -> None:
    store.account("IMP", limits={**UNLIMITED, "disallow_bearer": True})
    store.user("IMP", "app", bearer_token=True)
    mend(store, tmp_path, "bearer-disallowed")
    key = role_of(store, bearer_token=True, pub={"allow": ["a"]}, subs=5, data=-1, payload=-1)
    store.user("IMP", "app", signer=key, nats={})
    mend(store, tmp_path, "bearer-disallowed", loses=True)
    [scope] = store.read().find_account("IMP").nats["signing_keys"]
    assert (scope["template"]["pub"], scope["template"]["subs"]) == ({"allow": ["a"]}, 5)
    store.account("IMP", signing_keys=[])
    store.user("IMP", "app", pub={"allow": ["a"]})
    store.account("IMP", revocations={store.users["IMP/app"].public: int(time.time())})
    mend(store, tmp_path, "user-revoked")
    store.account("IMP", revocations={store.users["IMP/app"].public: 1 << 40})
    assert found(store) == [("user-revoked", "user IMP/app")]
    store.account("IMP", revocations={"*": 1})
    assert found(store) == []


def test_a_changed_jwt(store: Store) -> None:
    path = store.files.get_account_path("IMP")
    path.write_text(path.read_text()[:-5] + "AAAAA")
    assert ("token-signature", "account IMP") in found(store)
    path.write_text("nothing")
    assert found(store) == [("unreadable", "account IMP")]


def test_credentials_of_another_jwt(store: Store, tmp_path: Path) -> None:
    creds = store.user("IMP", "app").read_text()
    store.user("IMP", "app", payload=5)
    store.files.get_creds_path("IMP", "app").write_text(creds)
    mend(store, tmp_path, "credentials-differ")
    [app] = store.read().find_users("app")
    assert app.nats["payload"] == 5


def test_before_a_push(store: Store) -> None:
    environment = store.read()
    assert check_for_push(environment, "EXP") == check_for_push(environment, "IMP") == []
    store.user("IMP", "app", src=["x"])
    store.account("EXP", exports=[SERVICE])
    [broken] = check_for_push(store.read(), "EXP")
    assert (broken.severity, broken.code, broken.account) == ("warning", "import-not-exported", "IMP")
    [own] = check_for_push(store.read(), store.accounts["IMP"].public)
    assert (own.severity, own.code) == ("error", "import-not-exported")


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, [1], ["x"], [[]], {"x": 1}, [None], True, -1.5])
def test_claims_of_any_type(store: Store, value: Any) -> None:
    """Nothing but findings comes of it."""
    for name in (
        "exports",
        "imports",
        "limits",
        "signing_keys",
        "revocations",
        "default_permissions",
        "mappings",
    ):
        store.account("IMP", **{name: value})
        assert all(isinstance(finding, Finding) for finding in check(store.read()))
    for name in ("authorization", "trace", "description", "type", "version", "tags"):
        store.account("EXP", **{name: value})
        check(store.read())
    one = dict.fromkeys(
        ("subject", "type", "account", "token", "local_subject", "to", "service_latency"), value
    )
    store.account("IMP", exports=[one], imports=[one], signing_keys=[{"key": value, "template": value}])
    store.user("IMP", "app", nats=dict.fromkeys(("pub", "sub", "src", "times", "issuer_account"), value))
    store.operator(signing_keys=value, operator_service_urls=value, assert_server_version=value)
    check(store.read())
