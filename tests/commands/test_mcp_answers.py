"""Answers of `jsctl mcp`: what looks like a secret is hidden, and what only sounds like one is not."""

import base64
import re
import time
from collections.abc import Callable
from typing import Any

import click
import nkeys
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nkeys import encode_seed

from jsctl.commands.assistants.answers import build_answer
from jsctl.commands.assistants.searching import search
from jsctl.commands.assistants.tools import list_verbs
from tests.contract.test_commands import resolve


@pytest.mark.parametrize(
    "answer",
    [
        "Authorization: Bearer marked-1",
        "run --password marked-1 now",
        "db_password=marked-1",
        'password: "one marked-1"',
        '{"apiKey": "marked-1", "aws_secret_access_key": "x"}',
        f"AGE-SECRET-KEY-1{'MARKED' * 10}",
        {"headers": {"Authorization": ["Basic bWFya2Vk1LTE="]}},
        {"password": ["marked-1", {"old": "marked-1"}], "userToken": "marked-1"},
        base64.b64encode(b'{"dbPassword": "marked-1"}').decode(),
        "Authorization: Bearer marked",
        "curl -H 'Authorization: Token marked' x",
        "Cookie: theme=dark; session=marked",
        {"headers": {"Set-Cookie": ["a=marked"], "Authorization": "marked"}},
        base64.b64encode(b"NATS/1.0\r\nAuthorization: Bearer marked\r\nCookie: marked\r\n").decode(),
    ],
)
def test_what_looks_like_a_secret(answer: Any) -> None:
    text = build_answer(answer)
    if isinstance(answer, str) and re.fullmatch(r"[\w+/]+=*", answer):
        text = base64.b64decode(text).decode()
    assert "[hidden]" in text and not re.search("marked|bWFya", text, re.IGNORECASE)


@pytest.mark.parametrize(
    "answer",
    [
        "Basic configuration of a stream",
        "use --user and --password, --creds or context",
        '{"account_token_position": 2, "tokens": 3}',
        {"token": True, "tokens": ["a"], "seed": False, "account_token_position": 2},
    ],
)
def test_what_only_sounds_like_a_secret(answer: Any) -> None:
    assert "[hidden]" not in build_answer(answer)


NAMES = st.builds(
    lambda before, name, case: case(before + name),
    st.sampled_from(["", "db_", "x-", "MY_APP_"]),
    st.sampled_from(
        ["pw", "pwd", "pass", "password", "passphrase", "token", "seed", "secret", "api_key", "jwt"]
    ),
    st.sampled_from([str.lower, str.upper, str.title]),
)
FORMS = st.sampled_from(
    [
        "{name}: {secret}",
        "{name}={secret}",
        "{name} = '{secret}'",
        '{{"{name}": "{secret}", "b": 1}}',
        '{{\\"{name}\\": \\"{secret}\\"}}',
        "- user: a\n  {name}: {secret}\n",
        "https://example.com/?{name}={secret}&a=1",
        "run --{name} {secret} --more",
        ":{name} => {secret}",
    ]
)
MARKED = st.text("abcXYZ0123456789.-_$!", min_size=1, max_size=20).map(lambda text: f"mrk{text}")
WRAPPINGS = st.sampled_from(
    [
        lambda text: text,
        lambda text: [{"data": text}],
        lambda text: {"headers": {"A": [text]}},
        lambda text: {"messages": [{"data": base64.b64encode(text.encode()).decode()}]},
    ]
)


@given(NAMES, FORMS, MARKED, WRAPPINGS)
def test_a_secret_with_its_name(name: str, form: str, secret: str, wrap: Callable[[str], Any]) -> None:
    answer = build_answer(wrap(form.format(name=name, secret=secret)))
    payloads = [base64.b64decode(word).decode() for word in re.findall(r'"data": "([\w+/]+=*)"', answer)]
    assert secret not in "\n".join([answer, *payloads])


@given(st.sampled_from([*b"ACNOUX"]), st.binary(min_size=32, max_size=32), st.data())
def test_a_seed_in_any_case(kind: int, raw: bytes, data: st.DataObject) -> None:
    seed = encode_seed(raw, nkeys.PREFIX_BYTE_USER).decode()
    seed = f"S{chr(kind)}{seed[2:]}"
    cases = data.draw(st.lists(st.booleans(), min_size=len(seed), max_size=len(seed)))
    for text in (seed, seed.lower(), "".join(map(lambda one, low: one.lower() if low else one, seed, cases))):
        assert build_answer({"about": f"user.{text}, created"}) == build_answer(
            {"about": "user.[hidden], created"}
        )


def test_a_long_payload_takes_no_time() -> None:
    started = time.monotonic()
    build_answer(["a-" * 500_000, "x_" * 500_000, "pw" * 500_000])
    assert time.monotonic() - started < 20


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("delete a stream", "stream_rm"),
        ("why is my consumer slow", "consumer_why"),
        ("who is connected", "account_report_connections"),
        ("create stream", "stream_add"),
        ("publish a message", "publish"),
        ("dead letters", "consumer_dead"),
        ("restarting servers", "server_roll"),
        ("kv_put", "kv_put"),
        ("list all consumers", "consumer_ls"),
        ("", "doctor"),
        ("the", "doctor"),
    ],
)
def test_a_search_finds_what_is_meant(query: str, name: str) -> None:
    root = resolve([])
    assert isinstance(root, click.Group)
    verbs = list_verbs(root)
    found = search(verbs, query)
    assert name in [verb.name for verb in found[:8]] or (not query.strip("the") and len(found) == len(verbs))
    assert search(verbs, "zzzz") == []
