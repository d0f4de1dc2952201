"""`exporter --config`: flags from a file."""

from pathlib import Path

from tests.commands.exporter.test_exporter import parse, value
from tests.support import js
from tests.support.run import Cli


def test_flags_and_contexts_of_a_file(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>")
    for name in ("east", "west"):
        cli(f"context add {name} --server {url}", status=0)
    del cli.environ["NATS_URL"]
    file = tmp_path / "exporter.yaml"
    file.write_text(
        "context: [east, west]\ntextfile: out.prom\ncount: 1\ninterval: 5s\nconsumers: false\nprefix: nats\n"
        "names: jetstream\n"
    )
    cli(f"exporter --config {file}", status=0)
    samples = parse((tmp_path / "out.prom").read_text())
    assert value(samples, "nats_stream_total_messages", stream_name="ORDERS", context="east") == 0
    assert all(name.startswith("nats_") for name in samples)
    # What is on the command line replaces a key.
    words = f"exporter --config {file} --textfile - --names jsctl --context west"
    samples = parse(cli(words, status=0).out)
    assert [own["context"] for own, _ in samples["jsctl_up"]] == ["west"]


def test_a_login_of_a_file(cli: Cli, url: str, tmp_path: Path) -> None:
    address = cli.environ.pop("NATS_URL")
    file = tmp_path / "exporter.json"
    file.write_text(f'{{"server": "{address}", "textfile": "-", "count": 1}}')
    assert value(parse(cli(f"exporter --config {file}", status=0).out), "jsctl_up") == 1
    cli.environ["NATS_URL"] = "nats://127.0.0.1:1"
    assert value(parse(cli(f"exporter --config {file}", status=4).out), "jsctl_up") == 0


def test_errors_name_file_and_line(offline_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "exporter.yaml"
    for text, says in (
        (
            "count: 1\nintervall: 5s\n",
            "exporter.yaml:2: the configuration has no key 'intervall'; did you mean",
        ),
        ("count: none\n", "exporter.yaml:1: count: 'none' is not a whole number\n"),
        ("consumers: maybe\n", "exporter.yaml:1: consumers: 'maybe' is not true or false\n"),
        ("names: [a]\n", "exporter.yaml:1: names must be text"),
        ("names: some\n", "exporter.yaml:1: names: 'some' is not one of"),
        ("config: other.yaml\n", "has no key 'config'"),
        ("json: true\n", "has no key 'json'"),
        ("web-config: web.yml\ncount: 1\n", f"{tmp_path}/web.yml"),
        ("- a\n", "holds no configuration"),
        ("a: [\n", "exporter.yaml"),
    ):
        file.write_text(text)
        err = offline_cli(f"exporter --config {file}", status=64).err
        assert says in err and len(err.splitlines()) == 1, (text, err)
    assert "no.yaml" in offline_cli(f"exporter --config {tmp_path}/no.yaml", status=64).err
