"""Codecs of keys: as the kvcodec of orbit.go makes them, and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.jetstream.kv.codec import parse_codec

ORBIT = [
    ("base64", "Acme Inc.contact", "QWNtZSBJbmM.Y29udGFjdA", "QWNtZSBJbmM.Y29udGFjdA"),
    ("base64", "user.*.>", "dXNlcg.Kg.Pg", "dXNlcg.*.>"),
    ("base64", "é?.~", "w6k_.fg", "w6k_.fg"),
    ("path", "/etc/a.b/", "_root_.etc.a.b", "_root_.etc.a.b"),
    ("path", "/", "_root_", "_root_"),
    ("path", "a/*/>", "a.*.>", "a.*.>"),
    ("path,base64", "/x y/*", "X3Jvb3Rf.eCB5.Kg", "X3Jvb3Rf.eCB5.*"),
]
"""Codecs, a key, and what kvcodec 0.1.2 of orbit.go makes of it as a key and as a filter."""


@pytest.mark.parametrize(("names", "key", "stored", "pattern"), ORBIT)
def test_as_orbit(names: str, key: str, stored: str, pattern: str) -> None:
    codec = parse_codec(names)
    assert (codec.encode(key), codec.encode(key, is_pattern=True)) == (stored, pattern)


@given(st.sampled_from(["base64", "path", "path,base64", "base64,base64"]), st.text(min_size=1))
def test_two_stored_keys_never_look_the_same(names: str, key: str) -> None:
    codec = parse_codec(names)
    stored = codec.encode(key)
    shown = next(iter(codec.decode_known([stored])), None)
    assert shown is None or codec.encode(shown) == stored
    if "path" not in names and key not in ("*", ">"):
        assert shown == key


@pytest.mark.parametrize(
    ("names", "stored"), [("base64", "user.1"), ("base64", "dXNlch"), ("base64", "_w"), ("path", "a/b")]
)
def test_keys_that_it_has_not_made(names: str, stored: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_codec(names).decode(stored)
    assert parse_codec(names).decode_known([stored]) == []
