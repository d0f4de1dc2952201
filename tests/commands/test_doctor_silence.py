"""`doctor` where there is nothing to ask, and of unknown codes."""

from pathlib import Path

from tests.support.doctor import Patient, hub, running
from tests.support.run import Cli


def test_an_account_without_jetstream_is_not_called_well(tmp_path: Path) -> None:
    patient = Patient(tmp_path)
    with running(tmp_path, hub(more="NONE: { users: [{user: none, password: none}] }")) as [server]:
        patient.context("none", server.url_for("none"))
        out = patient.cli("doctor --context none", status=0).out
        assert "none: its account has no JetStream" in out
        assert "Only the connection was checked" in out
        assert "Nothing is wrong" not in out


def test_an_unknown_code_points_to_the_list(offline_cli: Cli) -> None:
    assert (
        "no code 'NOPE'; jsctl doctor --rules lists them"
        in offline_cli("doctor --ignore NOPE", status=64).err
    )
