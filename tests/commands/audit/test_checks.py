"""`audit checks`."""

from tests.support.run import Cli


def test_checks(offline_cli: Cli) -> None:
    checks = offline_cli("audit checks --json", status=0).json
    assert [one["code"] for one in checks][:2] == ["ACCOUNTS_001", "CLUSTER_001"]
    assert checks[0]["configuration"]["connections"]["default"] == 90
    assert "subjects (1,000,000)" in offline_cli("audit ls", status=0).out
