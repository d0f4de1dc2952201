"""Descriptions of networks: what is wrong in one is told with its line, before anything starts."""

from pathlib import Path

import pytest

from jsctl.errors import BadInput, NotFound
from jsctl.localserver.compile import compile_network
from jsctl.localserver.spec_reader import BUILTIN, load_spec, parse_spec

GOOD = """name: shop
accounts:
  SYS: {system: true, users: {admin: secret}}
  APP: {jetstream: true, users: [app]}
clusters:
  hub: {domain: hub, servers: 3}
  leaf: {domain: leaf, servers: 1, remotes: [{to: hub, user: app}]}
"""


def test_permissions_of_users() -> None:
    permissions = {"publish": {"deny": "secret"}}
    given = GOOD.replace("users: [app]", "users: [app], permissions: {app: {publish: {deny: secret}}}")
    assert parse_spec(given, "shop.yaml").get_account("app").permissions == {"app": permissions}
    with pytest.raises(BadInput, match=r"shop\.yaml:4: there is no user 'ap'; did you mean app"):
        parse_spec(given.replace("{app: {pub", "{ap: {pub"), "shop.yaml")
    with pytest.raises(BadInput, match=r"shop\.yaml:5: permissions need accounts in the configuration"):
        parse_spec(given.replace("accounts:", "operator: OP\naccounts:"), "shop.yaml")


def test_contexts_come_by_themselves() -> None:
    spec = parse_spec(GOOD, "shop.yaml")
    assert [context.name for context in spec.contexts] == ["hub", "leaf", "system"]
    assert [server.name for server in spec.clusters[0].servers] == ["hub-1", "hub-2", "hub-3"]
    assert [server.name for server in spec.clusters[1].servers] == ["leaf"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: shop\n", "", "shop.yaml:1: the network has no name; begin with name: NAME"),
        ("clusters:", "clusterz:", "shop.yaml:6: a network has no key 'clusterz'; did you mean clusters?"),
        (
            "servers: 3",
            "servers: 0",
            "shop.yaml:6: servers must be a number from 1 to 50, or a list of names",
        ),
        ("domain: hub", "domian: hub", "shop.yaml:6: a cluster has no key 'domian'; did you mean domain?"),
        ("to: hub", "to: hup", "shop.yaml:7: there is no cluster 'hup'; did you mean hub?"),
        ("user: app", "user: ap", "shop.yaml:7: there is no user 'ap'; did you mean app?"),
        ("users: [app]", "users: [admin]", "shop.yaml:4: there are two users 'admin'; users of all accounts"),
        ("users: [app]", "users: []", "shop.yaml:4: account APP has no users; add users: {NAME: PASSWORD}"),
        ("system: true", "system: maybe", "shop.yaml:3: system must be true or false"),
        (
            "system: true",
            "system: true, jetstream: true",
            "shop.yaml:3: the system account cannot have JetStream",
        ),
        ("servers: 1", "servers: [hub-1]", "shop.yaml:7: there are two servers 'hub-1'"),
        ("servers: 1", "servers: [{name: x, port: x}]", "shop.yaml:7: x is not a port"),
        ("servers: 1", "servers: 1, binary: /none", "shop.yaml:7: there is no file /none"),
        ("servers: 1", "servers: 1, binary: /etc/passwd", "shop.yaml:7: /etc/passwd cannot be run"),
        (
            "servers: 1",
            "servers: [{name: x, port: 4222}, {name: y, port: 4222}]",
            "shop.yaml:7: port 4222 is used twice",
        ),
        ("to: hub", "to: leaf", "shop.yaml:7: cluster leaf cannot be a leaf node of itself"),
        (
            "servers: 3",
            "servers: 3, remotes: [{to: leaf, user: app}]",
            "shop.yaml:7: hub is already a leaf node of leaf: messages of account APP",
        ),
        ("name: shop", "name: a/b", "shop.yaml:1: 'a/b' is not a valid name of the network"),
        ("clusters:", "operator: OP\nno_login: app\nclusters:", "no_login cannot be used with an operator"),
        ("clusters:", "gateways: [hub, west]\nclusters:", "shop.yaml:5: there is no cluster 'west'"),
        ("clusters:", "tls: {cert: x}\nclusters:", "shop.yaml:5: tls has no key; write {cert: FILE"),
        ("clusters:", "- x", "shop.yaml:"),
        (
            "jetstream: true",
            "jetstream: {max_fil: 1}",
            "shop.yaml:4: jetstream of an account has no key 'max_fil'; did you mean max_file?",
        ),
        ("jetstream: true", "jetstream: {max_file: 1XB}", "shop.yaml:4: max_file: '1XB' is not a size"),
        ("jetstream: true", "jetstream: {max_streams: a}", "shop.yaml:4: max_streams must be a number"),
        (
            "jetstream: true",
            "exports: [{srv: a}]",
            "shop.yaml:4: an export must have either",
        ),
        (
            "jetstream: true",
            "imports: [{stream: {account: AP, subject: a}}]",
            "shop.yaml:4: there is no account 'AP'; did you mean APP?",
        ),
        (
            "jetstream: true",
            "imports: [{stream: a}]",
            "shop.yaml:4: an import needs an account",
        ),
    ],
)
def test_a_mistake_names_file_and_line(old: str, new: str, message: str) -> None:
    with pytest.raises(BadInput) as error:
        parse_spec(GOOD.replace(old, new, 1), "shop.yaml")
    assert str(error.value).startswith(message) or message in str(error.value)


def test_an_unknown_network() -> None:
    with pytest.raises(NotFound, match=r"no network and no file 'hub-spoke'; did you mean hub-spokes\?"):
        load_spec("hub-spoke")


@pytest.mark.parametrize("name", BUILTIN)
def test_each_that_comes_with_jsctl_compiles(tmp_path: Path, name: str) -> None:
    spec = load_spec(name)
    topology = compile_network(spec, tmp_path)
    assert len(topology.nodes) == sum(len(cluster.servers) for cluster in spec.clusters)
    # A second time it is the same: keys are kept.
    again = compile_network(spec, tmp_path)
    assert [node.config for node in again.nodes] == [node.config for node in topology.nodes]


def test_one_server_behind_gateways_has_routes(tmp_path: Path) -> None:
    """Without any, JetStream does not start there."""
    spec = parse_spec(GOOD + "gateways: [hub, leaf]\n", "shop.yaml")
    [leaf] = [node for node in compile_network(spec, tmp_path).nodes if node.cluster == "leaf"]
    assert "nats-route://127.0.0.1:@leaf.cluster@" in leaf.config


def test_imports_become_claims(tmp_path: Path) -> None:
    text = GOOD.replace("name: shop", "name: shop\noperator: OP").replace(
        "  APP: {", "  IN: {users: [i], imports: [{stream: {account: APP, subject: a}, to: b}]}\n  APP: {"
    )
    topology = compile_network(parse_spec(text, "shop.yaml"), tmp_path)
    assert (tmp_path / "auth" / "stores" / "OP" / "accounts" / "IN" / "IN.jwt").is_file()
    assert "resolver_preload" in topology.files["operator.conf"]


@pytest.mark.parametrize(("size", "number"), [("1GB", 1 << 30), ("1G", 10**9), ("2048", 2048), ("-1", -1)])
def test_sizes_are_those_of_nats_server(size: str, number: int) -> None:
    spec = parse_spec(GOOD.replace("jetstream: true", f"jetstream: {{max_file: {size}}}"), "shop.yaml")
    assert spec.accounts[1].jetstream == {"max_file": number}
