"""Which servers can hold a further replica of a stream."""

from typing import Any

import pytest

from jsctl.jetstream.stream.replicas import count_replicas, list_free_servers

INFO: dict[str, Any] = {
    "config": {"num_replicas": 3},
    "cluster": {"name": "east", "leader": "n1", "replicas": [{"name": "n2"}]},
}
SERVERS: list[dict[str, Any]] = [
    {"name": "n1", "cluster": "east", "jetstream": True},
    {"name": "n2", "cluster": "east", "jetstream": True},
    {"name": "n3", "cluster": "east", "jetstream": True, "tags": ["disk:ssd"]},
    {"name": "n4", "cluster": "east", "jetstream": True, "tags": ["disk:hdd"]},
    {"name": "n5", "cluster": "east"},
    {"name": "w1", "cluster": "west", "jetstream": True},
]


@pytest.mark.parametrize(
    ("tags", "names"),
    [([], ["n3", "n4"]), (["DISK:ssd"], ["n3"]), (["!disk:ssd"], ["n4"]), (["disk:ssd", "gpu"], [])],
)
def test_a_server_is_free_that_holds_none_and_has_the_tags(tags: list[str], names: list[str]) -> None:
    info = {**INFO, "config": {"num_replicas": 3, "placement": {"tags": tags}}}
    assert list_free_servers(info, SERVERS) == names


@pytest.mark.parametrize(("noted", "wanted"), [("3", 3), ("1", 2), ("many", 2), ("", 2)])
def test_the_number_that_metadata_notes_is_wanted(noted: str, wanted: int) -> None:
    info = {**INFO, "config": {"num_replicas": 2, "metadata": {"jsctl.replicas": noted}}}
    assert count_replicas(info) == (wanted, 2)
