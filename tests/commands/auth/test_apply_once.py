"""`apply` of accounts with their streams plans once, and asks once, before the first change."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands.auth.test_apply_push import NO_SHOP, Declared, fill_shop


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Declared]:
    site = Declared(tmp_path)
    site.run("apply", "--force")
    site.replace("10GB", "20GB")
    site.replace(
        '{name: COPY, account: SHOP, subjects: ["orders.>"]', "{name: COPY, account: SHOP, max_msgs: 9"
    )
    yield site
    site.server.stop()


def test_one_question_for_accounts_and_streams(site: Declared) -> None:
    question = "Really change 1 account and 1 stream and send SALES to the servers"
    before = site.store.read_account("SALES").token
    no = site.cli(f"apply -f {site.file}", tty=True, answers=[False], status=0)
    assert no.asked == [question]
    assert "~ account SALES" in no.err and "~ stream COPY" in no.err
    assert "nothing was changed" in no.err
    assert site.store.read_account("SALES").token == before
    yes = site.cli(f"apply -f {site.file}", tty=True, answers=[True], status=0)
    assert yes.asked == [question]
    assert "Nothing to change: 2 streams and 1 consumer are as declared" in site.run("diff")


def test_a_stream_that_has_changed_since_the_question_stays(site: Declared) -> None:
    class ChangeByHand:
        """The answer yes, after a while."""

        def __bool__(self) -> bool:
            creds = site.file.parent / "till.creds"
            site.cli(f"auth user credential {creds} till SHOP --operator ACME", status=0)
            login = f"--server {site.server.url} --creds {creds}"
            site.cli(f"stream edit COPY --max-msgs 5 --force {login}", status=0)
            return True

    outcome = site.cli(f"apply -f {site.file}", tty=True, answers=[ChangeByHand()], status=1)
    assert "it was changed since the plan was made: max_msgs: 5 -> 9" in " ".join(outcome.err.split())
    assert "~ stream COPY" in site.run("diff", status=2)


def test_a_question_names_what_only_servers_still_have(site: Declared) -> None:
    fill_shop(site, 3)
    site.file.write_text(NO_SHOP)
    site.run("apply", "--prune --no-push --force --allow-data-loss")
    asked = site.cli(f"apply -f {site.file} --prune", tty=True, answers=[False], status=0).asked
    assert asked[0].startswith(
        "Really remove account SHOP from the servers, which holds 1 stream with 3 messages"
    )


def test_streams_of_an_account_that_is_pruned_go_with_it(site: Declared) -> None:
    """Also where the label was applied in a context, which later runs look at."""
    site.cli(f"context add hub --server {site.server.url}", status=0)
    site.file.write_text("context: hub\n" + site.file.read_text().lstrip())
    site.run("apply", "--force")
    gone = site.file.read_text().partition("      - name: SHOP")
    site.file.write_text(gone[0] + gone[2][gone[2].index("streams:") :])
    refused = site.run("apply", "--prune --force", status=64)
    assert "stream COPY is in account SHOP, which --prune removes" in refused
    assert "SHOP" in site.store.list_account_names()
    site.file.write_text("context: hub\n" + NO_SHOP.lstrip())
    site.replace("account: SALES\noperators", "account: SHOP\noperators")
    site.replace("{name: ORDERS,", "{name: ORDERS, account: SALES,")
    site.run("apply", "--prune --force")
    site.replace("account: SHOP\noperators", "account: SALES\noperators")
    assert "SHOP" not in site.store.list_account_names()
    assert "Nothing to change" in site.run("diff", "--prune")
