"""`schema info`."""

import json
import re

import pytest

from jsctl.schema import catalog
from jsctl.schema.outputs import load_outputs
from tests.support.run import Cli

_STREAM = "io.nats.jetstream.api.v1.stream_configuration"


@pytest.mark.parametrize("name", [name for name in catalog.list_names() if name not in load_outputs()])
def test_each_schema_is_whole(name: str, offline_cli: Cli) -> None:
    schema = offline_cli(["schema", "info", name, "--json"], status=0).json
    assert schema["title"] == name and schema["description"]
    text = json.dumps(schema)
    for reference in re.findall(r"#/definitions/(\w+)", text):
        assert reference in schema["definitions"]


def test_info(offline_cli: Cli) -> None:
    short = offline_cli("schema info stream_configuration --json", status=0).json
    assert short["title"] == _STREAM and short["additionalProperties"] is False
    assert short["properties"]["max_age"]["description"]
    assert "title: io.nats" in offline_cli("schema info stream_configuration --yaml", status=0).out
    assert "did you mean" in offline_cli("schema info stream_configuratio", status=3).err
