"""`server generate`: configurations that a real server takes."""

import json
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.support.run import Cli
from tests.support.servers import binary


def check(config: Path) -> None:
    """Have nats-server read a configuration."""
    done = subprocess.run([binary(), "-t", "-c", str(config)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_leaf_node(offline_cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "leaf"
    line = f"server generate {target} --source leaf --set jetstream=yes --set port=7422"
    result = offline_cli(f"{line} --json", status=0).json
    assert result == {"template": "leaf", "target": str(target), "files": ["leafnode.conf"]}
    check(target / "leafnode.conf")
    assert "7422" in (target / "leafnode.conf").read_text()
    assert "already exists" in offline_cli(line, status=64).err


def test_clusters(offline_cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "clusters"
    offline_cli(f"server gen {target} --source compose --set clusters=2 --set members=1", status=0)
    compose = yaml.safe_load((target / "docker-compose.yaml").read_text())
    assert set(compose["services"]) == {"n1.c1", "n1.c2"}
    check(target / "n1.c2.conf")
    context = json.loads((target / "contexts" / "c2-system.json").read_text())
    assert context["url"] == "nats://127.0.0.1:10100"


def test_questions(offline_cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "leaf"
    answers = ["leaf", "edge", ..., "/etc/edge.creds", ..., ..., False]
    asked = offline_cli(f"server generate {target}", answers=answers, status=0).asked
    assert asked[0] == "Select a Template" and asked[-1] == "Enable JetStream?"
    text = (target / "leafnode.conf").read_text()
    assert 'server_name: "edge"' in text and "/etc/edge.creds" in text and "jetstream" not in text


def test_servers_of_an_operator(offline_cli: Cli, tmp_path: Path) -> None:
    line = f"server generate {tmp_path}/server --source operator"
    assert "there are no operators in" in offline_cli(line, status=3).err
    offline_cli("auth operator add OP", status=0)
    offline_cli(f"{line} --set store_dir={tmp_path}/js --set resolver_dir={tmp_path}/jwt", status=0)
    check(tmp_path / "server" / "server.conf")
    offline_cli(f"server generate {tmp_path}/values --source kubernetes --set jetstream=no", status=0)
    values = yaml.safe_load((tmp_path / "values" / "values.yaml").read_text())
    system = values["config"]["merge"]["system_account"]
    assert list(values["config"]["merge"]["resolver_preload"]) == [system]
    assert "jetstream" not in values["config"]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("", "specify --source"),
        ("--source none", "there is no template 'none'"),
        ("--source leaf --set port", "write KEY=VALUE"),
        ("--source leaf --set none=1", "has no value 'none'"),
        ("--source leaf --set port=x", "port cannot be 'x'"),
    ],
)
def test_wrong_flags(offline_cli: Cli, tmp_path: Path, flags: str, words: str) -> None:
    outcome = offline_cli(f"server generate {tmp_path}/none {flags}", status=64)
    assert words in outcome.err and len(outcome.err.splitlines()) == 1
    assert not (tmp_path / "none").exists()


def test_what_is_next_names_the_folder(offline_cli: Cli, tmp_path: Path) -> None:
    out = offline_cli(
        ["server", "generate", str(tmp_path / "a leaf"), "--source", "leaf", "--defaults"], status=0
    ).out
    assert f"cd '{tmp_path / 'a leaf'}' && nats-server --config leafnode.conf" in " ".join(out.split())


BUNDLE = {
    "bundle.yaml": "description: A site\npost_scaffold: 'Start {{ .name }} in {{ ._target }}'\n",
    "form.yaml": """
        properties:
          - {name: name, description: Name of the site, default: north, required: true}
          - {name: servers, type: integer, default: 2}
          - {name: jetstream, type: bool, default: true}
          - {name: note, description: A note}
          - name: store
            conditional: input.jetstream == true
            properties: [{name: dir, default: data}, {name: most, default: 1GB}]
    """,
    "scaffold/_partials/context.got": '{"url": {{ . | quote }}}',
    "scaffold/empty.txt": "{{ .note }}",
    "scaffold/contexts/make.got": """
        {{- range $at := .servers | seq | split " " }}
          {{- $url := cat "nats://n" $at ":4222" | nospace -}}
          {{ render "_partials/context.got" $url | write (printf "contexts/n%s.json" $at) }}
        {{- end }}""",
    "scaffold/server.conf": """server_name: "{{ .name }}"
        port: -1
        {{- if .jetstream }}
        jetstream { store_dir: "{{ .store.dir }}", max_file: {{ .store.most }} }
        {{- else if eq .servers 1 }}
        # one
        {{- end }}
        """,
}


ALIASES = "a0: &a0 [1, 2]\n" + "".join(
    f"a{one}: &a{one} [{', '.join([f'*a{one - 1}'] * 9)}]\n" for one in range(1, 30)
)
"""Nine values of nine values, and so on."""


def bundle(folder: Path, files: Mapping[str, str] = BUNDLE) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_a_bundle_in_a_folder(offline_cli: Cli, tmp_path: Path) -> None:
    source, target = bundle(tmp_path / "site"), tmp_path / "out"
    result = offline_cli(
        f"server generate {target} --source {source} --set store.dir={tmp_path}/js", status=0
    )
    assert f"Start north in {target}" in result.out
    check(target / "server.conf")
    files = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    assert files == {"server.conf", "contexts/n1.json", "contexts/n2.json"}
    assert json.loads((target / "contexts" / "n2.json").read_text()) == {"url": "nats://n2:4222"}
    line = f"server generate {tmp_path}/plain --source {source} --set jetstream=no --set servers=1"
    assert offline_cli(f"{line} --json", status=0).json["files"] == ["contexts/n1.json", "server.conf"]
    assert "# one" in (tmp_path / "plain" / "server.conf").read_text()
    line = f"server generate {tmp_path}/asked --source {source}"
    assert "Name of the site" in offline_cli(line, answers=["south", ..., False, ...], status=0).asked
    assert '"south"' in (tmp_path / "asked" / "server.conf").read_text()


def test_a_bundle_in_a_zip_file(offline_cli: Cli, tmp_path: Path) -> None:
    for above in ("", "site-1.0/"):
        file = tmp_path / f"{len(above)}.zip"
        with zipfile.ZipFile(file, "w") as archive:
            for name, text in BUNDLE.items():
                archive.writestr(above + name, text)
        offline_cli(f"server generate {tmp_path / file.stem} --source {file} --defaults", status=0)
        assert '"north"' in (tmp_path / file.stem / "server.conf").read_text()


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"bundle.yaml": ""}, "has no description"),
        ({"bundle.yaml": "[1]"}, "{source}/bundle.yaml:1: bundle.yaml must be an object"),
        ({"form.yaml": "a: ["}, "{source}/form.yaml:2: "),
        ({"form.yaml": ALIASES}, "aliases expand to more than 10,000 values"),
        ({"scaffold/server.conf": "{{ nope .name }}"}, "server.conf of {source}: there is no function nope"),
        ({"scaffold/server.conf": "{{ if .name }}"}, "if .name has no end"),
        ({"scaffold/server.conf": "{{ index .name 99 }}"}, "index: string index out of range"),
        (
            {
                "scaffold/x": '{{ render "_partials/x" . }}',
                "scaffold/_partials/x": '{{ render "_partials/x" . }}',
            },
            "end",
        ),
        ({"scaffold/x": '{{ write "../x" "text" }}'}, "writes to ../x"),
        ({"form.yaml": "properties: [{name: a, conditional: 'x > 1'}]"}, "condition 'x > 1' is not known"),
        ({"form.yaml": "properties: [{name: a, conditional: input.b}]"}, "has no b"),
    ],
)
def test_a_bundle_that_is_not_valid(
    offline_cli: Cli, tmp_path: Path, files: dict[str, str], says: str
) -> None:
    source = bundle(tmp_path / "site", BUNDLE | files)
    error = offline_cli(f"server generate {tmp_path}/out --source {source} --defaults", status=64).err
    assert says.format(source=source) in error
    assert not (tmp_path / "out").exists()


def damaged_zip(folder: Path) -> Path:
    """Write an archive with compressed data that are not valid: zlib says so, not zipfile."""
    path = folder / "damaged.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bundle.yaml", "description: A site\n")
    data = bytearray(path.read_bytes())
    data[30 + len("bundle.yaml")] |= 0b110  # a kind of block that there is not
    path.write_bytes(data)
    return path


def test_folders_that_are_not_bundles(offline_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_text("text")
    for source, says in (
        ("./nope", "cannot read"),
        (str(tmp_path), "contains no bundle.yaml"),
        (str(tmp_path / "x.zip"), "x.zip: File is not a zip file; use a folder or a ZIP file"),
        (str(damaged_zip(tmp_path)), "cannot unpack"),
        ("ftp://127.0.0.1/x.zip", "is not an address of a bundle"),
        ("nope", "there is no template 'nope'"),
    ):
        assert says in offline_cli(f"server generate {tmp_path}/out --source {source}", status=64).err
    assert (
        "cannot fetch"
        in offline_cli(f"server generate {tmp_path}/out --source http://127.0.0.1:1/x.zip", status=1).err
    )
