"""A JetStream is known by its servers, its account and its domain, whatever leads to it."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from pathlib import Path

import pytest

from jsctl.contexts.settings import Settings
from jsctl.jetstream.api import Api
from jsctl.jetstream.identity import Identity, fetch_identity, find_first_places, read_identity
from jsctl.nats.connection import Connection
from tests.support import js
from tests.support.servers import HUB_LEAF_ACCOUNTS, AccountServers, Cluster, HubLeaf, RealServer, free_port
from tests.support.waiting import wait_for

Way = tuple[str, str]
"""A URL, and a domain or an API prefix."""


def number(*ways: Way) -> list[int]:
    """Return the numbers of the JetStreams that these ways lead to, and check that all identities agree."""

    async def work() -> tuple[list[int], list[Identity]]:
        async with AsyncExitStack() as stack:
            apis = []
            for url, where in ways:
                connection = await Connection.open(Settings(url=url), on_event=lambda _: None)
                stack.push_async_callback(connection.close)
                is_prefix = "." in where
                apis.append(Api(connection, prefix=where) if is_prefix else Api(connection, domain=where))
            return await find_first_places(apis), [await fetch_identity(api) for api in apis]

    numbers, identities = asyncio.run(work())
    assert all(read_identity(each.to_json()).is_same(each) for each in identities)
    for here, identity in zip(numbers, identities, strict=True):
        assert [other.is_same(identity) for other in identities] == [there == here for there in numbers]
    return numbers


@pytest.mark.slow
def test_domains_from_both_sides_of_a_leaf_node(hub_leaf: HubLeaf) -> None:
    hub, leaf = hub_leaf.url, hub_leaf.leaf.url_for("acc")
    local = hub.replace("127.0.0.1", "localhost")
    ways = [(hub, ""), (local, "hub"), (leaf, ""), (hub, "leaf"), (leaf, "hub"), (local, "$JS.leaf.API")]
    assert number(*ways) == [0, 0, 2, 2, 0, 2]
    assert number((hub, ""), (hub, "leaf"), (hub, "JS.of.others")) == [0, 1, 2]


@contextmanager
def leaf_node(folder: Path, hub: str, leaf: str, accounts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Start two servers whose accounts have other names; yield their addresses. hub, leaf: domains."""
    port = free_port()
    users = "users: [{user: acc, password: acc}], jetstream: enabled"
    text = (
        'listen: "127.0.0.1:{port}"\nserver_name: %s\njetstream { store_dir: "{store}", %s }\n'
        f"accounts {{ SYS: {{ users: [{{user: admin, password: admin}}] }}, %s: {{ {users} }} }}\n"
        "system_account: SYS\nleafnodes { %s }"
    )
    address = f"nats-leaf://acc:acc@127.0.0.1:{port}"
    remote = f'remotes: [{{ urls: ["{address}"], account: {accounts[1]} }}], reconnect: 1'
    first = text % ("h", hub and f"domain: {hub}", accounts[0], f'listen: "127.0.0.1:{port}"')
    second = text % ("l", leaf and f"domain: {leaf}", accounts[1], remote)
    with ExitStack() as stack:
        servers = [RealServer(folder, config, name=name) for name, config in (("h", first), ("l", second))]
        for server in servers:
            stack.callback(server.start().stop)
        urls = servers[0].url_for("acc"), servers[1].url_for("acc")
        wait_for(lambda: "Leafnode connection created" in servers[1].log.read_text(), "no leaf node")
        if leaf:
            wait_for(lambda: js.is_up(urls[0], domain=leaf), "the hub does not see the leaf")
        yield urls


@pytest.mark.slow
def test_the_account_has_another_name_on_the_other_side(tmp_path: Path) -> None:
    with leaf_node(tmp_path, "hub", "leaf", ("EAST", "WEST")) as (hub, leaf):
        assert number((hub, ""), (leaf, ""), (hub, "leaf"), (leaf, "hub")) == [0, 1, 1, 0]


def test_without_domains_each_side_has_its_own(tmp_path: Path) -> None:
    with leaf_node(tmp_path, "", "", ("ACC", "ACC")) as (hub, leaf):
        assert number((hub, ""), (leaf, ""), (hub.replace("127.0.0.1", "localhost"), "")) == [0, 1, 0]


def test_servers_of_one_name_are_two(tmp_path: Path) -> None:
    config = 'listen: "127.0.0.1:{port}"\nserver_name: same\njetstream { store_dir: "{store}" }'
    with ExitStack() as stack:
        servers = [RealServer(tmp_path / folder, config) for folder in "ab"]
        for server in servers:
            stack.callback(server.start().stop)
        assert number(*((server.url, "") for server in servers)) == [0, 1]


def test_accounts_of_one_server_are_two(account_servers: AccountServers) -> None:
    one, two = account_servers.new_account().url, account_servers.new_account().url
    assert number((one, ""), (two, ""), (one, "JS.of.others")) == [0, 1, 2]


LIMITED = "{user: low, password: low, permissions: {publish: ['$JS.>'], subscribe: ['_INBOX.>']}}"


def test_a_login_that_may_not_ask_takes_the_domain_for_it(tmp_path: Path) -> None:
    pair = HubLeaf(
        tmp_path, HUB_LEAF_ACCOUNTS.replace("password: acc}", f"password: acc}}, {LIMITED}", 1)
    ).start()
    try:
        low, leaf = pair.hub.url_for("low"), pair.leaf.url_for("acc")
        assert number((low, ""), (low, "leaf"), (leaf, ""), (pair.url, "")) == [0, 1, 1, 0]
    finally:
        pair.stop()


@pytest.mark.cluster
def test_the_servers_of_a_cluster_are_one(shared_cluster: Cluster) -> None:
    servers = list(shared_cluster.servers.values())
    assert number(*((server.url_for("acc"), "") for server in servers)) == [0, 0, 0]


@pytest.mark.cluster
def test_clusters_that_gateways_connect_are_one(tmp_path: Path) -> None:
    names = ("east", "west")
    gateways = {name: free_port() for name in names}
    others = ", ".join(
        f'{{ name: {name}, urls: ["nats://127.0.0.1:{port}"] }}' for name, port in gateways.items()
    )
    with ExitStack() as stack:
        servers: list[tuple[str, int, str]] = []
        for name in names * 2:
            config = f"""
listen: "127.0.0.1:{{port}}"
server_name: {name}{len(servers)}
jetstream {{ store_dir: "{{store}}" }}
cluster {{ name: {name}, listen: "127.0.0.1:{{route}}", routes: [{{routes}}] }}
gateway {{ name: {name}, listen: "127.0.0.1:{{gate}}", gateways: [{others}] }}
{HUB_LEAF_ACCOUNTS}"""
            gate = gateways[name] if len(servers) < len(names) else free_port()
            servers.append((name, free_port(), config.replace("{gate}", str(gate))))
        routes = {n: [f'"nats-route://127.0.0.1:{port}"' for m, port, _ in servers if m == n] for n in names}
        urls = []
        for count, (name, route, config) in enumerate(servers):
            text = config.replace("{route}", str(route)).replace("{routes}", ", ".join(routes[name]))
            server = RealServer(tmp_path, text, name=f"s{count}").start()
            stack.callback(server.stop)
            urls.append(server.url_for("acc"))
        wait_for(lambda: all(map(js.is_up, urls)), "no leader", 60)
        wait_for(lambda: number(*((url, "") for url in urls)) == [0, 0, 0, 0], "the gateways", 60)
