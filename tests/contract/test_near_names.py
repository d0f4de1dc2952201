"""Names that do not exist, where one that is like them is proposed; names that are missing: the list."""

from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import AccountServers


def with_orders(cli: Cli, url: str) -> Cli:
    """Makes the stream ORDERS, its consumer DISPATCH, and the context hub."""
    js.stream(url, "ORDERS", "ORDERS.>")
    cli("consumer add ORDERS DISPATCH --pull --defaults", status=0)
    cli(f"context add hub -s {url}", status=0)
    return cli


@pytest.fixture(scope="module")
def orders(account_servers: AccountServers, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """For tests that change nothing."""
    url = account_servers.new_account().url
    return with_orders(Cli(tmp_path_factory.mktemp("orders"), url), url)


@pytest.fixture
def own_orders(cli: Cli, url: str) -> Cli:
    """For a test that changes something."""
    return with_orders(cli, url)


@pytest.mark.parametrize(
    ("line", "near"),
    [
        ("stream info orders", "ORDERS"),
        ("stream rm ODERS -f", "ORDERS"),
        ("stream purge ORDER -f", "ORDERS"),
        ("stream edit ORDRES --max-msgs 5", "ORDERS"),
        ("stream view ORDERZ", "ORDERS"),
        ("consumer ls ORDES", "ORDERS"),
        ("consumer info ORDES DISPATCH", "ORDERS"),
        ("consumer info ORDERS DISPTACH", "DISPATCH"),
        ("consumer rm ORDERS dispatch -f", "DISPATCH"),
        ("consumer why ORDERS DISPATCHER", "DISPATCH"),
        ("context select hbu", "hub"),
        ("context rm hubb", "hub"),
        ("context edit HUB", "hub"),
        ("stream ls --context hab", "hub"),
    ],
)
def test_a_near_name_is_proposed(orders: Cli, line: str, near: str) -> None:
    failed = orders(line, status=3)
    assert f"; did you mean {near}? jsctl " in failed.err and failed.err.count("\n") == 1


def test_nothing_is_proposed_for_what_is_not_like_it(orders: Cli) -> None:
    assert "did you mean" not in orders("stream info PAYMENTS", status=3).err


@pytest.mark.parametrize(
    ("line", "answers", "questions"),
    [
        ("consumer next", ["ORDERS", "DISPATCH"], ["Select a Stream", "Select a Consumer"]),
        (
            "consumer copy",
            ["ORDERS", "DISPATCH", "COPY"],
            ["Select a Stream", "Select a Consumer", "Consumer name"],
        ),
        ("context copy", ["hub", "other"], ["Select a Context", "Name of the copy"]),
        ("context rm", ["hub", True], ["Select a Context", "Really delete context hub"]),
        ("context edit", ["hub"], ["Select a Context"]),
    ],
)
def test_the_list_is_offered(
    own_orders: Cli, url: str, line: str, answers: list[object], questions: list[str]
) -> None:
    js.publish(url, "ORDERS.a", b"one")
    done = own_orders(line, answers=answers, environ={"EDITOR": "true"}, status=0)
    assert done.asked == questions
    assert "name is missing" in own_orders(line, status=64).err


TYPO = "unknown key 'max_mesgs'"


@pytest.mark.parametrize(
    "line",
    [
        "stream add N --config {file} --validate",
        "stream add N --config {file} --output -",
        "stream add N --config {file}",
        "stream edit ORDERS --config {file}",
        "stream edit ORDERS --config {file} --dry-run",
        "stream edit ORDERS --config {file} --replace --force",
        "consumer add ORDERS N --config {file} --validate",
        "consumer add ORDERS N --config {file}",
        "consumer edit ORDERS DISPATCH --config {file} --dry-run",
        "consumer edit ORDERS DISPATCH --config {file} --force",
        "apply -f {declared}",
        "apply -f {declared} --dry-run",
        "diff -f {declared}",
        "apply -f {consumers}",
    ],
)
def test_a_misspelled_key_is_refused_by_every_way_in(orders: Cli, tmp_path: Path, line: str) -> None:
    """Before anything is asked or sent."""
    texts = {
        "file": "max_mesgs: 5\n",
        "declared": "streams: [{name: ORDERS, max_mesgs: 5}]\n",
        "consumers": "streams: [{name: ORDERS, consumers: [{name: C, max_mesgs: 5}]}]\n",
    }
    files = {name: tmp_path / f"{name}.yaml" for name in texts}
    for name, text in texts.items():
        files[name].write_text(text)
    before = orders("stream info ORDERS --json", status=0).json["config"]
    refused = orders(f"{line} --trace".format(**files), answers=[], status=64)
    assert TYPO in refused.err and refused.asked == []
    assert ">>>" not in refused.err, "a request was sent"
    assert orders("stream info ORDERS --json", status=0).json["config"] == before


@pytest.mark.parametrize("line", ["stream edit ORDERS", "consumer edit ORDERS DISPATCH"])
def test_a_misspelled_key_in_the_editor(orders: Cli, line: str) -> None:
    editor = """sed -i '0,/"max_[a-z_]*":/s//"max_mesgs":/'"""
    refused = orders(f"{line} -i", answers=[False], environ={"EDITOR": editor}, status=64)
    assert TYPO in refused.asked[0]
    saved = Path(refused.err.rpartition(" in ")[2].strip())
    assert "max_mesgs" in saved.read_text()
    saved.unlink()
    saved.parent.rmdir()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("stream ls --jsn", "No such option '--jsn'; did you mean '--json'?"),
        ("stream add --max-mesages 5", "No such option '--max-mesages'; did you mean '--max-msgs'?"),
        ("stream ls -o json", "No such option '-o'; use --json, or --as csv"),
        ("report --format json", "No such option '--format'; use --json, or --as csv"),
        ("monitor", "no command 'monitor'; did you mean jsctl report --watch?"),
        ("create X", "no command 'create'; did you mean jsctl stream add?"),
        ("purge X", "no command 'purge'; jsctl --help lists them"),
        ("auth account keys rotate", "no command 'rotate'; did you mean jsctl auth keys rotate?"),
        ("auth op sk rotate", "no command 'rotate'; did you mean jsctl auth keys rotate?"),
        ("kv watsh B", "no command 'watsh'; did you mean 'watch'?"),
        ("stream edit --storage file", "No such option '--storage'; jsctl stream edit --help"),
        ("stream get ORDERS x", "Invalid value for 'ID': 'x' is not a whole number; jsctl stream get --help"),
    ],
)
def test_flags_that_do_not_exist(offline_cli: Cli, line: str, says: str) -> None:
    assert f"jsctl: error: {says}" in offline_cli(line, status=64).err
