"""`auth diagram`."""

from tests.support.auth_store import BILL, Store
from tests.support.run import Cli


def test_diagrams(auth_cli: Cli, store: Store) -> None:
    tree = auth_cli("auth diagram", status=0).out
    assert "│   ├── exports stream orders.>\n│   │   └── to SHOP\n" in tree
    assert "imports service bill.*.req of SALES as pay.*" in tree
    dot = auth_cli("auth diagram --format dot", status=0).out
    assert dot.startswith('digraph "OP" {') and dot.rstrip().endswith("}")
    mermaid = auth_cli("auth diagram --format mermaid", status=0).out
    assert mermaid.startswith("flowchart LR\n") and '"stream orders.#62;"' in mermaid
    document = auth_cli("auth diagram --json", status=0).json
    assert [one["problem"] for one in document["imports"]] == ["", ""]
    store.account("SALES", exports=[BILL])
    assert "which does not work: it is not exported by that account" in auth_cli("auth diagram", status=0).out
