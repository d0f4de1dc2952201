"""`jsctl lint`: lines of scripts that have another outcome than with nats, and what to write."""

import re
import subprocess
from pathlib import Path
from random import Random

import pytest

from jsctl.commands.compatibility.scripts import check
from tests.support.run import Cli

SCRIPT = """\
#!/bin/bash
# nats request in a comment
nats --context hub req orders.count '' --timeout 2s
if ! nats s info ORDERS >/dev/null; then
  echo "nats rtt is not called"
fi
rev=$(nats kv put CONFIG "$KEY" v1)
nats kv put CONFIG "$KEY" v1
nats stream edit ORDERS --max-msgs 10 -f
nats con add ORDERS NEW --pull \\
  --defaults
while read -r line; do
  nats pub "orders.$line"
  nats pub orders.new "$line"
done < list.txt
nats rtt # jsctl disable=RTT_UNREACHABLE
# jsctl disable=DATA_LOSS, EXIT_STATUS
nats str edit ORDERS --max-age 1h --force
nats stream info X
if [ $? -eq 1 ]; then echo missing; fi
cat <<EOF
nats req heredoc
EOF
/usr/local/bin/nats stream ls && X=1 nats kv create C k v > out
nats req a b | head
"""


RUN = "nats stream edit A --max-msgs 1 -f"
RUN_BY_OTHERS = [
    'eval "{}"',
    "eval {}",
    "echo A | xargs {}",
    "echo A | xargs -I_ sh -c 'x; {} | cat'",
    "bash -c '{}'",
    "ssh host {}",
    'ssh -p 22 me@host "cd /x && {}"',
    "if ! sudo -u me {}; then",
    "timeout -k 1 5s {}",
    "env X=1 {}",
    "exec {}",
    "run {}",
    "retry 5 {}",
    ">out {}",
    "2>/dev/null >>out {}",
    "{}>out",
    "{}</dev/null",
    "{} 2>&1|tee out",
    "{}||true",
    "sudo timeout 5 env -i {} >/dev/null",
    "docker exec box {}",
    "find . -exec {} ';'",
    'bash -c "x=$({})"',
    'X="nats y" {}',
    "watch '{}'",
]


@pytest.mark.parametrize("line", RUN_BY_OTHERS)
def test_calls_that_other_commands_run(line: str) -> None:
    found, changed = check(f"true\n{line.format(RUN)}\n")
    assert [(one.line, one.code) for one in found] == [(2, "DATA_LOSS")]
    [write] = {one.write for one in found}
    assert ";" not in write
    assert write.startswith("jsctl stream edit A --max-msgs 1 -f") and "--allow-data-loss" in write
    before, after = line.split("{}")
    assert changed.startswith(f"true\n{before}{write}"), "the line is changed in its place"
    left = changed.removeprefix(f"true\n{before}{write}").rstrip()
    assert after.endswith(left) and check(changed) == ([], changed)


@pytest.mark.parametrize("line", ["echo {}", "sudo systemctl restart nats", "echo 'eval {}'", "# eval {}"])
def test_what_is_no_call(line: str) -> None:
    assert check(line.format(RUN)) == ([], line.format(RUN))


def test_it_names_lines(tmp_path: Path, offline_cli: Cli) -> None:
    file = tmp_path / "my nightly.sh"
    file.write_text(SCRIPT)
    outcome = offline_cli(["lint", str(file), "--json"], status=1)
    assert [(one["line"], one["code"], one["write"]) for one in outcome.json] == [
        (3, "REQUEST_UNANSWERED", "jsctl compat -- --context hub req orders.count '' --timeout 2s"),
        (7, "KV_OUTPUT", 'jsctl compat -- kv put CONFIG "$KEY" v1'),
        (9, "DATA_LOSS", "jsctl stream edit ORDERS --max-msgs 10 -f --allow-data-loss"),
        (10, "CONSUMER_EXISTS", "jsctl con add ORDERS NEW --pull \\\n  --defaults --update"),
        (13, "LOOP_STDIN", 'jsctl pub "orders.$line" -'),
        (20, "EXIT_STATUS", "if [ $? -ne 0 ]; then echo missing; fi"),
        (24, "KV_OUTPUT", "jsctl compat -- kv create C k v > out"),
    ]
    assert f"{file}:9: DATA_LOSS: nats: -f deletes" in offline_cli(["lint", str(file)], status=1).out
    diff = offline_cli(["lint", file.name, "--format", "diff"], status=64)
    assert diff.err.count("\n") == 1, "a file that is not there is one line"
    fine = tmp_path / "fine.sh"
    fine.write_text("nats stream ls\nnats pub orders.new hi\n")
    assert offline_cli(["lint", str(fine)], status=0).out == ""
    assert offline_cli("lint -", stdin="nats rtt\n", status=1).out.startswith("-:1: RTT_UNREACHABLE: ")


def test_its_diff_can_be_applied(tmp_path: Path, offline_cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nightly.sh").write_text(SCRIPT)
    diff = offline_cli("lint nightly.sh --format diff", status=1).out
    changed = check(SCRIPT)[1]
    assert check(changed)[0] == [], "nothing is left to change"
    (tmp_path / "changed.sh").write_text(changed)
    assert subprocess.run(["bash", "-n", "changed.sh"], check=False).returncode == 0
    assert [line for line in diff.splitlines() if line.startswith("+") and "jsctl" in line] == [
        f"+{line}" for line in changed.splitlines() if re.search(r"\bjsctl (?!disable)", line)
    ]


@pytest.mark.parametrize(
    "script",
    [
        "",
        "nats",
        "nats 'req",
        'x="$(nats req',
        "while read x; do nats pub a",
        "`nats req`",
        "done",
        "))",
        "<<",
    ],
)
def test_what_is_not_a_script_is_read(script: str) -> None:
    check(script)


IN_VARIABLES = """\
readonly NATS="${NATS:-/usr/local/bin/nats} --context hub"
CLI=$(command -v nats) OTHER=echo KEPT=nats
NATS_URL=nats://x
if $NATS kv put CFG nats v > out; then :; fi
all() { for s in a b; do "${CLI}" request "svc.$s" '' && continue; done; }
rev=`${NATS} kv put CFG a b`
$OTHER kv put CFG a b > out
$KEPT stream info X
"""
IN_VARIABLES_WITH_JSCTL = """\
readonly NATS="${NATS:-jsctl} --context hub"
CLI=$(command -v jsctl) OTHER=echo KEPT=nats
NATS_URL=nats://x
if $NATS compat -- kv put CFG nats v > out; then :; fi
all() { for s in a b; do "${CLI}" compat -- request "svc.$s" '' && continue; done; }
rev=`${NATS} compat -- kv put CFG a b`
$OTHER kv put CFG a b > out
$KEPT stream info X
"""


def test_variables_that_hold_nats() -> None:
    found, changed = check(IN_VARIABLES)
    assert [(one.line, one.code) for one in found] == [
        (4, "KV_OUTPUT"),
        (5, "REQUEST_UNANSWERED"),
        (6, "KV_OUTPUT"),
    ]
    assert changed == IN_VARIABLES_WITH_JSCTL and check(changed)[0] == []


EDIT, EDITED = "stream edit A --max-msgs 1 -f", "stream edit A --max-msgs 1 -f --allow-data-loss"
HELD = [
    (f"alias n='nats --context hub'\nn {EDIT}", f"alias n='jsctl --context hub'\nn {EDITED}"),
    ("alias nk='nats kv'\nnk put C a b > f", "alias nk='nats kv'\njsctl compat -- kv put C a b > f"),
    (f'N=(nats --context hub)\n"${{N[@]}}" {EDIT}', f'N=(jsctl --context hub)\n"${{N[@]}}" {EDITED}'),
    (f'A=(--context hub)\nnats "${{A[@]}}" {EDIT}', f'A=(--context hub)\njsctl "${{A[@]}}" {EDITED}'),
    (f'n() {{ nats -s "$U" "$@"; }}\nn {EDIT}', f'n() {{ jsctl -s "$U" "$@"; }}\nn {EDITED}'),
    (
        'nats() { command nats --context x "$@"; }\nnats req a b',
        'nats() { command jsctl --context x "$@"; }\nnats compat -- req a b',
    ),
    (f'again() {{ until "$@"; do :; done; }}\nagain nats {EDIT}', f"again jsctl {EDITED}"),
    ("NATS ?= nats -s x\nall:\n\t@$(NATS) req a b", "NATS ?= jsctl -s x\nall:\n\t@$(NATS) compat -- req a b"),
    (f"all:\n\t@nats {EDIT}\n\t-nats {EDIT}", f"all:\n\t@jsctl {EDITED}\n\t-jsctl {EDITED}"),
    (f'N="sudo -u x nats"\n$N {EDIT}', f'N="sudo -u x jsctl"\n$N {EDITED}'),
    (f"sudo -u nats nats {EDIT}", f"sudo -u nats jsctl {EDITED}"),
    (f"N=nats\ntimeout 5 $N {EDIT}", f"N=jsctl\ntimeout 5 $N {EDITED}"),
    (f"kubectl exec -n nats box -- nats {EDIT}", f"kubectl exec -n nats box -- jsctl {EDITED}"),
    (
        f"oc -n nats exec box -- sh -c 'nats {EDIT}'",
        f"oc -n nats exec box -- sh -c 'jsctl {EDITED}'",
    ),
    (f"trap 'nats {EDIT}' EXIT", f"trap 'jsctl {EDITED}' EXIT"),
    (f"ssh host sh <<'END-1'\nnats {EDIT}\nEND-1\ntrue", f"ssh host sh <<'END-1'\njsctl {EDITED}\nEND-1"),
    (f"cat <<'E'\nit's nats\nE\nnats {EDIT}", f"E\njsctl {EDITED}"),
    (f"wc <<< word\nnats {EDIT}", f"wc <<< word\njsctl {EDITED}"),
    (
        f'N="${{N:-${{HOME}}/bin/nats}}"\nr() {{ "$N" -s "$U" "$@"; }}\nr {EDIT}',
        f'N="${{N:-jsctl}}"\nr() {{ "$N" -s "$U" "$@"; }}\nr {EDITED}',
    ),
    (
        f'C=(docker compose)\nn=("${{C[@]}}" run box nats -s x)\n"${{n[@]}}" {EDIT}',
        f'n=("${{C[@]}}" run box jsctl -s x)\n"${{n[@]}}" {EDITED}',
    ),
    (
        f'N="kubectl exec -n nats box -- nats"\n$N {EDIT}',
        f'N="kubectl exec -n nats box -- jsctl"\n$N {EDITED}',
    ),
    (
        f'n() {{ kubectl -n nats exec box -- nats "${{@}}"; }}\nn {EDIT}',
        f'n() {{ kubectl -n nats exec box -- jsctl "${{@}}"; }}\nn {EDITED}',
    ),
    (
        f'try() {{\n  local c="$2"\n  o=$(eval "$c" 2>&1)\n}}\ntry x "nats {EDIT}" y',
        f'try x "jsctl {EDITED}" y',
    ),
    (
        'g="nats request x \'\'"\nkubectl exec box -- sh -c "$g"',
        'g="jsctl compat -- request x \'\'"\nkubectl exec box -- sh -c "$g"',
    ),
    (
        'g=\'nats kv put R "$k" v\'\nsh -c "$g > f"',
        'g=\'jsctl compat -- kv put R "$k" v\'\nsh -c "$g > f"',
    ),
    (f'"$HOME/bin/nats" {EDIT}', f'"jsctl" {EDITED}'),
    (f"'/opt/x/nats' {EDIT}", f"'jsctl' {EDITED}"),
    ("cat f | while read -r x; do nats pub a; done", "cat f | while read -r x; do jsctl pub a -; done"),
    ("nats kv put C k v &> log", "jsctl compat -- kv put C k v &> log"),
    ("nats sub x; rc=$?\ntrue\n\n\n[ $rc -eq 1 ]", "nats sub x; rc=$?\ntrue\n\n\n[ $rc -ne 0 ]"),
    ("nats sub x || r=$?\n(( ${r} != 1 ))", "nats sub x || r=$?\n(( ${r} == 0 ))"),
    ("nats sub x\ncase $? in\n1) a;;\nesac", "nats sub x\ncase $? in\n[1-9]*) a;;\nesac"),
]


@pytest.mark.parametrize(("script", "wanted"), HELD)
def test_names_that_stand_for_nats_and_ways_to_run_it(script: str, wanted: str) -> None:
    found, changed = check(script)
    assert found and wanted in changed
    assert check(changed) == ([], changed)


@pytest.mark.parametrize(
    "script",
    [
        f'log() {{ echo "$@"; }}\nlog nats {EDIT}',
        f"cat > f <<E\nnats {EDIT}\nE",
        f"alias n='nats'\necho n {EDIT}",
        "x=$?\n\n[ $x = 1 ]\nnats stream ls",
        "case $1 in 1) nats stream ls;; esac",
        "nats server check connection; [ $? -eq 1 ]",
        "nats kv put C k v &> /dev/null",
        "systemctl -n nats stream edit -f",
    ],
)
def test_what_only_looks_like_a_call(script: str) -> None:
    assert check(script) == ([], script)


@pytest.mark.parametrize("seed", range(20))
def test_scripts_of_many_lines_are_clean_once_changed(
    seed: int, tmp_path: Path, offline_cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The diff applies, the result has nothing left to find, and is still a script."""
    random = Random(seed)
    lines = [line.format(RUN) for line in RUN_BY_OTHERS if not line.endswith("then")]
    parts = [script for script, _ in HELD if "\t" not in script and "nats()" not in script]
    script = "\n".join([SCRIPT, *random.sample([*parts, *lines], 12)])
    monkeypatch.chdir(tmp_path)
    Path("a.sh").write_text(f"{script}\n")
    diff = offline_cli("lint a.sh --format diff", status=1).out
    subprocess.run(["patch", "-sp1"], input=diff, text=True, check=True)
    assert offline_cli("lint a.sh", status=0).out == ""
    assert subprocess.run(["bash", "-n", "a.sh"], check=False).returncode == 0


@pytest.mark.parametrize(
    "glued", ["nats rtt>out", "nats rtt</dev/null", "nats rtt 2>err", "nats rtt&", "nats rtt;"]
)
def test_a_redirection_without_a_blank(glued: str) -> None:
    assert [one.code for one in check(glued)[0]] == ["RTT_UNREACHABLE"]


def test_a_pipe_that_keeps_the_status() -> None:
    assert check("nats rtt | cat\n")[0] == []
    assert [one.line for one in check("set -euo pipefail\nnats rtt | cat\n")[0]] == [2]


def test_a_case_on_the_status() -> None:
    script = "nats stream info A\ncase $? in\n  0) echo there ;;\n  1) echo missing ;;\nesac\n"
    [found] = check(script)[0]
    assert (found.line, found.code, found.write) == (4, "EXIT_STATUS", "[1-9]*) echo missing ;;")


OF_OTHERS = [
    "sudo -u nats {}",
    "sudo -nu nats {}",
    "sudo --user nats {}",
    "doas -u nats {}",
    "runuser -u nats {}",
    "runuser nats {}",
    "su - nats -c '{}'",
    "gosu nats {}",
    "systemd-run -p User=nats {}",
    "systemd-run --uid nats {}",
    "env NAME=nats {}",
    "docker exec nats {}",
    "docker exec -itu nats {}",
    "docker compose exec -T nats {}",
    "docker compose restart nats {}",
    "kubectl exec -n nats {}",
    "kubectl exec nats {}",
    "kubectl -n nats exec nats -- {}",
    "kubectl get pods -n nats {}",
    "ssh nats {}",
    "timeout -k nats 5 {}",
    "NAME=nats; sudo -u $NAME {}",
]
"""Ways to run other tools, in which a user, a host, a container or a namespace is called nats."""


@pytest.mark.parametrize("line", OF_OTHERS)
def test_users_and_places_called_nats(line: str) -> None:
    other = line.format("rtt")
    assert check(other) == ([], other)
    if "exec -n" not in line and "-itu" not in line and "get" not in line and "restart" not in line:
        found, changed = check(line.format("nats rtt"))
        assert [one.code for one in found] == ["RTT_UNREACHABLE"]
        assert changed == line.format("jsctl compat -- rtt")
