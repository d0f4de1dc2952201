"""The verbs of `jsctl completion`, in the order in which help shows them."""

from jsctl.registry.model import Entry, verb

VERBS: dict[str, Entry] = {
    "install": verb("Install the completion of a shell where the shell looks for it", "completion:install"),
    "uninstall": verb("Remove what completion install has written", "completion:uninstall"),
    "bash": verb("Print the completion script for bash", "completion:bash"),
    "zsh": verb("Print the completion script for zsh", "completion:zsh"),
    "fish": verb("Print the completion script for fish", "completion:fish"),
    "powershell": verb("Print the completion script for PowerShell", "completion:powershell"),
}
