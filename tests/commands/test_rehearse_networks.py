"""`jsctl rehearse --archive`: the two networks that come with jsctl, and ten changes of which five break."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from jsctl.localserver import rehearsal
from jsctl.localserver.originals import describe_archive
from jsctl.monitor.audit.archive import Archive
from tests.support.run import Cli
from tests.support.servers import binary

pytestmark = [pytest.mark.long, pytest.mark.cluster]


def gather(folder: Path, name: str, lines: list[str], hub: str = "hub") -> Iterator[Path]:
    """Start a network, run lines there, and yield the folder of an archive and an export of its hub, when it
    is gone. hub: the context of the export."""
    cli = Cli(folder / "home")
    cli(f"server network up {name} --port 0", status=0)
    try:
        place = {"XDG_CONFIG_HOME": cli("server network ls --json", status=0).json[0]["folder"] + "/contexts"}
        for line in lines:
            cli(line, status=0, environ=place)
        archive = ["audit", "gather", "--context", "system", "--no-server-profiles", "-o"]
        cli([*archive, str(folder / "audit.zip")], status=0, environ=place)
        cli(["export", "config", "--context", hub, "--output", str(folder / "hub.yaml")], environ=place)
    finally:
        cli(f"server network down {Path(name).stem} --force", status=0)
    dump = [{"sequence": n, "subject": "orders.1", "data": str(n)} for n in range(1, 41)]
    (folder / "orders.jsonl").write_text("".join(json.dumps(each) + "\n" for each in dump))
    yield folder


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    lines = [
        "stream add ORDERS --subjects orders.> --defaults --context hub",
        "consumer add ORDERS C --pull --defaults --context hub",
        "kv add B --context hub",
        "stream add LOCAL --subjects local.> --max-bytes 1GB --defaults --context leaf",
    ]
    yield from gather(tmp_path_factory.mktemp("pair"), "hub-leaf", lines)


@pytest.fixture(scope="module")
def spokes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("spokes")
    mirror = folder / "mirror.json"
    mirror.write_text('{"name": "M", "mirror": {"name": "B", "external": {"api": "$JS.spoke-1.API"}}}')
    lines = [
        "stream add ORDERS --subjects orders.> --replicas 3 --cluster cluster-hub --defaults --context hub",
        "stream add B --subjects b.> --replicas 3 --defaults --context spoke-1",
        f"stream add M --config {mirror} --context hub",
    ]
    yield from gather(folder, "hub-spokes", lines)


_SHARING = """
name: sharing
accounts:
  SYS: {system: true, users: {admin: admin}}
  APP:
    jetstream: true
    users: {app: app}
    exports:
    - {service: $JS.API.>}
    - {service: $JS.FC.>}
    - {service: echo.*, response_type: stream}
    - {stream: copies.>, accounts: [OTHER]}
    mappings: {old.*: 'orders.{{wildcard(1)}}'}
  OTHER:
    jetstream: true
    users: {other: other}
    imports:
    - {service: {account: APP, subject: $JS.API.>}, to: APP.API.>}
    - {service: {account: APP, subject: $JS.FC.ORDERS.>}}
    - {stream: {account: APP, subject: copies.>}}
  BETWEEN:
    users: {between: between}
    exports: [{service: between}]
clusters:
  east: {servers: [e1]}
  west: {servers: [w1]}
gateways: [east, west]
"""


@pytest.fixture(scope="module", params=["", "operator: OP\n"])
def sharing(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A supercluster whose accounts share, with and without an operator."""
    folder = tmp_path_factory.mktemp("sharing")
    file = folder / "sharing.yaml"
    file.write_text(_SHARING + request.param)
    yield from gather(
        folder, str(file), ["stream add ORDERS --subjects orders.> --defaults --context east-APP"], "east-APP"
    )


@pytest.mark.parametrize(("prefix", "finding"), [("", "DELIVERY_NOT_IMPORTED"), (", deliver: copies", "")])
def test_what_accounts_share_is_copied(tmp_path: Path, sharing: Path, prefix: str, finding: str) -> None:
    """A mirror of another account works in the copy as in the original, or does not."""
    change = tmp_path / "change.yaml"
    external = f"{{api: APP.API{prefix}}}"
    change.write_text(
        f"context: west-OTHER\nstreams:\n- {{name: M, mirror: {{name: ORDERS, external: {external}}}}}\n"
    )
    line = ["rehearse", str(change), "--archive", str(sharing / "audit.zip"), "--context", "east-APP"]
    line += ["--sample", str(sharing / "orders.jsonl"), "--json"]
    done = Cli(tmp_path / "config")(line, status=1 if finding else 0).json
    assert {each["code"] for each in done["findings"]["new"]} == {*filter(None, [finding])}
    assert done["left_out"] == ["permissions of users, which archives lack"]
    assert done["new_streams"] == ["west-OTHER > M"] and done["servers"]["count"] == 2


def test_what_an_archive_lacks_is_said(
    tmp_path: Path, sharing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearsal, "RECOVERY_SECONDS", 1.0)  # the only server with the stream is killed
    short, manifest = tmp_path / "short.zip", "capture/misc/manifest.json"
    with zipfile.ZipFile(sharing / "audit.zip") as archive, zipfile.ZipFile(short, "w") as written:
        known = json.loads(archive.read(manifest))
        kept = {name: known[name] for name in known if not {"gateways", "leafs"} & {*name.split("/")}}
        written.writestr(manifest, json.dumps(kept))
        for name in archive.namelist():
            if name in kept:
                written.writestr(name, archive.read(name))
    done = Cli(tmp_path / "config")(["rehearse", "--stop", "e1", "--archive", str(short), "--json"]).json
    assert {"gateways, which the archive lacks", "leaf nodes, which the archive lacks"} <= {*done["left_out"]}


def test_imports_that_are_invalid_are_said(tmp_path: Path, sharing: Path) -> None:
    """As servers describe an import whose export was removed while they ran."""
    file = tmp_path / "invalid.zip"
    with zipfile.ZipFile(sharing / "audit.zip") as archive, zipfile.ZipFile(file, "w") as written:
        for name in archive.namelist():
            text = archive.read(name)
            if name.endswith(".json") and b'"imports"' in text:
                document = json.loads(text)
                for imported in document["data"].get("imports", ()):
                    imported["invalid"] = imported["subject"] == "copies.>"
                text = json.dumps(document).encode()
            written.writestr(name, text)
    with Archive(str(sharing / "audit.zip")) as before, Archive(str(file)) as after:
        known = describe_archive(before, "", 1).left_out
        [said] = [one for one in describe_archive(after, "", 1).left_out if one not in known]
    assert said == "OTHER imports copies.> from account APP, which is invalid"


@pytest.mark.parametrize(
    ("change", "flags", "broke"),
    [
        ("streams: [{name: ORDERS, description: x}]", "", ""),
        ("streams: [{name: ORDERS, max_msgs: 10}]", "", "ORDERS"),
        ("streams: [{name: OTHER, subjects: [orders.eu]}]", "", "overlaps"),
        ("context: leaf-server-ACC\nstreams: [{name: MORE, subjects: [more]}]", "", ""),
        ("domain: leaf\nstreams: [{name: LOCAL, max_bytes: 2GB}]", "--streams {}/hub.yaml", ""),
        ("streams: [{name: ORDERS, max_msgs: 100}]", "--scale 0.1", "ORDERS"),
        ("streams: [{name: ORDERS, max_msgs: 1000}]", "--scale 0.1", ""),
        ("", "--stop hub-server", "not in time"),
    ],
)
def test_changes_of_the_pair(
    tmp_path: Path, pair: Path, change: str, flags: str, broke: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if flags.startswith("--stop"):
        monkeypatch.setattr(rehearsal, "RECOVERY_SECONDS", 1.0)  # nothing else holds the streams of the hub
    rehearse_change(tmp_path, pair, change, flags.format(pair), broke)


def test_changes_of_the_spokes(tmp_path: Path, spokes: Path) -> None:
    rehearse_change(tmp_path, spokes, "streams: [{name: ORDERS, max_age: 1d}]", "", "")
    rehearse_change(tmp_path, spokes, "streams: [{name: ORDERS, num_replicas: 5}]", "", "Refused")


def rehearse_change(folder: Path, source: Path, change: str, flags: str, broke: str) -> None:
    """Rehearse a change. broke: what is said; empty if nothing is to break."""
    cli = Cli(folder / "config")
    files = [str(folder / "change.yaml")] if change else []
    (folder / "change.yaml").write_text(change)
    line = ["rehearse", *files, "--archive", str(source / "audit.zip"), *flags.split()]
    done = cli([*line, "--sample", str(source / "orders.jsonl")], status=1 if broke else 0)
    assert ("something broke" if broke else "nothing broke") in done.out and broke in done.out, done
    assert ("placement of ORDERS" in done.out) == ("Servers: 9" in done.out)


def test_servers_of_an_archive_get_another_version(tmp_path: Path, pair: Path) -> None:
    (tmp_path / "nats-server").symlink_to(binary())
    line = ["rehearse", "--archive", str(pair / "audit.zip"), "--server-version", str(tmp_path), "--json"]
    done = Cli(tmp_path / "config")(line, status=0).json
    assert done["servers"]["count"] == 2 and done["servers"]["not_kept"] == []
    names = [row["name"] for row in done["streams"]]
    assert names == ["hub-server-ACC > KV_B", "hub-server-ACC > ORDERS", "leaf-server-ACC > LOCAL"]


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--archive", "{}/hub.yaml"], "not an archive"),
        (["--archive", "{}/audit.zip", "--context", "no"], "hub-server-ACC, leaf-server-ACC"),
        (["--archive", "{}/audit.zip", "--messages", "3"], "--archive cannot be used with --messages"),
        (["--archive", "{}/audit.zip", "--streams", "{}/orders.jsonl"], "unknown key 'sequence'"),
        (["--sample", "{}/orders.jsonl"], "need --archive"),
    ],
)
def test_bad_input(tmp_path: Path, pair: Path, flags: list[str], says: str) -> None:
    line = ["rehearse", "--stop", "hub-server", *(each.format(pair) for each in flags)]
    refused = Cli(tmp_path / "config")(line, status=64)
    assert says in refused.err and refused.err.count("\n") == 1
