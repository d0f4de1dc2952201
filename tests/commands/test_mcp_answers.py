"""Answers of `jsctl mcp`: what looks like a secret is hidden, and what only sounds like one is not."""

import base64
import re
from typing import Any

import pytest

from jsctl.commands.assistants.answers import build_answer


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
    ],
)
def test_what_looks_like_a_secret(answer: Any) -> None:
    text = build_answer(answer)
    if isinstance(answer, str) and answer.endswith("="):
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
