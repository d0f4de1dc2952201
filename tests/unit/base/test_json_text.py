"""How deep and how large JSON from outside may be."""

import json
import random
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.base import json_text
from jsctl.base.json_text import MAX_VALUES, TooDeep, parse_json

TEXTS = ("", "[", "]", '"', "\\", '\\"', '[]"\\', "{}", '"]', "\\\\[", "a", 1, None)


def height(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(height, value.values()), default=0)
    return 1 + max(map(height, value), default=0) if isinstance(value, list) else 0


def made_up(chance: random.Random, depth: int) -> Any:
    items = range(chance.randrange(1, 3) if depth else 0)
    match chance.randrange(5):
        case 0 | 1:
            return [made_up(chance, depth - 1) for _ in items]
        case 2 | 3:
            return {str(chance.choice(TEXTS)): made_up(chance, depth - 1) for _ in items}
    return chance.choice(TEXTS)


def test_depth_is_that_of_the_document_whatever_its_texts_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    deep = 0
    for number in range(500):
        chance = random.Random(number)
        value = made_up(chance, 9)
        text = json.dumps(value, indent=chance.choice((None, 1)))
        most = chance.randrange(5, 9)
        monkeypatch.setattr(json_text, "MAX_DEPTH", most)
        if height(value) > most and len(text) > 2 * most:
            deep += 1
            with pytest.raises(TooDeep):
                parse_json(text)
        else:
            assert parse_json(text) == value
    assert 30 < deep < 470


def test_a_document_of_few_brackets_is_not_searched_for_its_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(json_text, "_extract_marks")
    document = {"items": [{"n": n} for n in range(90)], "text": "x" * 1000}
    assert parse_json(json.dumps(document)) == document


@given(st.text(st.sampled_from('a\\u"\ud83d\ude00\xed')), st.booleans(), st.booleans())
def test_a_text_is_refused_exactly_if_it_cannot_be_encoded(
    text: str, is_escaped: bool, is_bytes: bool
) -> None:
    document: str | bytes = json.dumps({"t": text}, ensure_ascii=is_escaped or is_bytes)
    document = document.encode() if is_bytes and isinstance(document, str) else document
    value = json.loads(document)["t"]  # in which two escapes are one character
    if any("\ud800" <= character <= "\udfff" for character in value):
        with pytest.raises(ValueError, match="surrogate"):
            parse_json(document)
    else:
        assert parse_json(document) == {"t": value}
    assert parse_json(document, allow_surrogates=True) == {"t": value}


def test_the_limit_of_levels() -> None:
    for levels in (100, 102):
        for text in ("[" * levels + "]" * levels, '{"a":[' * (levels // 2) + "1" + "]}" * (levels // 2)):
            if levels > 100:
                with pytest.raises(TooDeep):
                    parse_json(text)
            else:
                assert parse_json(text)


def test_the_check_takes_less_than_the_parser() -> None:
    row = {"config": {"name": "S", "subjects": ["a.[b]", 'x"\\']}, "state": {"messages": 1}}
    deepest = b"[" + b",".join([b"[" * 98 + b"]" * 98] * 2000) + b"]"
    for document in (json.dumps([row] * 8000).encode(), deepest):
        started = time.process_time()
        json.loads(document)
        parsed = time.process_time()
        assert parse_json(document)
        assert time.process_time() - parsed < 3 * (parsed - started) + 0.5


def test_values_are_counted_where_they_are_values() -> None:
    assert parse_json(json.dumps({"data": "," * (MAX_VALUES + 1), "more": '\\",['})) is not None
    with pytest.raises(ValueError, match="more than 2,000,000 values"):
        parse_json("[" + "1," * MAX_VALUES + "1]")
