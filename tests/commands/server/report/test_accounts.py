"""`server report accounts`."""

from tests.support.run import Cli


def test_connections_are_added_up_by_account(system: Cli) -> None:
    rows = system("server report connections --json", status=0).json
    accounts = {row["account"]: row for row in system("server report accounts --json", status=0).json}
    assert accounts["ACC"]["connections"] == sum(row["account"] == "ACC" for row in rows)
    assert {"ACC", "SYS"} <= set(accounts)
    account = accounts["ACC"]
    assert account["subscriptions"] == sum(row["subscriptions"] for row in account["connection_info"])
    assert len(account["connection_info"]) == account["connections"]
    assert {one["name"] for one in account["server"]} == {
        row["server"]["name"] for row in account["connection_info"]
    }
    leaf = system("server report connections --json --filter \"kind == 'Leafnode'\"", status=0).json
    assert leaf
    assert all(row["kind"] == "Leafnode" for row in leaf)
    assert len(system("server report connections --top 1 --json", status=0).json) == 1


def test_one_account_is_an_object(system: Cli) -> None:
    """As in the nats tool."""
    assert system("server report accounts SYS --json", status=0).json["account"] == "SYS"
    assert "no connection is of account NOPE" in system("server report accounts NOPE", status=3).err
