"""Random JSON documents, and what they say: numbers with all of their digits, the last of repeated keys."""

import json
from decimal import Decimal
from random import Random
from typing import Any

NAMES = ("a", "A", "b c", "é", "𐀀", "\uffff", 'q"uote', "x.y", "`", "_0", "value", "")
TEXTS = ("", "x", "1e400", '{"a": 1e5}', "2026-11-21", "3e4f-1e10", "[1, 2.50]", "ä\u0000", "NaN")
NUMBERS = (
    "0",
    "-0",
    "0.0",
    "1e0",
    "1E400",
    "-1e-400",
    "9007199254740993",
    "9" * 38,
    "9" * 39,
    "0." + "1" * 39,
)


def number(random: Random) -> str:
    """Return a number as JSON writes it, often with more digits than a double has."""
    sign, digits = random.choice(("", "-")), str(random.randrange(10 ** random.randrange(1, 42)))
    fraction = "".join(random.choices("0123456789", k=random.randrange(1, 32)))
    match random.randrange(6):
        case 0:
            return random.choice(NUMBERS)
        case 1:
            return sign + digits
        case 2:
            return repr(random.uniform(-1, 1) * 10.0 ** random.randrange(-300, 300))
        case 3:
            return f"{sign}{digits}.{fraction}e{random.randrange(-450, 450)}"
        case 4:
            return f"{random.randrange(10**6) / 100:.2f}"
        case _:
            return f"{sign}{digits[:8]}.{fraction}"


def document(random: Random, depth: int = 3) -> str:
    """Return any JSON, sometimes with a key twice."""
    kind = random.randrange(7 if depth else 4)
    if kind < 2:
        return number(random)
    if kind == 2:
        return json.dumps(random.choice(TEXTS), ensure_ascii=random.random() < 0.5)
    if kind == 3:
        return random.choice(("true", "false", "null"))
    items = [document(random, depth - 1) for _ in range(random.randrange(4))]
    if kind == 4:
        return f"[{', '.join(items)}]"
    keys = (json.dumps(random.choice(NAMES[:-1]), ensure_ascii=False) for _ in items)
    return "{" + ",".join(f"{key} : {item}" for key, item in zip(keys, items, strict=True)) + "}"


def parse(text: str) -> Any:
    """Return what a document says. Numbers are Decimal, so that 1 is not True."""
    return json.loads(text, parse_float=Decimal, parse_int=Decimal)


def simplify(value: Any) -> Any:
    """Return a value of Python in the same form."""
    if isinstance(value, dict):
        return {key: simplify(item) for key, item in value.items()}
    if isinstance(value, list):
        return [simplify(item) for item in value]
    if isinstance(value, float):
        return Decimal(repr(value))
    return Decimal(value) if isinstance(value, int) and not isinstance(value, bool) else value
