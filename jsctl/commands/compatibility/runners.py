"""Commands that run the rest of their line, and which of their words is the program."""

import re
from collections.abc import Sequence
from typing import NamedTuple

RUNNERS = frozenset(
    (
        *("eval", "exec", "command", "time", "sh", "bash", "dash", "zsh", "ksh", "su", "sudo", "doas", "env"),
        *("timeout", "nice", "ionice", "nohup", "setsid", "stdbuf", "flock", "watch", "xargs", "parallel"),
        *("find", "ssh", "docker", "podman", "kubectl", "oc", "nerdctl", "docker-compose", "trap", "runuser"),
        *("gosu", "su-exec", "chroot", "nsenter", "systemd-run", "strace", "chronic", "run", "retry"),
        *("unbuffer", "tini", "dumb-init", "hyperfine", "tmux", "screen", "entr", "taskset", "setpriv", "sg"),
        *("caffeinate", "lxc", "incus", "crictl", "multipass", "vagrant", "distrobox", "toolbox", "nomad"),
    )
)
"""Commands that run the rest of their line, or a text in quotes."""


class _Form(NamedTuple):
    """The words of a runner before the program. letters, options: those of its options that take a value.
    names: how many other words come first, such as a user or a host. verbs: of those that run something, one
    of which is the first of these words, or behind a word of `nouns`; empty if it has no verbs."""

    letters: str = ""
    options: frozenset[str] = frozenset()
    names: int = 0
    verbs: frozenset[str] = frozenset()
    nouns: frozenset[str] = frozenset()


def _list_options(text: str) -> frozenset[str]:
    return frozenset(f"--{name}" for name in text.split())


_CONTAINERS = _Form(
    "uwevpfHclmhantx",
    _list_options(
        "user workdir env env-file name network net volume publish entrypoint platform host context file"
        " project-name project-directory label memory hostname link mount restart add-host index profile cpus"
        " pull volumes-from dns log-driver log-opt detach-keys expose gpus ip ipc pid runtime shm-size tmpfs"
        " ulimit userns cap-add cap-drop device cidfile group-add health-cmd stop-signal stop-timeout pod"
    ),
    2,
    frozenset(("exec", "run", "create")),
    frozenset(("compose", "container", "service")),
)
_CLUSTERS = _Form(
    "nclofs",
    _list_options(
        "namespace container context cluster server user as as-group kubeconfig selector output filename"
        " image restart pod-running-timeout token env labels overrides serviceaccount request-timeout port"
        " target"
    ),
    2,
    frozenset(("exec", "run", "debug", "rsh")),
)
_MACHINES = _Form("", _list_options("user group cwd env project"), 2, frozenset(("exec", "run", "enter")))
_FORMS = {
    **dict.fromkeys(("docker", "podman", "nerdctl", "docker-compose"), _CONTAINERS),
    **dict.fromkeys(("kubectl", "oc"), _CLUSTERS),
    **dict.fromkeys(("lxc", "incus", "crictl", "multipass", "distrobox"), _MACHINES),
    **dict.fromkeys(("gosu", "su-exec", "sg"), _Form(names=1)),
    "sudo": _Form(
        "ughpCDRrtTU", _list_options("user group host prompt chdir chroot role type close-from other-user")
    ),
    "doas": _Form("uC"),
    "su": _Form("cCgGsw", _list_options("command session-command group supp-group shell"), 1),
    "runuser": _Form("cugGsw", _list_options("command user group supp-group shell"), 1),
    "chroot": _Form("", _list_options("userspec groups"), 1),
    "setpriv": _Form(
        "", _list_options("reuid ruid euid regid rgid egid groups inh-caps ambient-caps bounding-set")
    ),
    "systemd-run": _Form(
        "pumHMEt",
        _list_options("unit uid gid property slice description machine host setenv nice working-directory"),
    ),
    "nsenter": _Form("tSG", _list_options("target setuid setgid")),
    "ssh": _Form("piloFJLRDbcEeImOQSWwB", names=1),
    "timeout": _Form("ks", _list_options("kill-after signal"), 1),
    "flock": _Form("wE", _list_options("timeout wait conflict-exit-code"), 1),
    "env": _Form("uC", _list_options("unset chdir")),
    "exec": _Form("a"),
    "nice": _Form("n", _list_options("adjustment")),
    "xargs": _Form("InPLdEsa", _list_options("max-args max-procs max-lines delimiter arg-file replace")),
}

_NO_WORD = re.compile(r"[A-Za-z_]\w*\+?=|\d*&?[<>]|-$")
"""Assignments, redirections, and the `-` of su."""


def is_program(before: Sequence[str], behind: Sequence[str]) -> bool:
    """Return whether a word of a command can be the program that is run, and not a user, a host, a container
    or a namespace. before: the words of the command up to it. behind: those after it."""
    rest = list(before)
    while rest:
        runner = rest.pop(0).rpartition("/")[2]
        form = _FORMS.get(runner)
        if form is None:
            return True
        names = form.names - (runner == "runuser" and any(map(_is_user, rest)))
        if form is _CLUSTERS and "--" in behind:
            return False
        is_value, is_open, found = False, True, 0
        while rest:
            word = rest[0]
            if is_value or _NO_WORD.match(word):
                is_value = False
            elif word == "--":
                is_open = False
                found = names if form.verbs else found
            elif is_open and word.startswith("-"):
                is_value = _takes_value(word, form)
            elif found == 0 and form.verbs and word not in form.verbs:
                if word not in form.nouns:
                    return False
            elif found < names:
                found += 1
            else:
                break
            rest.pop(0)
        if not rest and (is_value or found < names):
            return False
    return True


def _is_user(word: str) -> bool:
    return word.startswith("--user") or (word.startswith("-") and word[1:2] != "-" and "u" in word)


def _takes_value(word: str, form: _Form) -> bool:
    """Return whether an option's value is the next word."""
    if word.startswith("--"):
        return word in form.options
    return next((place == len(word) - 1 for place, char in enumerate(word) if char in form.letters), False)
