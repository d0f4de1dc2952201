"""The verbs of `jsctl completion`, in the order in which help shows them."""

from jsctl.registry.model import Entry, verb

VERBS: dict[str, Entry] = {
    "install": verb(
        "Install the completion of a shell where the shell looks for it", target="completion:install"
    ),
    "uninstall": verb("Remove what completion install has written", target="completion:uninstall"),
    "bash": verb("Print the completion script for bash", target="completion:bash"),
    "zsh": verb("Print the completion script for zsh", target="completion:zsh"),
    "fish": verb("Print the completion script for fish", target="completion:fish"),
    "powershell": verb("Print the completion script for PowerShell", target="completion:powershell"),
}
