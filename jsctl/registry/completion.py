"""The verbs of `jsctl completion`, in the order in which help shows them."""

from jsctl.registry.model import Entry, changes, reads

VERBS: dict[str, Entry] = {
    "install": changes(
        "Install the completion of a shell where the shell looks for it", target="completion:install"
    ),
    "uninstall": changes("Remove what completion install has written", target="completion:uninstall"),
    "bash": reads("Print the completion script for bash", target="completion:bash"),
    "zsh": reads("Print the completion script for zsh", target="completion:zsh"),
    "fish": reads("Print the completion script for fish", target="completion:fish"),
    "powershell": reads("Print the completion script for PowerShell", target="completion:powershell"),
}
