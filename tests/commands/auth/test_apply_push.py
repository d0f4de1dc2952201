"""`apply` of accounts with their streams: the store, then the servers, then the streams, in one run."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest

from tests.support.killing import REQUESTS, kill_points
from tests.support.operator_site import Site

FILE = """
label: prod
account: SALES
operators:
  - name: ACME
    accounts:
      - name: SALES
        limits: {disk_storage: 10GB}
        default_permissions: {pub: {deny: ["$JS.>"]}}
        exports: [{subject: "orders.>", type: stream}]
        users: [{name: clerk, pub: {allow: ["orders.>"]}}]
      - name: SHOP
        limits: {disk_storage: 1GB}
        imports: [{account: SALES, subject: "orders.>", type: stream}]
        users: [{name: till}]
streams:
  - {name: ORDERS, subjects: ["orders.>"], consumers: [{name: BILL, ack_policy: explicit}]}
  - {name: COPY, account: SHOP, subjects: ["orders.>"]}
"""


class Declared(Site):
    """A file of that operator."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.file = folder / "environment.yaml"
        self.file.write_text(FILE)

    def replace(self, before: str, after: str) -> None:
        text = self.file.read_text()
        assert before in text
        self.file.write_text(text.replace(before, after))

    def run(self, verb: str, flags: str = "", status: int = 0) -> str:
        outcome = self.cli(f"{verb} -f {self.file} {flags}", status=status)
        return outcome.out + outcome.err


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Declared]:
    site = Declared(tmp_path)
    yield site
    site.server.stop()


def test_accounts_and_their_streams_in_one_run(site: Declared) -> None:
    shown = site.run("diff", status=2)
    assert "To Send to Servers\nState  Account\nnew    SALES\nnew    SHOP\n" in shown
    assert "+ stream COPY  [account SHOP]" in shown
    document = site.cli(f"apply -f {site.file} --force --json", status=0).json
    assert document["auth"]["pushed"] == [
        {"account": "SALES", "server": "n1"},
        {"account": "SHOP", "server": "n1"},
    ]
    assert [one["account"] for one in document["applied"]] == ["SALES", "SALES", "SHOP"]
    site.cli(f"auth user credential {site.file.parent}/till.creds till SHOP --operator ACME", status=0)
    login = f"--server {site.server.url} --creds {site.file.parent}/till.creds"
    assert site.cli(f"stream ls --names {login}", status=0).out == "COPY\n"
    assert "Nothing to change: 2 streams and 1 consumer are as declared" in site.run("diff")

    site.replace("10GB", "20GB")
    assert "changed  SALES" in site.run("diff", status=2)
    asked = site.cli(f"apply -f {site.file}", tty=True, answers=[True], status=0).asked
    assert asked == ["Really change 1 account and send SALES to the servers"]
    site.run("diff")

    # What is only in the store differs from the servers, and is sent.
    site.cli("auth account edit SHOP --connections 9 --operator ACME", status=0)
    assert "limits.conn: -1 -> 9" in site.run("diff", status=2)
    site.run("apply", "--force")
    site.run("diff")


def test_an_account_that_is_no_longer_declared_is_removed_from_the_servers(site: Declared) -> None:
    site.run("apply", "--force")
    shop = site.store.read_account("SHOP").public
    site.file.write_text(FILE[: FILE.index("      - name: SHOP")] + FILE[FILE.index("streams:") :])
    site.replace("  - {name: COPY, account: SHOP", "#")
    assert "removed  SHOP" in site.run("diff", "--prune", status=2)
    site.run("apply", "--prune --force")
    assert "SHOP" not in site.store.list_account_names()
    assert shop not in site.cli("auth account push --all --diff --operator ACME", status=0).out
    site.run("diff", "--prune")


def test_a_pruned_account_does_not_live_on(site: Declared) -> None:
    """What was pruned without the servers is named as owed by each later run, until they do not have it."""
    site.run("apply", "--force")
    creds = site.file.parent / "till.creds"
    site.cli(f"auth user credential {creds} till SHOP --operator ACME", status=0)
    publish = f"pub --server {site.server.url} --creds {creds} shop.x y"
    shop = site.store.read_account("SHOP").public
    site.cli(publish, status=0)
    site.file.write_text(FILE[: FILE.index("      - name: SHOP")] + FILE[FILE.index("streams:") :])
    site.replace("  - {name: COPY, account: SHOP", "#")
    assert "- account SHOP (1 user, 1 stream with 0 messages): till" in site.run("diff", "--prune", status=2)
    site.run("apply", "--prune --no-push --force")
    assert "removed  SHOP     holds 1 stream with 0 messages" in site.run("diff", "--prune", status=2)
    for verb, flags in (("diff", "--no-push"), ("apply", "--no-push --force"), ("diff", "--no-push --prune")):
        assert "Servers may still have account SHOP" in site.run(verb, flags), (verb, flags)
    assert "Servers may still have account SHOP" in site.run("apply", "--force"), "only --prune removes"
    site.cli(publish, status=0)
    assert "removed  SHOP" in site.run("diff", "--prune", status=2)
    site.run("apply", "--prune --force")
    site.cli(publish, status=5)
    for verb in ("diff", "apply --force"):
        assert "Servers may still" not in site.run(verb, "--prune")
    assert shop not in site.cli("auth account push --all --diff --operator ACME", status=0).out


NO_SHOP = (
    FILE[: FILE.index("      - name: SHOP")] + FILE[FILE.index("streams:") : FILE.index("  - {name: COPY")]
)


def fill_shop(site: Declared, count: int) -> None:
    creds = site.file.parent / "shop.creds"
    if not creds.exists():
        site.cli(f"auth user credential {creds} till SHOP --operator ACME", status=0)
    site.cli(
        f"pub --server {site.server.url} --creds {creds} orders.x y --count {count} --jetstream", status=0
    )


@pytest.mark.parametrize("push", ["", "--no-push"])
def test_an_account_with_messages_is_pruned_only_with_permission(site: Declared, push: str) -> None:
    site.run("apply", "--force")
    fill_shop(site, 3)
    site.file.write_text(NO_SHOP)
    assert "- account SHOP (1 user, 1 stream with 3 messages): till" in site.run(
        "diff", f"--prune {push}", status=2
    )
    document = site.cli(f"diff -f {site.file} --prune {push} --json", status=2).json
    [removal] = [change for change in document["auth"]["changes"] if change["action"] == "remove"]
    assert (removal["streams"], removal["messages"], removal["deletes_messages"]) == (1, 3, 3)
    for flags, permits in (("", "--force --allow-data-loss"), ("--force", "--allow-data-loss")):
        refused = site.run("apply", f"--prune {push} {flags}", status=64)
        assert "this deletes 3 messages" in refused and f"of account SHOP; {permits} permits it" in refused
    asked = site.cli(f"apply -f {site.file} --prune {push}", tty=True, answers=[False], status=0).asked
    assert "remove account SHOP (1 user, 1 stream with 3 messages)" in asked[0]
    assert "SHOP" in site.store.list_account_names()
    site.run("apply", f"--prune {push} --force --allow-data-loss")
    assert "SHOP" not in site.store.list_account_names()
    if push:  # the servers still have it, with its messages
        shown = site.run("diff", status=0)
        assert "Servers may still have account SHOP" in shown
        assert "The servers have the accounts as declared" not in shown
        refused = site.run("apply", "--prune --force", status=64)
        assert "this deletes 3 messages" in refused and "of account SHOP" in refused
        shown = site.run("apply", "--prune --force --allow-data-loss")
        assert "SHOP" in shown.partition("Removed from Servers")[2]
        assert "The servers have the accounts as declared" in site.run("diff", status=0)


def test_what_an_account_holds_is_unknown_without_its_servers(site: Declared) -> None:
    site.run("apply", "--force")
    site.file.write_text(
        NO_SHOP[: NO_SHOP.index("streams:")].replace("account: SALES\noperators", "operators")
    )
    site.server.stop()
    shown = site.run("diff", "--prune", status=2)
    assert "- account SHOP (1 user, an unknown number of streams): till" in shown
    assert "warning: what account SHOP holds is unknown: cannot connect" in shown
    document = site.cli(f"diff -f {site.file} --prune --json", status=2).json
    [removal] = [change for change in document["auth"]["changes"] if change["action"] == "remove"]
    assert (removal["streams"], removal["messages"], removal["deletes_precision"]) == (None, None, "unknown")
    refused = site.run("apply", "--prune --force", status=64)
    assert (
        "this deletes an unknown number of messages of account SHOP; --allow-data-loss permits it" in refused
    )
    site.run("apply", "--prune --force --allow-data-loss")


def test_an_account_that_was_filled_after_the_plan_stays(site: Declared) -> None:
    site.run("apply", "--force")
    fill_shop(site, 3)
    site.file.write_text(NO_SHOP)

    class FillMeanwhile:
        """The answer yes, after a while."""

        def __bool__(self) -> bool:
            fill_shop(site, 2)
            return True

    refused = site.cli(f"apply -f {site.file} --prune", tty=True, answers=[FillMeanwhile()], status=1).err
    assert "nothing was changed: account SHOP now holds 5 messages" in refused
    plan = site.file.parent / "plan.json"
    site.run("diff", f"--prune --out {plan}", status=2)
    fill_shop(site, 2)
    for flags in ("--force", "--force --allow-data-loss"):
        assert "SHOP now loses 7 messages" in site.cli(f"apply {plan} {flags}", status=1).err
    assert "SHOP" in site.store.list_account_names()
    site.run("diff", f"--prune --out {plan}", status=2)
    site.cli(f"apply {plan} --force --allow-data-loss", status=0)
    assert "SHOP" not in site.store.list_account_names()


def test_what_is_wrong_with_streams_is_found_before_the_store_is_written(site: Declared) -> None:
    site.run("apply", "--force")
    before = site.store.read_account("SALES").token
    site.replace("10GB", "20GB")
    site.replace(
        '{name: COPY, account: SHOP, subjects: ["orders.>"]', "{name: COPY, account: SHOP, storage: memory"
    )
    for verb in ("diff", "apply --dry-run --exit-code"):
        assert site.cli(f"{verb} -f {site.file} --json", status=1).json["auth"]["changes"], verb
    assert "1 stream cannot be changed as declared" in site.run("apply", "--force", status=1)
    assert site.store.read_account("SALES").token == before
    fill_shop(site, 3)
    site.replace("{name: COPY, account: SHOP, storage: memory", "{name: COPY, account: SHOP, max_msgs: 1")
    assert "this deletes 2 messages" in site.run("apply", "--force", status=64)
    assert site.store.read_account("SALES").token == before
    site.run("apply", "--force --allow-data-loss")
    assert site.store.read_account("SALES").token != before


def test_accounts_without_streams_are_sent_when_asked(site: Declared) -> None:
    site.file.write_text(FILE[: FILE.index("streams:")].replace("account: SALES\noperators", "operators"))
    assert "jsctl apply --push sends the accounts to the servers" in site.run("apply", "--force")
    assert "new    SALES" in site.run("diff", "--push", status=2)
    assert "SHOP     n1" in site.run("apply", "--push --force")
    site.run("diff", "--push")
    site.cli("auth account edit SHOP --connections 9 --operator ACME", status=0)
    site.server.stop()
    assert "cannot connect" in site.run("apply", "--push --force", status=4)


@pytest.mark.slow
def test_what_is_wrong(site: Declared) -> None:
    site.file.write_text("account: NONE\nstreams: [{name: A, subjects: [a]}]\n")
    assert "there is no account 'NONE'; declare it below operators" in site.run("diff", status=3)
    site.file.write_text(FILE.replace("name: ACME", "name: OTHER"))
    assert "+ stream ORDERS  [account SALES]" in site.run("diff", status=2)
    assert "servers do not know operator OTHER yet" in site.run("apply", "--force", 1)
    site.cli("auth operator select ACME", status=0)
    site.file.write_text(FILE)
    assert "servers refuse account S" in site.run("apply", "--no-push --force", status=5)
    assert "to create, 0 to change" in site.run("diff", "--no-push", status=2)
    site.run("apply", "--force")
    site.run("diff")


def test_the_steps_for_a_new_operator_are_shown(site: Declared) -> None:
    """What the first run says is done as it stands, and the second does the rest."""
    site.server.stop()
    url, store = f"nats://127.0.0.1:{site.server.port}", site.file.parent / "new store"
    site.file.write_text(FILE.replace("name: ACME", f'name: NEW\n    operator_service_urls: ["{url}"]'))
    outcome = site.cli(f"apply -f {site.file} --store '{store}' --json", status=1)
    assert len(outcome.json["auth"]["applied"]) == 5
    said = outcome.err.splitlines()
    assert said[0].startswith("servers do not know operator NEW yet; accounts were not sent")
    config, include, again = (line.strip() for line in said[1:])
    assert include.startswith("include ./NEW.conf in the configuration of each server")
    # The server's configuration stands where the command writes the file.
    place = site.server.config.parent
    site.cli(config.removeprefix("jsctl ").replace("NEW.conf", str(place / "NEW.conf")), status=0)
    written = (place / "NEW.conf").read_text()
    (place / "NEW.conf").write_text(written.replace("./jwt", str(place / "new jwt")))
    own = site.server.config.read_text().splitlines()[:3]
    site.server.config.write_text("\n".join([*own, "include ./NEW.conf", ""]))
    site.server.start()
    shown = site.cli(f"{again.removeprefix('jsctl ')} --force", status=0).out
    assert "SALES    n1" in shown
    assert "2 streams and 1 consumer done" in shown
    assert "Nothing to change" in site.cli(f"diff -f {site.file} --store '{store}'", status=0).out


@pytest.mark.long
def test_killed_between_two_writes(site: Declared, tmp_path: Path) -> None:
    """Writes of files, and what is sent to servers."""
    names = set()
    line = f"apply -f {site.file} --force"
    for _ in kill_points(lambda: site.cli(line, status=0), tmp_path, REQUESTS):
        for account in site.store.read_accounts():
            names.add(account.name)
            assert site.store.has_seed(account.public)
    assert {"SALES", "SHOP"} <= names
    site.run("apply", "--force")
    assert "Nothing to change" in site.run("diff")


@pytest.mark.slow
def test_an_account_that_servers_received_just_now_is_waited_for(site: Declared) -> None:
    """An earlier run was killed after it had sent the account; JetStream knows it a moment later."""
    site.run("apply", "--force")
    site.cli("auth account edit SHOP --js-disk 0 --js-memory 0 --operator ACME", status=0)
    site.cli("auth account push SHOP --operator ACME", status=0)
    site.cli("auth account edit SHOP --js-disk 1GB --operator ACME", status=0)
    line = f"sleep 1; exec {sys.executable} -m jsctl auth account push SHOP --operator ACME"
    with subprocess.Popen(["sh", "-c", line], env={**os.environ, **site.cli.environ}):
        assert "Nothing to change" in site.run("diff", "--no-push")


@pytest.mark.slow
def test_a_busy_server_that_looks_for_an_account(site: Declared) -> None:
    """It looks for 1.9 s, and ends the login after 2 s without a word."""
    process = site.server.process
    assert process
    for run in (("apply", "--no-push --force", 5), ("diff", "--no-push", 2)):
        pause = Timer(1.8, process.send_signal, [signal.SIGSTOP])
        resume = Timer(2.5, process.send_signal, [signal.SIGCONT])
        pause.start()
        resume.start()
        assert "servers refuse account S" in site.run(*run)
        pause.join()
        resume.join()


def test_declared_limits_of_0_do_not_switch_off_what_is_in_use(site: Declared) -> None:
    site.run("apply", "--force")
    site.cli(f"auth user credential {site.file.parent}/till.creds till SHOP --operator ACME", status=0)
    login = f"--server {site.server.url} --creds {site.file.parent}/till.creds"
    site.cli(f"publish orders.new x --jetstream {login}", status=0)
    site.replace("limits: {disk_storage: 1GB}", "limits: {disk_storage: 0, mem_storage: 0}")
    site.replace('  - {name: COPY, account: SHOP, subjects: ["orders.>"]}\n', "")
    assert "JetStream is switched off for account SHOP, with 1 stream with 1 message" in site.run(
        "diff", status=2
    )
    refused = site.run("apply", "--force", status=64)
    assert (
        "this cuts off 1 message (" in refused and "of account SHOP; --allow-data-loss permits it" in refused
    )
    assert site.cli(f"stream ls --names {login}", status=0).out == "COPY\n"
    site.run("apply", "--force --allow-data-loss")
    site.cli(f"stream ls {login}", status=4)


def test_limits_of_a_new_account_are_known_before_it_is_sent(site: Declared) -> None:
    site.replace("limits: {disk_storage: 1GB}", "limits: {disk_storage: 1GB, streams: 1}")
    site.replace("streams:\n", "streams:\n  - {name: MORE, account: SHOP, subjects: [more]}\n")
    assert "the account has at most 1 streams" in site.run("diff", status=1)
    refused = site.run("apply", "--force", status=1)
    assert "nothing was changed: 1 stream cannot be changed" in refused
    assert "new    SHOP" in site.run("diff", status=1), "it was not sent"
    site.replace("streams: 1", "streams: 2, disk_max_stream_bytes: 100")
    site.replace("subjects: [more]", "subjects: [more], max_bytes: 200")
    assert "max stream bytes" in site.run("diff", status=1)
    site.replace("max_bytes: 200", "max_bytes: 50")
    site.run("apply", "--force")
    # A limit is raised, and used, in one run.
    site.replace("streams: 2,", "streams: 3,")
    site.replace("streams:\n", "streams:\n  - {name: THIRD, account: SHOP, subjects: [third]}\n")
    site.run("apply", "--force")


def test_what_was_sent_is_said_when_streams_are_refused(site: Declared, tmp_path: Path) -> None:
    """The streams of an account that servers have lost are seen when they have it again."""
    site.run("apply", "--force")
    site.server.stop()
    for path in (tmp_path / "jwt").glob("*.jwt"):
        path.unlink()
    site.server.start()
    site.replace(
        'subjects: ["orders.>"], consumers', 'subjects: ["orders.>"], retention: workqueue, consumers'
    )
    assert "2 to create" not in site.run("diff", status=2)
    refused = site.run("apply", "--force", status=1)
    assert "accounts were sent to the servers: SALES, SHOP, and no stream was changed: 1 stream" in refused
    assert "stream ORDERS: retention: stream configuration update can not change retention policy" in refused
    assert "nothing was changed" not in refused
