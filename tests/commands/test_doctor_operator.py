"""`doctor` on the servers of an operator: the commands that mend are run as they stand."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.operator_site import Site
from tests.support.waiting import wait_for

CREATE = "$JS.API.CONSUMER.CREATE.>"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    for line in (
        "account add ACC --jetstream",
        "account add IMP --jetstream",
        "user add acc ACC --save-context acc",
        "user add imp IMP --save-context imp",
        "user add admin SYSTEM --save-context system",
        f"account exports add create {CREATE} ACC --service --response-type stream",
        "account exports add deliver deliver.imp.> ACC",
        f"account imports add create {CREATE} IMP --source ACC --service --local acc.API.CONSUMER.CREATE.>",
        "account push --all",
    ):
        site.cli(f"auth {line}", status=0)
    yield site
    site.server.stop()


def findings(site: Site) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = site.cli("doctor --all-contexts --json").json["findings"]
    return found


def fix(site: Site, finding: dict[str, Any]) -> None:
    """Run what a finding says."""
    for line in finding["fix"].split(" && "):
        site.cli(shlex.split(line[line.index("jsctl ") :])[1:], status=0)


@pytest.mark.slow
def test_what_a_mirror_across_accounts_lacks(site: Site) -> None:
    def run(context: str, line: str) -> None:
        site.cli(f"{line} --context {context}", status=0)

    wait_for(lambda: site.cli("stream ls --context imp").status == 0, "the account has no JetStream")
    run("acc", "stream add ORDERS --subjects orders --defaults")
    run("acc", "pub orders hello --count 5")
    run("imp", "stream add COPY --mirror ORDERS,api=acc.API,deliver=deliver.imp.copy --defaults")
    seen = []
    for _ in range(2):
        found = findings(site)
        seen.append([one["code"] for one in found])
        for finding in found:
            fix(site, finding)
    assert sorted(code for some in seen for code in some) == ["DELIVERY_NOT_IMPORTED", "FLOW_CONTROL_MISSING"]
    wait_for(lambda: findings(site) == [], "the commands do not mend it")


@pytest.mark.slow
def test_an_import_of_what_is_no_longer_exported(site: Site) -> None:
    wait_for(lambda: site.cli("stream ls --context imp").status == 0, "the account has no JetStream")
    site.cli(f"auth account exports rm {CREATE} ACC --force", status=0)
    site.cli("auth account push ACC --force", status=0)
    wait_for(lambda: [one["code"] for one in findings(site)] == ["IMPORT_INVALID"], "nothing is wrong")
    fix(site, findings(site)[0])
    wait_for(lambda: findings(site) == [], "the commands do not mend it")


@pytest.mark.slow
def test_tokens_that_expire_soon(site: Site) -> None:
    """A user's, which every report sees, and an account's, which the system account sees."""
    site.cli("auth user add brief ACC --expiry 2d --save-context brief", status=0)
    [soon] = [each for each in findings(site) if each["code"] == "LOGIN_EXPIRES"]
    assert soon["about"] == "context brief" and "expires in 1d23h" in soon["seen"]
    assert soon["fix"].endswith(": jsctl context edit brief")
    (report,) = site.cli("report --context brief --json", status=0).json["reports"]
    assert report["trouble"] == ["the login expires in 1d23h59m59s"] or "1d23h" in report["trouble"][0]
    assert report["login"]["codes"] == ["LOGIN_EXPIRES"]
    failed = site.cli(["report", "--context", "brief", "--fail-on", "'LOGIN_EXPIRES' in codes"], status=1)
    assert failed.err.endswith(": login\n")
    metrics = site.cli("exporter --context brief --textfile - --count 1", status=0).out
    assert 'code="LOGIN_EXPIRES"' in metrics
    site.cli("context rm brief --force", status=0)
    site.cli("auth account edit IMP --expiry 3d", status=0)
    site.cli("auth account push IMP", status=0)
    wait_for(
        lambda: [one["about"] for one in findings(site) if one["code"] == "LOGIN_EXPIRES"] == ["account IMP"],
        "the account's end is not seen",
    )
    [ending] = findings(site)
    fix(site, ending)
    wait_for(lambda: findings(site) == [], "the account still ends soon")
