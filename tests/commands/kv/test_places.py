"""Buckets in other domains, mirrors and sources of buckets, and buckets of a cluster."""

import pytest

from tests.support import js
from tests.support.lagging import Lagging
from tests.support.run import Cli
from tests.support.waiting import wait_for


def is_there(cli: Cli, line: str, value: str) -> bool:
    return cli(f"kv get {line} --raw").out == value


def test_mirror_and_source_of_the_same_domain(cli: Cli, url: str) -> None:
    cli("kv add A", status=0)
    cli("kv put A k v", status=0)
    cli("kv add M --mirror A", status=0)
    cli("kv add S --source A", status=0)
    js.stream(
        url, "KV_P", mirror={"name": "KV_A"}, allow_direct=True, mirror_direct=True
    )  # as others make it
    for bucket in ("M", "S", "P"):
        wait_for(lambda bucket=bucket: is_there(cli, f"{bucket} k", "v"), f"{bucket} has the value")  # type: ignore[misc]
        assert cli(f"kv ls {bucket}", status=0).out == "k\n"
    for bucket in ("M", "P"):
        cli(f"kv put {bucket} from.{bucket} x", status=0)
        assert is_there(cli, f"A from.{bucket}", "x"), "a mirror's values are written to its origin"
    assert "Origin Bucket: A" in cli("kv info M", status=0).out
    assert "Source Bucket: A" in cli("kv info S", status=0).out
    assert cli("kv info M --json", status=0).json["config"]["mirror"] == {"name": "A"}
    assert "is a mirror; compact its origin A" in cli("kv compact M", status=64).err
    wait_for(lambda: is_there(cli, "M from.P", "x"), "the mirror has it, too")
    cli("kv edit M --no-mirror --force", status=0)
    cli("kv put M own x", status=0)
    assert cli("kv ls M", status=0).out == "from.M\nfrom.P\nk\nown\n"
    assert "not found" in cli("kv get A own", status=3).err
    warned = cli("kv edit P --no-mirror --dry-run", status=2).err
    assert "stored under the name of A" in warned


def test_buckets_of_two_domains(hub_cli: Cli) -> None:
    cli = hub_cli
    cli("kv add C --js-domain hub --history 3", status=0)
    cli("kv put C k v --js-domain hub", status=0)
    cli("kv add C --mirror C@hub --history 3 --js-domain leaf", status=0)
    cli("kv add D --mirror C --mirror-domain hub --js-domain leaf", status=0)
    cli("kv add ALL --source C@hub --js-domain leaf", status=0)
    for bucket in ("C", "D", "ALL"):
        line = f"{bucket} k --js-domain leaf"
        wait_for(lambda line=line: is_there(cli, line, "v"), f"{bucket} has the value")  # type: ignore[misc]
    cli("kv put C two 2 --js-domain leaf", status=0)
    assert is_there(cli, "C two --js-domain hub", "2"), "written to the origin"
    cli("kv put D three 3 --js-domain leaf", status=0)
    assert is_there(cli, "C three --js-domain hub", "3")
    cli("kv put ALL own x --js-domain leaf", status=0)
    assert "not found" in cli("kv get C own --js-domain hub", status=3).err
    wait_for(lambda: is_there(cli, "C three --js-domain leaf", "3"), "the mirror has it, too")
    assert cli("kv diff C@hub C@leaf", status=0).out.startswith("C@hub and C@leaf hold the same values")
    assert cli("kv diff C ALL --from-domain hub --to-domain leaf", status=2).out
    cli("kv del C two --force --js-domain leaf", status=0)
    assert "was deleted" in cli("kv get C two --js-domain hub", status=3).err
    wait_for(lambda: cli("kv get C two --js-domain leaf").status == 3, "the mirror knows")
    assert len(cli("kv history C two --js-domain leaf --json", status=0).json) == 2
    assert "$JS.hub.API" in cli("kv info C --js-domain leaf", status=0).out


@pytest.mark.slow
@pytest.mark.cluster
def test_a_bucket_of_a_cluster(cluster_cli: Cli) -> None:
    cli = cluster_cli
    cli("kv add R --replicas 3 --history 2", status=0)
    for number in range(30):
        cli(f"kv put R k.{number:02} {number}", status=0)
        assert cli(f"kv get R k.{number:02} --raw", status=0).out == str(number), "what was stored is seen"
    assert len(cli("kv get R '>' --json", status=0).json) == 30
    assert len(cli("kv ls R", status=0).out.split()) == 30
    assert "Replica" in cli("kv info R", status=0).out
    cli("kv purge R '>' --force", status=0)
    assert cli("kv ls R --json", status=0).json == []


def test_a_replica_that_lags_leaves_nothing_out(cli: Cli, url: str) -> None:
    js.bucket(url, "S", max_msgs_per_subject=2)
    js.publish_all(url, ((f"$KV.S.k.{number:03}", b"%d" % number) for number in range(40)))
    with Lagging(url) as lagging:
        while not lagging.short:
            shown = cli("kv get S 'k.*' --json --js-api-prefix LAG", status=0).json
            assert [one["value"] for one in shown] == [str(number) for number in range(40)]
