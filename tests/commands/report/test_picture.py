"""The picture of the README."""

import pytest

from tests.support import picture
from tests.support.run import Cli
from tests.support.servers import AccountServers


@pytest.mark.slow
def test_it_has_the_columns_that_the_screen_has_today(
    cli: Cli, url: str, account_servers: AccountServers
) -> None:
    """`python -m tests.support.picture` draws it again."""
    urls = {"hub": url, "leaf": account_servers.new_account().url}
    picture.create(urls)
    for name, address in urls.items():
        cli(f"context add {name} --server {address}", status=0)
    del cli.environ["NATS_URL"]
    watched = picture.watch(cli, ["hub", "leaf"])
    watched.until("9,000")
    shown = picture.read_titles(picture.draw(watched.screen.styled_lines, "jsctl"))
    selected = next(line for line in watched.screen.styled_lines if ";48;" in line)
    assert selected.count(";48;") == selected.count("\x1b[") and ";7m" not in selected, (
        "it has one background"
    )
    watched.press("q")
    watched.end()
    *drawn, last = picture.read_titles(picture.FILE.read_text())
    assert len(drawn) > 6
    assert drawn == shown[: len(drawn)], "run python -m tests.support.picture"
    assert last == shown[-1], "which follows columns for which a longer text leaves no room"
