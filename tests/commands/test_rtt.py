"""`rtt`."""

from tests.support.run import Cli


def test_rtt(cli: Cli) -> None:
    out = cli("rtt 2", status=0).out
    assert out.startswith("nats://") and ": " in out and "@" not in out
    result = cli("rtt --json", status=0).json
    assert result[0]["results"][0]["rtt"] > 0


def test_every_address_of_a_name(cli: Cli, url: str) -> None:
    named = url.replace("127.0.0.1", "localhost")
    result = cli(f"rtt --json -s {named}", status=0).json
    assert "//127.0.0.1:" in " ".join(r["address"] for r in result[0]["results"])


def test_one_of_two_is_offline(cli: Cli, url: str) -> None:
    outcome = cli(f"rtt -s {url},nats://127.0.0.1:1", status=0)
    assert "failed" in outcome.out and "Failed to compute rtt for nats://127.0.0.1:1" in outcome.err


def test_nobody_lets_us_in(cli: Cli, url: str) -> None:
    wrong = url.replace("//t", "//nobody")
    assert cli(f"rtt -s {wrong}", status=5).err.count("\n") == 1
    assert cli(f"rtt -s {wrong},{wrong}", status=5).out == ""
    assert cli("rtt -s nats://127.0.0.1:1", status=4).err.count("\n") == 1
    cli("rtt 0", status=64)
