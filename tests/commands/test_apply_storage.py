"""What servers have no room for is known before anything is changed."""

from pathlib import Path
from typing import Any

import pytest

from jsctl.jetstream.declared.step import Step, Target
from jsctl.jetstream.declared.storage import find_unplaceable
from tests.support import js
from tests.support.declared import Files
from tests.support.run import Cli
from tests.support.servers import Cluster, RealServer


def several(count: int, size: str) -> str:
    return ", ".join(f"{{name: S{n}, subjects: s{n}, max_bytes: {size}}}" for n in range(count))


def test_the_storage_of_a_server(offline_cli: Cli, tmp_path: Path) -> None:
    """What streams reserve is compared with what the server has left, if a login sees that; apply asks the
    server, diff only reads."""
    config = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}", max_file: 1GB, max_mem: 10MB }
accounts {
  A { jetstream: enabled, users: [ {user: a, password: a} ] }
  SEES { jetstream: enabled, users: [ {user: sees, password: sees} ]
    imports: [ {service: {account: SYS, subject: "$SYS.REQ.SERVER.PING.*"}} ] }
  SYS { users: [ {user: sys, password: sys} ]
    exports: [ {service: "$SYS.REQ.SERVER.PING.*", response: stream} ] }
}
system_account: SYS
"""
    server = RealServer(tmp_path, config).start()
    try:
        files = Files(offline_cli, tmp_path)
        files.cli.environ["NATS_URL"] = url = server.url_for("sees")
        js.stream(url, "THERE", "there", max_bytes=500_000_000)
        pairs = [
            ("{name: S0, subjects: s0, max_bytes: 600MB}", "1"),
            (several(6, "100MB"), "1"),
            (several(5, "100MB"), ""),
            ("{name: THERE, max_bytes: 1100MB}", "1"),
            ("{name: THERE, max_bytes: 900MB}", ""),
            ("{name: S0, subjects: s0, storage: memory, max_bytes: 11MB}", "1"),
        ]
        for text, is_refused in pairs:
            shown = files("diff", f"streams: [{text}]", status=1 if is_refused else 2)
            assert ("storage left for it" in shown.out) == bool(is_refused), shown
            assert shown.err == ""
        files.cli.environ["NATS_URL"] = url = server.url_for("a")
        lines = several(6, "100MB").replace("}, {", "}\n- {")
        for verb in ("diff", "apply --dry-run"):
            unknown = files(verb, f"streams:\n- {lines}", "--trace", status=2 if verb == "diff" else 0)
            assert "whether servers have room for 600 MiB that 6 streams reserve is not known" in unknown.err
            assert "STREAM.INFO" in unknown.err and "STREAM.CREATE" not in unknown.err
        refused = files("apply", f"streams:\n- {lines}", status=1)
        assert "streams.yaml:7: stream S5: max_bytes: the server has less file storage left" in refused.err
        assert js.ask(url, "STREAM.NAMES")["total"] == 0
    finally:
        server.stop()


@pytest.mark.cluster
def test_the_storage_of_a_cluster(offline_cli: Cli, tmp_path: Path) -> None:
    """New streams need servers with room for all, of others those that have them room for what is added, and
    so does the meta leader."""
    accounts = """
accounts {
  A { jetstream: enabled, users: [ {user: acc, password: acc} ]
    imports: [ {service: {account: SYS, subject: "$SYS.REQ.SERVER.PING.*"}} ] }
  BLIND { jetstream: enabled, users: [ {user: blind, password: blind} ] }
  SYS { users: [ {user: sys, password: sys} ]
    exports: [ {service: "$SYS.REQ.SERVER.PING.*", response: stream} ] }
}
system_account: SYS
"""
    limits = [f"max_file: {size}MB, max_mem: 10MB" for size in (100, 60, 40)]
    cluster = Cluster(tmp_path, limits=limits, accounts=accounts)
    try:
        url = cluster.start().url
        files = Files(offline_cli, tmp_path)
        files.cli.environ["NATS_URL"] = url

        def list_configs() -> list[Any]:
            return [each["config"] for each in js.ask_patiently(url, "STREAM.LIST")["streams"] or ()]

        def check(text: str, words: str) -> None:
            """Check that `words` are said of line 3 before anything is changed; none: that it is done."""
            before = list_configs()
            for verb in ("diff", "apply --dry-run", "apply --force"):
                status = 1 if words else 2 if verb == "diff" else 0
                shown = files(verb, f"streams:\n- {{name: OK, subjects: ok}}\n{text}", status=status)
                assert ("streams.yaml:3\n" in shown.out) == bool(words), shown
                assert words in shown.out, shown
            assert (list_configs() == before) == bool(words)

        check(
            "- {name: S, subjects: s, max_bytes: 110MB}", "servers have 100 MiB of file storage left for it"
        )
        check("- {name: S, subjects: s, max_bytes: 50MB, num_replicas: 3}", "servers have 40 MiB of file")
        check("- {name: S, subjects: s, storage: memory, max_bytes: 11MB}", "servers have 10 MiB of memory")
        check("buckets: [{name: B, max_bucket_size: 110MB}]", "servers have 100 MiB of file storage")
        check("object_buckets: [{name: B, max_bucket_size: 110MB}]", "servers have 100 MiB of file storage")
        check("- {name: ALL, subjects: all, max_bytes: 20MB, num_replicas: 3}", "")
        check(
            "- {name: ALL, subjects: all, max_bytes: 45MB}", "server n3 has 20 MiB of file storage left for"
        )
        check("- {name: ALL, subjects: all, max_bytes: 30MB}", "")
        check("- {name: N1, subjects: n1, max_bytes: 65MB}", "")
        check("- {name: N1, subjects: n1, max_bytes: 75MB}", "server n1 has 5.0 MiB of file storage left for")
        check("- {name: N1, subjects: n1, max_bytes: 65MB, num_replicas: 2}", "servers have 30 MiB of file")
        cannot = files.cli("stream edit * --max-bytes 80MB --force", status=1)
        assert "server n1 has 5.0 MiB" in cannot.out
        files.cli.environ["NATS_URL"] = url.replace("acc:acc", "blind:blind")
        big = "streams:\n- {name: OK, subjects: ok}\n- {name: S, subjects: s, max_bytes: 110MB}"
        unknown = files("diff", big, status=2)
        assert "streams.yaml:3: whether servers have room for 110 MiB" in unknown.err
        failed = files("apply", big, "--force", status=1)
        assert "nothing was changed" in failed.out
        assert js.ask_patiently(files.cli.environ["NATS_URL"], "STREAM.NAMES")["total"] == 0
    finally:
        cluster.stop()


def test_streams_go_to_servers_with_room() -> None:
    def step(name: str, size: int, replicas: int, **config: object) -> Step:
        after = {"name": name, "max_bytes": size, "num_replicas": replicas, **config}
        return Step("create", Target(None, "", ""), name, "", "", None, after)  # type: ignore[arg-type]

    servers = [
        {"name": f"{cluster}{n}", "cluster": cluster, "jetstream": True, "free": {"file": free, "memory": 0}}
        for cluster, sizes in {"A": (10, 10, 3), "B": (5, 5, 5)}.items()
        for n, free in enumerate(sizes)
    ]

    def refused(*steps: Step) -> list[str]:
        return [step.stream for step, _ in find_unplaceable(steps, servers, {})]

    assert refused(step("S", 5, 3)) == []  # in B
    assert refused(step("S", 6, 3), step("T", 6, 2), step("U", 6, 1), step("V", 4, 2)) == ["S", "U"]
    assert refused(step("S", 5, 3), step("T", 1, 3, placement={"cluster": "B"})) == ["T"]
    assert refused(step("S", 1, 1, storage="memory")) == ["S"]

    raised = step("S", 9, 1)._replace(
        action="change", before={"name": "S", "max_bytes": 2, "num_replicas": 1}
    )
    assert not find_unplaceable([raised], servers, {"S": {"name": "A", "leader": "A0"}})
    leading = [{**server, "leads": server["name"] == "A2"} for server in servers]
    [(_, reason)] = find_unplaceable([raised], leading, {"S": {"name": "A", "leader": "A0"}})
    assert reason == "server A2 has 3 B of file storage left for it"
