"""`apply` and `diff` of operators, accounts and users."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jsctl.auth.check import check
from jsctl.auth.environment import Environment, read_environment
from jsctl.auth.folders import StoreFolders
from jsctl.auth.why.permissions import decide_publish, decide_subscribe, find_permissions
from tests.support.killing import kill_points
from tests.support.run import Cli

FILE = """
label: prod
vars: {team: red}
operators:
  - name: ACME
    system_account: SYS
    accounts:
      - name: SALES
        limits: {disk_storage: 10GB, conn: 100}
        exports:
          - {name: orders, subject: "orders.>", type: stream}
          - {name: bill, subject: bill.req, type: service, token_req: true}
        users:
          - {name: clerk, pub: {allow: ["orders.>"]}}
      - for: {shop: [north, south]}
        name: "SHOP_{{shop}}"
        imports:
          - {account: SALES, subject: "orders.>", type: stream, local_subject: "sales.orders.>"}
          - {account: SALES, subject: bill.req, type: service}
        signing_keys:
          - role: reader
            template: {sub: {allow: ["sales.>"]}, pub: {deny: [">"]}}
        users:
          - {name: till, role: reader, tags: ["team:{{team}}"]}
"""


class Declared:
    """A file, the command line that applies it, and the store that comes of it."""

    def __init__(self, cli: Cli, folder: Path) -> None:
        self.cli = cli
        self.file = folder / "environment.yaml"
        self.root = folder / "data" / "nats" / "nsc"
        self.write(FILE)

    def write(self, text: str) -> None:
        self.file.write_text(text)

    def replace(self, *changes: tuple[str, str]) -> None:
        text = self.file.read_text()
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        self.write(text)

    def apply(self, flags: str = "--force") -> str:
        return self.cli(f"apply -f {self.file} {flags}", status=0).out

    def diff(self, flags: str = "", status: int = 2) -> str:
        return self.cli(f"diff -f {self.file} {flags}", status=status).out

    def read(self) -> Environment:
        return read_environment(StoreFolders.below(self.root), "ACME")


@pytest.fixture
def declared(auth_cli: Cli, tmp_path: Path) -> Declared:
    return Declared(auth_cli, tmp_path)


def test_an_environment_from_nothing(declared: Declared) -> None:
    shown = declared.diff()
    assert "+ account SHOP_north\n" in shown and "7 to create, 0 to change, 0 to remove" in shown
    assert "+ import stream orders.> of SALES (as sales.orders.>)" in shown
    assert not declared.root.exists()
    assert "1 operator, 3 accounts and 3 users done" in declared.apply()
    environment = declared.read()
    assert check(environment) == []
    north = environment.find_account("SHOP_north")
    [till] = north.users
    assert decide_subscribe(find_permissions(north, till), "sales.orders.new").allowed
    assert not decide_publish(north, find_permissions(north, till), "x").allowed
    assert "team:red" in till.nats["tags"]
    sales = environment.find_account("SALES")
    assert sales.limits["disk_storage"] == 10 * 2**30 and sales.limits["streams"] == -1
    assert (declared.root / "keys/creds/ACME/SHOP_north/till.creds").exists()
    assert "Nothing to change: 1 operator, 3 accounts, 3 users are as declared" in declared.diff(status=0)
    before = {account.name: account.token for account in environment.accounts}
    declared.apply()
    assert {account.name: account.token for account in declared.read().accounts} == before


def test_changes_keep_what_is_not_named(declared: Declared) -> None:
    declared.apply()
    declared.cli("auth account edit SALES --subscriptions 7 --operator ACME", status=0)
    declared.replace(("conn: 100", "conn: 50"), ('"orders.>"]', '"orders.>", "news.>"]'))
    shown = declared.diff()
    assert "limits.conn: 100 -> 50" in shown and "~ user SALES/clerk" in shown
    declared.apply()
    sales = declared.read().find_account("SALES")
    assert (sales.limits["conn"], sales.limits["subs"]) == (50, 7)
    assert sales.users[0].nats["pub"]["allow"] == ["orders.>", "news.>"]


def test_prune(declared: Declared) -> None:
    declared.apply()
    declared.cli("auth user add extra SALES --operator ACME --defaults", status=0)
    clerk = declared.read().find_users("clerk")[0].public
    declared.replace(
        ("[north, south]", "[north]"),
        ('          - {name: clerk, pub: {allow: ["orders.>"]}}\n', "          []\n"),
        ("          - {account: SALES, subject: bill.req, type: service}\n", ""),
    )
    assert "Nothing to change" in declared.diff(status=0)
    shown = declared.diff("--prune")
    assert (
        "- account SHOP_south (1 user, an unknown number of streams)" in shown
        and "- user SALES/clerk (and revoke it)" in shown
    )
    assert "- import service bill.req of" in shown
    declared.cli(f"apply -f {declared.file} --prune", status=64)
    declared.apply("--prune --force --allow-data-loss")
    environment = declared.read()
    assert [account.name for account in environment.accounts] == ["SALES", "SHOP_north", "SYS"]
    sales = environment.find_account("SALES")
    assert [user.name for user in sales.users] == ["extra"]
    assert clerk in sales.nats["revocations"]
    assert len(environment.find_account("SHOP_north").imports) == 1
    assert "Nothing to change" in declared.diff("--prune", status=0)


def test_roles_and_signing_keys_only(declared: Declared) -> None:
    declared.apply()
    declared.replace(
        ("    system_account: SYS\n", "    system_account: SYS\n    strict_signing_key_usage: true\n")
    )
    declared.apply()
    environment = declared.read()
    findings = [f for f in check(environment) if f.account != "SYS"]
    assert findings == []
    declared.replace((", role: reader", ""))
    declared.apply()
    assert "Nothing to change" in declared.diff(status=0)
    [till] = declared.read().find_account("SHOP_north").users
    assert till.nats["subs"] == -1


def test_what_is_lost_is_written_again(declared: Declared) -> None:
    declared.apply()
    creds = declared.root / "keys/creds/ACME/SALES/clerk.creds"
    text = creds.read_text()
    creds.unlink()
    (declared.root / "stores/ACME/accounts/SHOP_south/users/till.jwt").unlink()
    shown = declared.diff()
    assert "credentials: (not set) -> written" in shown and "+ user SHOP_south/till" in shown
    declared.apply()
    assert creds.read_text() == text
    assert "Nothing to change" in declared.diff(status=0)


def test_json(declared: Declared) -> None:
    document = declared.cli(f"diff -f {declared.file} --json", status=2).json
    assert [step["action"] for step in document["auth"]["changes"]] == ["create"] * 7
    document = declared.cli(f"apply -f {declared.file} --json", status=0).json
    assert document["auth"]["applied"][0] == {
        "status": "created",
        "operator": "ACME",
        "account": "",
        "user": "",
    }
    document = declared.cli(f"apply -f {declared.file} --dry-run --json", status=0).json
    assert document["auth"]["unchanged"] == {"operators": 1, "accounts": 3, "users": 3}


def test_a_folder_and_a_variable(declared: Declared, tmp_path: Path) -> None:
    declared.apply(f"--store {tmp_path / 'own'} --var team=blue")
    environment = read_environment(StoreFolders.below(tmp_path / "own"), "ACME")
    assert "team:blue" in environment.find_account("SHOP_south").users[0].nats["tags"]
    assert not declared.root.exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            ("account: SALES, subject: bill.req", "account: SALE, subject: bill.req"),
            "SALE, which does not exist",
        ),
        (("role: reader, tags", "role: writer, tags"), "no signing key for role 'writer'"),
        (("conn: 100", "con: 100"), "unknown key"),
        (("type: service, token_req", "type: thing, token_req"), "thing"),
        (("name: SALES\n", "name: SHOP_north\n"), "declared twice"),
        (("name: clerk,", "nam: clerk,"), "has no name"),
        (("{name: clerk", "{name: a/b"), "not a valid user name"),
        (
            ("role: reader, tags", "role: reader, subs: 5, tags"),
            "has role reader, which sets its permissions",
        ),
        (('allow: ["orders.>"]', 'allow: ["orders..x"]'), "orders..x"),
        (("{{team}}", "{{teem}}"), "there is no variable 'teem'"),
        (("exports:\n", "exports: x\n        other:\n"), "environment.yaml:"),
    ],
)
def test_mistakes(declared: Declared, change: tuple[str, str], says: str) -> None:
    declared.replace(change)
    for verb in ("diff", "apply"):
        outcome = declared.cli(f"{verb} -f {declared.file}", status=64)
        assert says in outcome.err and len(outcome.err.strip().splitlines()) == 1
    assert not declared.root.exists()


@pytest.mark.long
def test_the_run_after_a_kill_continues_with_what_was_written(declared: Declared, tmp_path: Path) -> None:
    """kill -9 between two writes: what is there can be read, and the next run continues with it, until one
    comes to its end."""
    read = 0
    line = f"apply -f {declared.file} --force"
    for _ in kill_points(lambda: declared.cli(line, status=0), tmp_path, {}):
        if (declared.root / "stores" / "ACME").exists():
            read += 1
            assert declared.read().unreadable == []
    assert read >= 4
    declared.apply()
    assert check(declared.read()) == []
    assert "Nothing to change" in declared.diff(status=0)


OTHER = """
label: other
operators:
  - name: ACME
    accounts:
      - name: SALES
        users: [{name: guest}]
"""


def test_one_label_owns_an_account(declared: Declared, tmp_path: Path) -> None:
    """A file that only adds a user to an account does not take it over."""
    declared.apply()
    declared.write(OTHER)
    declared.apply()
    assert "Nothing to change" in declared.diff(status=0)
    declared.write(OTHER.replace("users: [{name: guest}]", "users: []"))
    assert "- user SALES/guest" in declared.diff("--prune")
    declared.apply("--prune --force")
    assert {account.name for account in declared.read().accounts} >= {"SALES", "SHOP_north"}
    declared.write(OTHER.replace("- name: SALES", "- name: SALES\n        limits: {conn: 7}"))
    refused = declared.cli(f"apply -f {declared.file} --force", status=64).err
    assert "account SALES belongs to label prod; --take-ownership takes it over" in refused
    declared.apply("--force --take-ownership")
    tags = declared.read().find_account("SALES").nats["tags"]
    assert "jsctl.label:other" in tags and "jsctl.label:prod" not in tags
    declared.write(OTHER.replace("SALES", "NEW"))
    assert "- account SALES (2 users, an unknown number of streams): clerk, guest" in declared.diff("--prune")


def test_lists_that_are_declared_as_empty(declared: Declared) -> None:
    for value in ("[]", "null"):
        declared.write(FILE)
        declared.apply()
        before, _, rest = FILE.partition("        exports:\n")
        declared.write(f"{before}        exports: {value}\n{rest[rest.index('        users:') :]}")
        assert "- export stream orders.>" in declared.diff()
        declared.apply()
        assert declared.read().find_account("SALES").exports == []
        assert "Nothing to change" in declared.diff(status=0)


def test_a_removed_account_that_is_declared_again_has_its_key(declared: Declared) -> None:
    declared.apply()
    before = declared.read().find_account("SHOP_south").public
    declared.replace(("[north, south]", "[north]"))
    assert "Servers may still have account SHOP_south" in declared.apply("--prune --force --allow-data-loss")
    assert "Servers may still have account SHOP_south" in declared.diff(status=0)
    document = declared.cli(f"diff -f {declared.file} --json", status=0).json
    assert document["auth"]["owed"] == ["SHOP_south"]
    declared.replace(("[north]", "[north, south]"))
    assert f"key: {before}" in declared.diff()
    declared.apply()
    assert declared.read().find_account("SHOP_south").public == before
    assert "Servers may still" not in declared.diff(status=0)
    declared.cli("auth account rm SHOP_south --force --keys --operator ACME", status=0)
    assert "the streams of the removed account are lost" in declared.diff()


def test_narrowing_a_user(declared: Declared) -> None:
    """What was signed before still allows what it did: the plan says so, and --revoke-old revokes it."""
    declared.apply()
    sales = declared.read().find_account("SALES")
    [clerk] = sales.users
    declared.replace(('["orders.>"]}}', '["orders.>", "news.>"]}}'))
    assert "old credentials" not in declared.diff(), "it may do more"
    declared.apply()
    declared.replace(('["orders.>", "news.>"]}}', '["orders.new"]}}'))
    assert (
        "old credentials may do as before until they are revoked (--revoke-old), or for ever"
        in declared.diff()
    )
    declared.apply("--force --revoke-old")
    sales = declared.read().find_account("SALES")
    revoked = sales.nats["revocations"][clerk.public]
    assert clerk.issued <= revoked < sales.users[0].issued
    assert check(declared.read()) == []


@pytest.mark.slow
def test_two_applies_wait_for_each_other(declared: Declared, tmp_path: Path) -> None:
    declared.apply()
    lines = []
    for name in ("EAST", "WEST"):
        file = tmp_path / f"{name}.yaml"
        users = ", ".join(f"{{name: u{number}}}" for number in range(20))
        file.write_text(
            "operators:\n- name: ACME\n  accounts:\n"
            f"  - {{name: {name}, users: [{users}]}}\n"
            f"  - {{name: SALES, users: [{{name: {name.lower()}}}]}}\n"
        )
        lines.append([sys.executable, "-m", "jsctl", "apply", "-f", str(file), "--force"])
    environ = {**os.environ, **declared.cli.environ}
    processes = [subprocess.Popen(line, env=environ, stderr=subprocess.PIPE, text=True) for line in lines]
    errors = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], errors
    environment = declared.read()
    assert {"east", "west"} <= {user.name for user in environment.find_account("SALES").users}
    assert [len(environment.find_account(name).users) for name in ("EAST", "WEST")] == [20, 20]
    assert check(environment) == []


def test_what_changes_after_the_plan(declared: Declared) -> None:
    """Nothing that nobody has seen is done."""
    declared.apply()
    declared.replace(("conn: 100", "conn: 50"))

    class ChangeByHand:
        """The answer yes, after a while."""

        def __bool__(self) -> bool:
            declared.cli("auth account edit SALES --connections 70 --operator ACME", status=0)
            return True

    refused = declared.cli(f"apply -f {declared.file}", tty=True, answers=[ChangeByHand()], status=1)
    assert "account SALES has changed since the plan was made" in refused.err
    assert declared.read().find_account("SALES").limits["conn"] == 70


NOT_EXPORTED = "import 'news.>' of SALES is not exported by that account"


def test_an_import_that_nobody_exports_stands_in_the_plan(declared: Declared) -> None:
    """Before the store is written, whether the accounts are there yet or not."""
    added = '          - {account: SALES, subject: "news.>", type: stream}\n'
    for _ in range(2):
        declared.write(FILE.replace("        imports:\n", f"        imports:\n{added}"))
        for verb, status in (("diff", 2), ("apply --dry-run", 0)):
            shown = declared.cli(f"{verb} -f {declared.file}", status=status).err
            assert f"environment.yaml:15: account SHOP_north: {NOT_EXPORTED}" in shown, verb
            assert f"account SHOP_south: {NOT_EXPORTED}" in shown
            [*warnings] = declared.cli(f"{verb} -f {declared.file} --json", status=status).json["warnings"]
            assert [NOT_EXPORTED in warning for warning in warnings] == [True, True]
        shown = declared.cli(f"apply -f {declared.file}", tty=True, answers=[False, False]).err
        assert NOT_EXPORTED in " ".join(shown.partition("Applying")[0].split())
        declared.write(FILE)
        declared.apply("--prune --force")
        assert "warning" not in declared.cli(f"diff -f {declared.file}", status=0).err


def test_an_export_that_goes_is_named_where_it_is_imported(declared: Declared) -> None:
    declared.apply()
    declared.write(
        """
label: prod
operators:
  - name: ACME
    accounts:
      - name: SALES
        exports: []
"""
    )
    shown = declared.cli(f"diff -f {declared.file}", status=2).err
    assert "account SHOP_north: import 'orders.>' of SALES is not exported by that account" in shown
    shop = "label: shop\noperators:\n- name: ACME\n  accounts:\n  - name: SHOP_north\n    tags: [x]\n"
    declared.write(shop)
    declared.apply("--force --take-ownership")
    declared.write("label: prod\noperators:\n- name: ACME\n")
    shown = declared.cli(f"diff -f {declared.file} --prune", status=2).err
    assert "account SHOP_north: import 'orders.>' of SALES is from an account that is removed" in shown
    assert "SHOP_south: import" not in shown, "it is removed, too"
