"""A file with two operators, each with a server of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.operator_site import Site

FILE = """
label: prod
operators:
  - {name: ACME, accounts: [{name: ONE}, {name: OLD}]}
  - {name: BETA, accounts: [{name: TWO}, {name: PAST}]}
"""


@pytest.fixture
def sites(tmp_path: Path) -> Iterator[tuple[Site, Site]]:
    first = Site(tmp_path / "acme")
    second = Site(tmp_path / "beta", "BETA", first.cli)
    yield first, second
    for site in (first, second):
        site.server.stop()


@pytest.mark.slow
def test_each_server_is_asked_to_remove_its_own_accounts(sites: tuple[Site, Site], tmp_path: Path) -> None:
    cli, file = sites[0].cli, tmp_path / "operators.yaml"
    file.write_text(FILE)
    cli(f"apply -f {file} --push --force", status=0)
    gone = {
        site.store.operator: site.store.read_account(name).public
        for site, name in zip(sites, ("OLD", "PAST"), strict=True)
    }
    file.write_text(FILE.replace(", {name: OLD}", "").replace(", {name: PAST}", ""))
    document = cli(f"apply -f {file} --push --prune --force --json", status=0).json
    assert [one["account"] for one in document["auth"]["removed"]] == ["OLD", "PAST"]
    for operator, public in gone.items():
        assert public not in cli(f"auth account push --all --diff --operator {operator}", status=0).out
    assert "Nothing" in cli(f"diff -f {file} --push --prune", status=0).out


@pytest.mark.slow
def test_streams_in_an_account_of_several_operators_are_refused(
    sites: tuple[Site, Site], tmp_path: Path
) -> None:
    """Before the first deed: also while but one of the accounts exists, and servers lack the other."""
    cli, file = sites[0].cli, tmp_path / "operators.yaml"
    account = "{name: ONE, limits: {disk_storage: 1GB}}"
    head = "{account: ONE, streams: [{name: S, subjects: s}], operators: ["
    acme = f"{head}{{name: ACME, accounts: [{account}]}}"
    file.write_text(f"{acme}]}}")
    cli(f"apply -f {file} --force", status=0)
    file.write_text(f"{acme}, {{name: BETA, accounts: [{account}]}}]}}")
    for line in ("diff", "apply --force", "apply --dry-run"):
        assert "operators ACME, BETA have an account ONE" in cli(f"{line} -f {file}", status=64).err
    assert sites[1].store.list_account_names() == ["SYSTEM"]
