"""What is found wrong with operators, accounts and users."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jsctl.auth.check import Finding, check
from jsctl.auth.keys import ACCOUNT, OPERATOR, USER, create_key
from jsctl.auth.records import User
from tests.contract.test_commands import parse
from tests.support.auth_store import UNLIMITED, Store
from tests.support.run import Cli

Change = Callable[[Store], object]


def base(store: Store) -> None:
    """Write accounts and users that are in order, whatever was there."""
    for name in ("EXP", "IMP"):
        store.claims.pop(name, None)
    exp = store.account("EXP", exports=EXPORTS)
    store.account("IMP", imports=[{**STREAM, "account": exp.public}, {**SERVICE, "account": exp.public}])
    store.user("IMP", "app")
    store.user("SYS", "sys")


STREAM = {"name": "orders", "subject": "orders.>", "type": "stream"}
SERVICE = {"name": "bill", "subject": "bill.req", "type": "service"}
PRIVATE = {"name": "secret", "subject": "secret.*", "type": "stream", "token_req": True}
TOKEN = {"name": "own", "subject": "own.*", "type": "stream", "account_token_position": 2}
EXPORTS = [STREAM, SERVICE, PRIVATE, TOKEN]


def found(store: Store) -> list[tuple[str, str]]:
    return [(finding.code, finding.where) for finding in check(store.read())]


def assert_lines_parse(findings: list[Finding]) -> None:
    """Whatever mends a finding is a command line of jsctl."""
    for finding in findings:
        assert not re.search(r"<[a-z]", finding.fix), finding  # nothing is left to fill in
        for line in finding.fix.split(" && ") if finding.fix else ():
            assert line.startswith("jsctl "), finding
            # A wildcard alone is taken for a redirection by the parser of examples.
            parse(line.replace("'>'", "x"))


def exports(*more: dict[str, Any]) -> Change:
    return lambda store: store.account("EXP", exports=[*EXPORTS, *more])


def imports(*more: dict[str, Any]) -> Change:
    def change(store: Store) -> None:
        exp = store.accounts["EXP"].public
        store.account(
            "IMP", imports=[*store.claims["IMP"]["imports"], *({"account": exp, **one} for one in more)]
        )

    return change


def account(**nats: Any) -> Change:
    return lambda store: store.account("IMP", **nats)


def user(**nats: Any) -> Change:
    return lambda store: store.user("IMP", "app", **nats)


def operator(**nats: Any) -> Change:
    return lambda store: store.operator(**nats)


def test_nothing_is_wrong(store: Store) -> None:
    assert found(store) == []


BAD_OPERATOR: list[tuple[str, Change]] = [
    ("operator-account-server", operator(account_server_url="host/jwt")),
    ("operator-service", operator(operator_service_urls=["nats://a:4222", "http://b"])),
    ("operator-service", operator(operator_service_urls=["nats://u:p@a:4222"])),
    ("operator-service", operator(operator_service_urls=["nats://a:4222/x"])),
    ("operator-signing-key", operator(signing_keys=[create_key(ACCOUNT).public])),
    ("operator-system-account", operator(system_account="A")),
    ("operator-system-account-missing", operator(system_account=create_key(ACCOUNT).public)),
    ("operator-server-version", operator(assert_server_version="2.10")),
    ("operator-not-self-signed", lambda store: store.operator(signer=create_key(OPERATOR))),
    ("expired", lambda store: store.operator(top={"exp": 1})),
    ("not-yet-valid", lambda store: store.operator(top={"nbf": 1 << 40})),
]


@pytest.mark.parametrize(("code", "change"), BAD_OPERATOR)
def test_operators(store: Store, code: str, change: Change) -> None:
    change(store)
    assert_lines_parse(check(store.read()))
    assert found(store) == [(code, "operator OP")]


def test_an_operator_that_takes_signing_keys_only(store: Store) -> None:
    store.operator(strict_signing_key_usage=True)
    codes = {code for code, _ in found(store)}
    assert codes == {"operator-strict-without-keys", "account-signed-by-identity", "user-signed-by-identity"}
    key, role = create_key(OPERATOR), create_key(ACCOUNT)
    store.operator(signing_keys=[key.public])
    for name in ("SYS", "EXP", "IMP"):
        store.account(name, signer=key, signing_keys=[role.public])
    store.user("IMP", "app", signer=role)
    store.user("SYS", "sys", signer=role)
    assert found(store) == []


EXPORT_PROBLEMS: list[tuple[str, dict[str, Any]]] = [
    ("export-type", {"subject": "x", "type": "thing"}),
    ("export-subject", {"subject": "", "type": "stream"}),
    ("export-subject", {"subject": "a b", "type": "stream"}),
    ("export-subject", {"subject": "a..b", "type": "stream"}),
    ("export-subject", {"subject": ".a", "type": "stream"}),
    ("export-overlap", {"subject": "orders.new", "type": "stream"}),
    ("export-overlap", {"subject": "orders.>", "type": "stream"}),
    ("export-response-type", {"subject": "x", "type": "stream", "response_type": "Stream"}),
    ("export-response-type", {"subject": "x", "type": "service", "response_type": "stream"}),
    ("export-trace", {"subject": "x", "type": "stream", "allow_trace": True}),
    ("export-threshold", {"subject": "x", "type": "stream", "response_threshold": 1}),
    ("export-threshold", {"subject": "x", "type": "service", "response_threshold": -1}),
    (
        "export-latency",
        {"subject": "x", "type": "stream", "service_latency": {"sampling": 1, "results": "y"}},
    ),
    (
        "export-latency",
        {"subject": "x", "type": "service", "service_latency": {"sampling": 101, "results": "y"}},
    ),
    (
        "export-latency",
        {"subject": "x", "type": "service", "service_latency": {"sampling": 1, "results": "y.*"}},
    ),
    (
        "export-latency",
        {"subject": "x", "type": "service", "service_latency": {"sampling": 1, "results": ""}},
    ),
    ("export-token-position", {"subject": "x.y", "type": "stream", "account_token_position": 1}),
    ("export-token-position", {"subject": "x.*", "type": "stream", "account_token_position": 1}),
    ("export-token-position", {"subject": "x.*", "type": "stream", "account_token_position": 3}),
    ("export-info", {"subject": "x", "type": "stream", "info_url": "nothing"}),
    ("export-info", {"subject": "x", "type": "stream", "description": "x" * 8193}),
]
IMPORT_PROBLEMS: list[tuple[str, dict[str, Any]]] = [
    ("import-account", {"subject": "orders.x", "type": "stream", "account": ""}),
    ("import-subject", {"subject": "orders..x", "type": "stream"}),
    ("import-local-subject", {"subject": "orders.a.>", "type": "stream", "local_subject": "o"}),
    ("import-local-subject", {"subject": "orders.*.x", "type": "stream", "local_subject": "o.x"}),
    ("import-local-subject", {"subject": "orders.*.x", "type": "stream", "local_subject": "o.$2"}),
    ("import-to", {"subject": "orders.x", "type": "stream", "local_subject": "o", "to": "p"}),
    ("import-share", {"subject": "orders.x", "type": "stream", "share": True}),
    ("import-trace", {"subject": "bill.req", "local_subject": "b", "type": "service", "allow_trace": True}),
    ("import-overlap", {"subject": "bill.req", "type": "service", "local_subject": "bill.req"}),
    ("import-token", {"subject": "secret.x", "type": "stream", "token": "x"}),
]
ACCOUNT_PROBLEMS: list[tuple[str, dict[str, Any]]] = [
    ("too-many-imports", {"limits": {**UNLIMITED, "imports": 1}}),
    ("too-many-imports", {"limits": {**UNLIMITED, "imports": 0}}),
    (
        "wildcard-exports",
        {"limits": {**UNLIMITED, "exports": 5, "wildcards": False}, "exports": [{**STREAM}]},
    ),
    ("too-many-exports", {"limits": {**UNLIMITED, "exports": 0}, "exports": [{**SERVICE}]}),
    ("tier-name", {"limits": {**UNLIMITED, "tiered_limits": {"": {"streams": 1}}}}),
    ("permission-subject", {"default_permissions": {"pub": {"allow": ["a b"]}}}),
    ("permission-subject", {"default_permissions": {"sub": {"allow": ["a b c"]}}}),
    ("permission-subject", {"default_permissions": {"sub": {"deny": ["a..b"]}}}),
    ("mapping-subject", {"mappings": {"a..b": [{"subject": "c"}]}}),
    ("mapping-subject", {"mappings": {"a": [{"subject": ""}]}}),
    ("mapping-weight", {"mappings": {"a": [{"subject": "b", "weight": 60}, {"subject": "c", "weight": 50}]}}),
    (
        "mapping-weight",
        {"mappings": {"a": [{"subject": "b", "cluster": "x"}, {"subject": "c", "cluster": "x"}]}},
    ),
    ("callout", {"authorization": {"allowed_accounts": ["*"]}}),
    ("callout", {"authorization": {"auth_users": ["app"]}}),
    ("callout", {"authorization": {"auth_users": [create_key(USER).public], "xkey": "X"}}),
    ("account-trace", {"trace": {"dest": "a.*"}}),
    ("account-trace", {"trace": {"dest": "a", "sampling": 101}}),
    ("account-trace", {"trace": {"dest": ""}}),
    ("account-signing-key", {"signing_keys": ["A"]}),
    (
        "account-signing-key",
        {"signing_keys": [{"kind": "user_scope", "key": "A", "role": "r", "template": {}}]},
    ),
    ("account-info", {"info_url": "x"}),
    ("account-cluster-traffic", {"cluster_traffic": "both"}),
]
"""Claims that the server's own validation refuses, too."""

REFUSED: list[tuple[str, Change]] = [
    *((code, exports(one)) for code, one in EXPORT_PROBLEMS),
    *((code, imports(one)) for code, one in IMPORT_PROBLEMS),
    *((code, account(**nats)) for code, nats in ACCOUNT_PROBLEMS),
]


@pytest.mark.parametrize(("code", "change"), REFUSED)
def test_accounts(store: Store, code: str, change: Change) -> None:
    change(store)
    assert_lines_parse(check(store.read()))
    assert code in {finding.code for finding in check(store.read()) if finding.severity == "error"}


def activation(**wrong: Any) -> Change:
    """IMP imports secret.x with a token; `wrong` is wrong with it."""

    def change(store: Store) -> None:
        claims = {"exporter": "EXP", "importer": "IMP", "subject": "secret.*", "kind": "stream", **wrong}
        imports({"subject": "secret.x", "type": "stream", "token": store.activation(**claims)})(store)

    return change


def revoke_activations(store: Store) -> None:
    activation()(store)
    store.account("EXP", exports=[*EXPORTS[:2], {**PRIVATE, "revocations": {"*": 1 << 40}}])


def circle(kind: str, *names: str) -> Change:
    """Each account imports from the next one, the last from the first."""

    def change(store: Store) -> None:
        one = {"subject": "round", "type": kind}
        publics = [store.account(name).public for name in names]
        for name, origin in zip(names, [*publics[1:], publics[0]], strict=True):
            store.account(name, exports=[one], imports=[{**one, "account": origin}])

    return change


def another_origin(one: dict[str, Any]) -> Change:
    def change(store: Store) -> None:
        other = store.account("OTHER", exports=[{"subject": one["subject"], "type": one["type"]}])
        imports({**one, "account": other.public})(store)

    return change


ACROSS: list[tuple[str, Change]] = [
    ("import-not-exported", imports({"subject": "hidden", "type": "stream"})),
    ("import-not-exported", imports({"subject": "bill.req", "type": "stream"})),
    ("import-not-exported", imports({"subject": ">", "type": "stream"})),
    ("import-without-token", imports({"subject": "secret.x", "type": "stream"})),
    ("import-token", activation(importer="EXP")),
    ("import-token", activation(kind="service")),
    ("import-token", activation(subject="other")),
    ("import-token", activation(top={"exp": 1})),
    ("import-token", activation(exporter="SYS")),
    ("import-token-refused", activation(exporter="SYS", top={})),
    ("import-token-refused", revoke_activations),
    ("import-account-token", imports({"subject": "own.*", "type": "stream"})),
    ("import-account-token", imports({"subject": f"own.{create_key(ACCOUNT).public}", "type": "stream"})),
    ("import-twice", imports({"subject": "orders.>", "type": "stream", "local_subject": "again.>"}, STREAM)),
    ("import-same-local-subject", another_origin({"subject": "bill.req", "type": "service"})),
    ("import-cycle", circle("service", "IMP", "EXP")),
    ("import-cycle", circle("service", "IMP", "EXP", "THIRD")),
    ("import-cycle", circle("stream", "IMP", "EXP")),
    ("import-cycle", circle("stream", "IMP", "EXP", "THIRD")),
    ("import-of-own", lambda store: imports({**STREAM, "account": store.accounts["IMP"].public})(store)),
    (
        "jetstream-on-system-account",
        lambda store: store.account("SYS", limits={**UNLIMITED, "disk_storage": 1}),
    ),
    ("account-signer", lambda store: store.account("IMP", signer=create_key(OPERATOR))),
]


@pytest.mark.parametrize(("code", "change"), ACROSS)
def test_across_accounts(store: Store, code: str, change: Change) -> None:
    change(store)
    assert_lines_parse(check(store.read()))
    assert code in {finding.code for finding in check(store.read()) if finding.severity == "error"}


NOT_FIXED = {
    *("permission-subject", "export-subject", "import-account", "import-subject"),
    *("operator-system-account-missing", "import-token-refused"),
}
"""Codes of findings some of which a person has to decide, or which a server has to answer."""

CASES = [*BAD_OPERATOR, *REFUSED, *ACROSS]


@pytest.mark.parametrize(("code", "change"), CASES, ids=[code for code, _ in CASES])
def test_the_suggested_line_fixes_it(store: Store, tmp_path: Path, code: str, change: Change) -> None:
    change(store)
    finding = next(one for one in check(store.read()) if one.code == code)
    if code in NOT_FIXED and (not finding.fix or " query " in finding.fix):
        return
    assert_line_fixes(store, tmp_path, finding)


def assert_line_fixes(store: Store, tmp_path: Path, finding: Finding) -> None:
    """Run the line of a finding: the finding is gone, there is no other, and no other claim is lost."""
    cli = Cli(tmp_path / "config")
    before, claims = {fault(one) for one in check(store.read())}, list_claims(store, finding)
    for line in finding.fix.split(" && "):
        force = " --force" if re.search(r" (?!mappings )\S+ rm |--accept-claims", line) else ""
        outcome = cli(f"{line.removeprefix('jsctl ')} --store {store.root}{force}")
        if "choose a role with --key" in outcome.err:
            return  # nobody knows what the user was allowed
        assert outcome.status == 0, (finding, outcome.err)
    after = {fault(one) for one in check(store.read())}
    assert fault(finding) not in after and after <= before, (finding, after - before)
    lost = claims - list_claims(store, finding)
    if finding.fix.endswith(" --off --operator OP"):  # without a service there is nothing to allow
        lost = {claim for claim in lost if not claim[1].startswith("authorization.")}
    assert not lost, (finding, lost)


def fault(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.where, re.sub(r"[\d:-]+", "", finding.message)


def list_claims(store: Store, finding: Finding) -> set[tuple[str, str, str]]:
    """All claims, each with its owner, as far as the finding is not about them."""
    environment = store.read()
    users = [user for account in environment.accounts for user in account.users]
    claims = set()
    for owner in (environment.operator, *environment.accounts, *users):
        account = owner.account if isinstance(owner, User) else ""
        concerned = owner.name in (finding.user, finding.account, finding.operator)
        claims.add((f"{account}/{owner.name}", "sub", owner.public))
        for key, value in owner.nats.items():
            for path, item in flatten(key, value):
                if not (concerned and (path.startswith(finding.path) or finding.path.startswith(path))):
                    claims.add((f"{account}/{owner.name}", re.sub(r"\[\d+\]", "[]", path), repr(item)))
    return claims


def flatten(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what is in a claim: of an object each value, of a list each item."""
    if isinstance(value, dict) and "." not in path:
        for key, item in value.items():
            yield from flatten(f"{path}.{key}", item)
    elif isinstance(value, list):
        yield from ((f"{path}[{index}]", item) for index, item in enumerate(value))
    else:
        yield path, value


def test_limits_beside_tiers_are_only_a_warning(store: Store) -> None:
    store.account("IMP", limits={**UNLIMITED, "streams": 1, "tiered_limits": {"R1": {"streams": 1}}})
    [finding] = check(store.read())
    assert (finding.severity, finding.code) == ("warning", "tiers-and-limits")


def test_imports_that_work(store: Store) -> None:
    activation()(store)
    own = store.accounts["IMP"].public
    imports({"subject": f"own.{own}", "type": "stream", "local_subject": "mine"})(store)
    assert found(store) == []


def test_an_import_from_elsewhere_is_only_a_warning(store: Store) -> None:
    imports({**STREAM, "account": create_key(ACCOUNT).public, "local_subject": "far.>"})(store)
    [finding] = check(store.read())
    assert (finding.severity, finding.code) == ("warning", "import-origin-unknown")
