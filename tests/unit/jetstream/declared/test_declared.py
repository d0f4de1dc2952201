"""Declared files without a server: errors with file and line, variables, loops, values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.errors import BadInput
from jsctl.jetstream.config.nodes import Node
from jsctl.jetstream.declared import load, variables, write
from jsctl.jetstream.declared.merge import merge_stream
from jsctl.jetstream.declared.model import Declared, Place


def read(text: str, **values: str) -> Declared:
    options = variables.parse_variables(tuple(f"{name}={value}" for name, value in values.items()))
    return load.load([("f.yaml", text)], options)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "streams:\n- name: A\n  max_agee: 1d",
            "f.yaml:3: unknown key 'max_agee' of a stream; did you mean 'max_age'?",
        ),
        (
            "streams:\n- name: A\n  replicas: 3",
            "f.yaml:3: unknown key 'replicas' of a stream; it is num_replicas here",
        ),
        ("streams:\n- name: A\n  template_owner: x", "f.yaml:3: unknown key 'template_owner'"),
        ("streams:\n- name: A\n  placement:\n    tag: [x]", "f.yaml:4: unknown key 'tag' of placement"),
        ("streams:\n- name: A\n  mirror:\n    nam: x", "f.yaml:4: unknown key 'nam' of mirror"),
        (
            "streams:\n- name: A\n  consumers:\n  - name: C\n    max_age: 1d",
            "f.yaml:5: unknown key 'max_age' of a consumer",
        ),
        ("stream: []", "f.yaml:1: unknown key 'stream'"),
        ("streams:\n- max_age: 1d", "f.yaml:2: this stream has no name"),
        ("streams:\n- name: a.b", "f.yaml:2: 'a.b' is not a valid stream name"),
        ("streams:\n- name: A\n  max_age: soon", "f.yaml:3: max_age: 'soon' is not a duration"),
        ("streams:\n- name: A\n  max_bytes: 1XB", "f.yaml:3: max_bytes: '1XB' is not a size"),
        ("streams:\n- name: A\n  storage: disk", "f.yaml:3: storage must be one of file, memory, not 'disk'"),
        ("streams:\n- name: A\n  num_replicas: three", "f.yaml:3: num_replicas must be a whole number"),
        ("streams:\n- name: A\n  max_msgs: true", "f.yaml:3: max_msgs must be a whole number"),
        ("streams:\n- name: A\n  deny_purge: 1", "f.yaml:3: deny_purge must be true or false"),
        (
            "streams:\n- name: A\n  subjects:\n  - a\n  - b..c",
            "f.yaml:5: subjects: 'b..c' is not a valid subject",
        ),
        ("streams:\n- name: A\n  metadata: x", "f.yaml:3: metadata must be an object"),
        ("streams:\n- name: A\n  name: B", "f.yaml:3: 'name' is set twice"),
        ("streams:\n- name: A\n  subjects: s\n  mirror: B", "f.yaml:2: a mirror cannot have subjects"),
        (
            "streams:\n- name: A\n- name: B\n- name: A",
            "f.yaml:4: stream A is declared twice; first in f.yaml:2",
        ),
        (
            "streams:\n- name: A\n  consumers: [{name: C},\n   {name: C}]",
            "f.yaml:4: consumer A > C is declared twice",
        ),
        ("streams:\n- name: A_{{x}}", "f.yaml:2: there is no variable 'x'; variables: none"),
        (
            "vars: {v: 1}\nstreams:\n- name: A_{{w}}",
            "f.yaml:3: there is no variable 'w'; variables: v",
        ),
        (
            "streams:\n- for: {i: 0..199999}\n  name: A{{i}}",
            "f.yaml:2: the loop has more than 100,000 rounds",
        ),
        (
            "streams:\n- for: {i: some}\n  name: A{{i}}",
            "f.yaml:2: a loop needs a range such as 0..9, or a list",
        ),
        ("streams:\n- for: {i: 0..1}\n  name: A", "stream A is declared twice"),
        (
            "streams:\n- name: A\n  max_age: {{age}}",
            "f.yaml:3: a key must be text; put text with {{...}} into quotes",
        ),
        ("streams:\n- name: A\n  subjects: [a.{{i}}.b]", "put text with {{...}} into quotes"),
        ("streams:\n- name: A\n   subjects: s", "f.yaml:3: mapping values are not allowed"),
        ("streams:\n- name: A\n  mirror: B\n- name: B\n  mirror: A", "copy from each other in a cycle: "),
        ("streams:\n- name: A\n  sources: [A]", "copy from each other in a cycle: A -> A"),
        ("- a", "f.yaml:1: a file of declared streams must be an object"),
        ("a: &a [*a]", "nested too deeply"),
        ("streams:\n- name: A\n  mirror: B,nope=1", "f.yaml:3: 'B,nope=1': unknown setting 'nope'"),
        ("domain: a b", "f.yaml:1: domain 'a b' is not a valid subject prefix"),
        (
            "streams:\n- {name: A, consumers: [{name: C, filter_subject: a, filter_subjects: [b]}]}",
            "cannot have both filter_subject and filter_subjects",
        ),
    ],
)
def test_errors_say_where(text: str, words: str) -> None:
    with pytest.raises(BadInput) as raised:
        read(text)
    assert words in str(raised.value)
    assert str(raised.value).startswith("f.yaml")


def test_unused_variables_are_errors() -> None:
    with pytest.raises(BadInput, match="--var keep: no file has"):
        read("streams: [{name: A}]", keep="1d")
    with pytest.raises(BadInput, match="not NAME=VALUE"):
        variables.parse_variables(("keep",))


def test_values_of_people() -> None:
    (stream,) = read(
        "streams: [{name: 2024, max_age: 1d, max_bytes: 1GB, max_msg_size: -1, storage: M, retention: work,"
        " duplicate_window: '-1', subjects: 'a b,c', metadata: {version: 1.10, on: yes},"
        " mirror: null, sources: ['B@leaf', {name: C, opt_start_time: 2026-01-01T01:00:00+01:00}]}]"
    ).streams
    assert stream.config == {
        "name": "2024",
        "max_age": 86_400_000_000_000,
        "max_bytes": 1 << 30,
        "max_msg_size": -1,
        "storage": "memory",
        "retention": "workqueue",
        "duplicate_window": 0,
        "subjects": ["a", "b", "c"],
        "metadata": {"version": "1.10", "on": "yes"},
        "mirror": None,
        "sources": [
            {"name": "B", "external": {"api": "$JS.leaf.API"}},
            {"name": "C", "opt_start_time": "2026-01-01T00:00:00Z"},
        ],
    }


def test_newer_keys_on_purpose() -> None:
    (stream,) = read(
        "streams: [{name: A, placement: {cluster: c, extra: {zone: z}}, extra: {allow_magic: true},"
        " consumers: [{name: C, extra: {speed: 9}}]}]"
    ).streams
    assert stream.config["allow_magic"] is True
    assert stream.config["placement"] == {"cluster": "c", "zone": "z"}
    assert stream.consumers[0].config["speed"] == 9


def test_loops_and_places() -> None:
    declared = read(
        """
context: hub
vars: {sites: [{name: east, at: e}, {name: west, at: w}], n: 3, age: "{{n}}d"}
streams:
  - for: {site: "{{sites}}", i: 08..10}
    name: "{{site.name}}_{{i}}"
    domain: "{{site.at}}"
    num_replicas: "{{n}}"
    max_age: "{{age}}"
    subject_transform: {src: "a.*", dest: "{{wildcard(1)}}.\\\\{{i}}"}
    consumers: [{for: {j: [x, y]}, name: "C_{{i}}_{{j}}"}]
  - {name: OTHER, context: other}
""",
    )
    assert [one.name for one in declared.streams[:-1]] == [
        f"{site}_{i}" for site in ("east", "west") for i in ("08", "09", "10")
    ]
    first = declared.streams[0]
    assert first.place == Place("hub", "e")
    assert (first.config["num_replicas"], first.config["max_age"]) == (3, 3 * 86_400_000_000_000)
    assert first.config["subject_transform"]["dest"] == "{{wildcard(1)}}.{{i}}"
    assert [one.name for one in first.consumers] == ["C_08_x", "C_08_y"]
    assert declared.streams[-1].place == Place("other", None)


def test_merge_keys_and_labels() -> None:
    declared = read(
        "label: l\nstreams:\n- &a {name: A, max_age: 1d, metadata: {x: y}, consumers: [{name: C}]}\n"
        "- {<<: *a, name: B}\n"
    )
    a, b = declared.streams
    assert (b.name, b.config["max_age"]) == ("B", a.config["max_age"])
    assert (a.config["metadata"], a.label) == ({"x": "y"}, "l")
    assert ("metadata" in a.consumers[0].config, a.consumers[0].label) == (False, "l")
    assert declared.labels == {Place(): frozenset({"l"})}


@given(st.text(alphabet="\\{}ab.( )1"))
def test_escaped_text_is_itself(text: str) -> None:
    node = Node(variables.escape(text), "f", 1, variables.escape(text))
    assert variables.expand(node, {}).value == text


@given(st.integers(min_value=-1, max_value=(1 << 63) - 1), st.integers(min_value=-1, max_value=(1 << 62)))
def test_written_units_are_exact(age: int, size: int) -> None:
    age = max(age, 0)
    config = {"name": "A", "max_age": age, "max_bytes": size}
    document = {"streams": [write.declare_stream(config, [], {})]}
    (stream,) = read("".join(write.render_yaml(document))).streams
    assert stream.config == config


def test_unknown_keys_are_written_as_extra() -> None:
    config = {
        "name": "A",
        "magic": {"a": [1]},
        "placement": {"cluster": "c", "zone": "{{z}}"},
        "sources": [{"name": "S", "weight": 3}],
        "metadata": {"any": "thing", "_nats.level": "1"},
    }
    written = write.declare_stream(config, [{"name": "C", "durable_name": "C", "new": 1}], {})
    assert written["extra"] == {"magic": {"a": [1]}, "placement": {"zone": "\\{{z}}"}}
    (stream,) = read("".join(write.render_yaml({"streams": [written]}))).streams
    assert stream.config == {**config, "metadata": {"any": "thing"}}
    assert stream.consumers[0].config == {"name": "C", "durable_name": "C", "new": 1}


def test_a_changed_source_keeps_the_keys_that_jsctl_does_not_know() -> None:
    live = {
        "name": "S",
        "sources": [{"name": "A", "newer": 1}, {"name": "B", "opt_start_seq": 5, "newer": 2}],
    }
    declared = {"sources": [{"name": "A", "filter_subject": "a"}, {"name": "B"}, {"name": "C"}]}
    assert merge_stream(live, declared)["sources"] == [
        {"name": "A", "filter_subject": "a", "newer": 1},
        {"name": "B", "newer": 2},
        {"name": "C"},
    ]
