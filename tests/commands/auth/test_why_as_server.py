"""`auth why` says what a real server does."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jsctl.auth.environment import Environment
from jsctl.auth.keys import ACCOUNT, create_key
from jsctl.auth.why.permissions import decide_publish, decide_subscribe, find_permissions
from tests.support.auth_store import FREE, Store
from tests.support.raw_client import RawClient
from tests.support.servers import RealServer

USERS = 60
TOKENS = ("a", "b", "c")
GROUPS = ("q", "v1.x", "v1")
GROUP_RULES = ("q", "v1.*", ">")


def subject(rng: random.Random, *, wild: bool) -> str:
    tokens = [rng.choice((*TOKENS, "*") if wild else TOKENS) for _ in range(rng.randint(1, 3))]
    if wild and rng.random() < 0.3:
        tokens[-1] = ">"
    return ".".join(tokens)


def rules(rng: random.Random, *, groups: bool) -> dict[str, list[str]]:
    lists: dict[str, list[str]] = {}
    for key in ("allow", "deny"):
        if rng.random() < 0.6:
            lists[key] = [subject(rng, wild=True) for _ in range(rng.randint(0 if key == "allow" else 1, 3))]
            if groups and rng.random() < 0.5:
                lists[key].append(f"{subject(rng, wild=True)} {rng.choice(GROUP_RULES)}")
    return lists


def permissions(rng: random.Random) -> dict[str, Any]:
    claims: dict[str, Any] = {"pub": rules(rng, groups=False), "sub": rules(rng, groups=True)}
    if rng.random() < 0.2:
        claims["resp"] = {"max": rng.choice((0, 1, 5, -1)), "ttl": 0}
    return claims


def template(rng: random.Random) -> dict[str, Any]:
    """Permissions in which templates stand for tokens."""
    claims = permissions(rng)
    marks = ("{{name()}}", "{{tag(team)}}", "{{account-tag(site)}}", "{{tag(none)}}")
    for action in ("pub", "sub"):
        for key, known in (("allow", marks), ("deny", marks[:3])):
            texts = claims[action].get(key, [])
            claims[action][key] = [text.replace("b", rng.choice(known)) for text in texts if " " not in text]
    return claims


def expected(
    environment: Environment, account: str, user: str, tries: list[tuple[str, str, str]]
) -> list[bool]:
    owner = environment.find_account(account)
    granted = find_permissions(owner, environment.find_users(user, account)[0])
    return [
        decide_publish(owner, granted, text).allowed
        if action == "pub"
        else decide_subscribe(granted, text, group).allowed
        for action, text, group in tries
    ]


def actual(client: RawClient, tries: list[tuple[str, str, str]]) -> list[bool]:
    assert client.refused == ""
    allowed = []
    for number, (action, text, group) in enumerate(tries):
        line = f"PUB {text} 0\r\n" if action == "pub" else f"SUB {text} {group} {number}".replace("  ", " ")
        allowed.append(not client.send([line]))
    return allowed


class Network:
    """A server with users of random permissions: of their own, of their account, and of a role."""

    def __init__(self, folder: Path) -> None:
        self.store = Store(folder / "auth")
        rng = random.Random(7)
        for number in range(USERS):
            kind = ("own", "default", "role")[number % 3]
            account, user = f"A{number}", f"u{number}"
            if kind == "own":
                self.store.account(account)
                self.store.user(account, user, **permissions(rng))
            elif kind == "default":
                self.store.account(account, default_permissions=permissions(rng))
                self.store.user(account, user)
            else:
                key = create_key(ACCOUNT)
                scope = {
                    "kind": "user_scope",
                    "key": key.public,
                    "role": "r",
                    "template": {**FREE, **template(rng)},
                }
                self.store.account(account, signing_keys=[scope], tags=["site:c"])
                self.store.user(
                    account, user, signer=key, nats={"tags": ["team:a", "team:b"]}, top={"name": "b"}
                )
        self.server = RealServer(folder, self.store.server_config())

    def client(self, account: str, user: str) -> RawClient:
        token = self.store.files.get_user_path(account, user).read_text()
        return RawClient(self.server.port, token, self.store.users[f"{account}/{user}"])


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    network = Network(tmp_path_factory.mktemp("why"))
    network.server.start()
    yield network
    network.server.stop()


def test_permissions(network: Network) -> None:
    environment = network.store.read()
    rng = random.Random(11)
    allowed = 0
    for number in range(USERS):
        account, user = f"A{number}", f"u{number}"
        tries = [("pub", subject(rng, wild=False), "") for _ in range(25)]
        tries += [("sub", subject(rng, wild=True), rng.choice(("", "", *GROUPS))) for _ in range(25)]
        with network.client(account, user) as client:
            answers = actual(client, tries)
        claims = environment.find_users(user, account)[0].nats, environment.find_account(account).nats
        assert expected(environment, account, user, tries) == answers, (
            claims,
            list(zip(tries, answers, strict=True)),
        )
        allowed += sum(answers)
    assert 0.1 < allowed / (USERS * 50) < 0.9
