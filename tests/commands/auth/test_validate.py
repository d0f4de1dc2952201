"""`auth validate`."""

from tests.support.auth_store import BILL, Store
from tests.support.run import Cli


def test_a_store_in_order(auth_cli: Cli, store: Store) -> None:
    result = auth_cli("auth validate", status=0)
    assert result.out == "Nothing is wrong with operator OP\n"
    assert auth_cli("auth validate SHOP --json", status=0).json == {
        "errors": 0,
        "warnings": 0,
        "findings": [],
    }


def test_each_finding_has_the_line_that_fixes_it(auth_cli: Cli, store: Store) -> None:
    store.account("SALES", exports=[BILL])
    result = auth_cli("auth validate", status=1)
    assert (
        "error: account SHOP, imports[0]: import 'orders.>' of SALES is not exported by that account"
        in result.out
    )
    assert "    jsctl auth account exports add orders 'orders.>' SALES --operator OP" in result.out
    assert result.out.endswith("1 error\n")
    [finding] = auth_cli("auth validate --json", status=1).json["findings"]
    assert (finding["code"], finding["account"], finding["path"]) == (
        "import-not-exported",
        "SHOP",
        "imports[0]",
    )
    assert auth_cli("auth validate SALES", status=0).out.startswith("Nothing is wrong with account SALES")
    auth_cli("auth validate NOBODY", status=3)
    assert (
        auth_cli("auth validate --as csv", status=1)
        .out.splitlines()[1]
        .startswith("error,import-not-exported")
    )


def test_warnings_alone(auth_cli: Cli, store: Store) -> None:
    store.account("SHOP", revocations={"*": 1 << 40})
    assert auth_cli("auth validate", status=0).out.endswith("1 warning\n")
