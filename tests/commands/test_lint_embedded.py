"""`jsctl lint` in files of YAML, Dockerfiles and units: what is run there is found, and changed as it is."""

import json
import re
from pathlib import Path
from random import Random

import pytest
import yaml

from jsctl.commands.compatibility.scripts import check
from tests.support.run import Cli

EDIT, EDITED = "stream edit A --max-msgs 1 -f", "stream edit A --max-msgs 1 -f --allow-data-loss"


STEPS = """\
name: nats rtt
jobs:
  test:
    steps:
      - name: nats rtt
        run: nats rtt
      - run: "nats rtt"
      - run: |
          set -e
          x=$(nats kv put A b c)
      - run: >-
          nats stream edit A
          --max-msgs 1
          -f
      - run: nats rtt  # jsctl disable=RTT_UNREACHABLE
    script: [nats rtt, 'nats rtt']
box:
  command: ["nats", "rtt"]
  entrypoint:
    - sh
    - -c
    - nats rtt
"""


def test_steps_in_yaml(tmp_path: Path, offline_cli: Cli) -> None:
    file = tmp_path / "ci.yml"
    file.write_text(STEPS)
    rows = offline_cli(f"lint {file} --json", status=1).json
    assert [row["line"] for row in rows] == [6, 7, 10, 12, 16, 16, 18, 22]
    _, changed = check(STEPS, "ci.yml")
    text = STEPS.replace("x=$(nats", "x=$(jsctl compat --").replace("nats stream", "jsctl stream")
    text = text.replace("          -f\n", "          -f --allow-data-loss\n")
    for line in ("run: nats rtt\n", 'run: "nats rtt"', "[nats rtt, 'nats rtt']", "- nats rtt\n"):
        text = text.replace(line, line.replace("nats", "jsctl compat --"))
    text = text.replace('["nats", ', '["jsctl", "compat", "--", ')
    assert changed == text
    chart = """\
{{- with .Values }}
box:
  name: {{ include "x" . | quote }}
  args: [sh, -c, "nats rtt"]
  command: ["nats", "rtt"]
{{- end }}
"""
    wanted = chart.replace('"nats"', '"jsctl", "compat", "--"').replace("nats rtt", "jsctl compat -- rtt")
    assert check(chart, "templates/test.yaml")[1] == wanted
    assert check("a: {{ b }}\nnats rtt\n", "template.yaml")[0], "what is not YAML is read as a script"


@pytest.mark.parametrize("style", [None, "'", '"', "|", ">"])
def test_a_step_in_each_style_of_yaml(style: str | None) -> None:
    random = Random(7)
    for _ in range(20):
        lines = random.choices(["set -e", "nats rtt", "echo nats rtt", "x=1 nats rtt -s 'a b'"], k=4)
        script = " && ".join(lines) if style in (None, ">") else "\n".join(lines)
        document = {"a": {"name": "nats rtt", "run": script}, "b": [{"run": "true"}]}
        text = yaml.dump(
            document,
            default_style=style,
            width=1000 if style == '"' else random.choice([20, 1000]),
            sort_keys=False,
        )
        found, changed = check(text, "steps.yaml")
        assert len(found) == len(re.findall(r"(?<!echo )nats rtt", script)), text
        wanted = re.sub(r"(?<!echo )nats rtt", "jsctl compat -- rtt", script)
        assert yaml.safe_load(changed) == {"a": {"name": "nats rtt", "run": wanted}, "b": [{"run": "true"}]}


def test_a_dockerfile(tmp_path: Path, offline_cli: Cli) -> None:
    text = """\
FROM natsio/nats-box AS nats
COPY nats rtt
# RUN nats rtt
RUN nats rtt
RUN --mount=type=cache,target=/x apk add curl && \\
    # nats rtt
    nats rtt
RUN <<EOF
nats rtt
EOF
HEALTHCHECK --interval=5s CMD nats rtt || exit 1
CMD ["nats", "rtt"]
"""
    file = tmp_path / "Dockerfile"
    file.write_text(text)
    assert [row["line"] for row in offline_cli(f"lint {file} --json", status=1).json] == [4, 7, 9, 11, 12]
    _, changed = check(text, "Dockerfile")
    wanted = re.sub(r"(?m)(?<!# )(?<!COPY )(?<!# RUN )\bnats rtt", "jsctl compat -- rtt", text)
    assert changed == wanted.replace('["nats", ', '["jsctl", "compat", "--", ')
    shell = "FROM a\nRUN [ -f x ] && nats rtt\n"
    assert check(shell, "Dockerfile")[1] == shell.replace("nats", "jsctl compat --")


LISTS = [
    (["nats", "rtt", "-s", "a b"], ["jsctl", "compat", "--", "rtt", "-s", "a b"]),
    (["/bin/nats", *EDIT.split()], ["jsctl", *EDITED.split()]),
    (["timeout", "5", "nats", *EDIT.split()], ["timeout", "5", "jsctl", *EDITED.split()]),
    (["sh", "-c", f"true; nats {EDIT}; true"], ["sh", "-c", f"true; jsctl {EDITED}; true"]),
    (
        ["kubectl", "exec", "-n", "nats", "box", "--", "nats", "rtt"],
        ["kubectl", "exec", "-n", "nats", "box", "--", "jsctl", "compat", "--", "rtt"],
    ),
    (["nats", "pub", "a", "nats rtt"], ["nats", "pub", "a", "nats rtt"]),
    (["kubectl", "exec", "-n", "nats", "rtt"], ["kubectl", "exec", "-n", "nats", "rtt"]),
]


@pytest.mark.parametrize(("words", "wanted"), LISTS)
@pytest.mark.parametrize("is_flow", [True, False])
@pytest.mark.parametrize("style", [None, "'", '"'])
def test_lists_of_words_are_changed(
    words: list[str], wanted: list[str], is_flow: bool, style: str | None
) -> None:
    for split in range(len(words)):
        box = {"command": words[:split], "args": words[split:]} if split else {"command": words}
        text = yaml.dump(
            {"box": {"name": "nats rtt", **box}, "end": ["nats", "rtt"]},
            default_flow_style=is_flow,
            default_style=style,
            sort_keys=False,
            width=30,
        )
        changed = check(text, "pod.yaml")[1]
        read = yaml.safe_load(changed)
        assert read["end"] == ["nats", "rtt"] and read["box"]["name"] == "nats rtt"
        assert [*read["box"]["command"], *read["box"].get("args", [])] == wanted, text
        assert check(changed, "pod.yaml") == ([], changed)
    text = f"FROM x\nRUN {json.dumps(words)}\nENTRYPOINT {json.dumps(words)}\n"
    assert check(text, "Dockerfile")[1] == text.replace(json.dumps(words), json.dumps(wanted))


def test_a_unit_of_systemd() -> None:
    unit = """\
[Service]
User=nats
Description=nats rtt
ExecStartPre=-/usr/bin/nats rtt
ExecStart=/bin/sh -c 'nats rtt \\
  && nats stream ls'
ExecStop=runuser -u nats rtt
"""
    found, changed = check(unit, "/etc/systemd/system/box.service")
    assert [(one.line, one.code) for one in found] == [(4, "RTT_UNREACHABLE"), (5, "RTT_UNREACHABLE")]
    assert changed == unit.replace("/usr/bin/nats rtt", "jsctl compat -- rtt").replace(
        "'nats rtt", "'jsctl compat -- rtt"
    )
