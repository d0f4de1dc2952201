"""Alerts of a live report: their states, and who is notified."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from shutil import which

from jsctl.base.units import seconds_to_ns
from jsctl.base.user_folders import expand_home, find_state_folder
from jsctl.commands.alerting.files import load_alerts
from jsctl.contexts.settings import Settings
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.alerts.conditions import list_holders
from jsctl.monitor.alerts.delivery import Courier
from jsctl.monitor.alerts.machine import Event, collect_seen, list_firing, step
from jsctl.monitor.alerts.rules import Receiver
from jsctl.monitor.alerts.store import Store
from jsctl.monitor.report.places import Needs, Place


class Alerting:
    """A file of alerts on these places. pattern: glob of streams. has_stderr: whether stderr is written where
    the file has no receivers.

    Raises BadInput for a wrong file, a command that cannot be run, and states that another process uses."""

    def __init__(
        self, env: Env, path: str, state: str, targets: Sequence[Settings], pattern: str, *, has_stderr: bool
    ) -> None:
        self.file = load_alerts(env, path)
        if has_stderr and not self.file.receivers:
            self.file = self.file._replace(receivers=[Receiver("stderr")])
        for receiver in self.file.receivers:
            if receiver.command and not which(receiver.command[0], path=env.environ.get("PATH")):
                raise BadInput(
                    f"{path}: the receiver {receiver.name!r} has no program {receiver.command[0]!r}",
                    "write command: [program, argument]",
                )
        self._store = Store(expand_home(state) if state else _find_state_file(env, path, targets, pattern))
        self._courier = Courier(self.file, self._store, env.say)

    @property
    def is_firing(self) -> bool:
        """Whether an alert fires."""
        return any(list_firing(self._store.states))

    def list_firing(self) -> list[str]:
        """Return a line for each alert that fires."""
        return [f"{one.alert} fires: {one.name}" for one in list_firing(self._store.states)]

    @property
    def needs(self) -> Needs:
        """What the rules need of places."""
        are_servers_needed = any(["servers"] in list_holders(rule.when) for rule in self.file.rules)
        return "all" if are_servers_needed else "lists"

    def check_can_hold(self, *, has_consumers: bool) -> None:
        """Raise BadInput for a rule about consumers that are left out."""
        for rule in self.file.rules:
            if not has_consumers and ["consumers"] in list_holders(rule.when):
                self._store.close()
                raise BadInput(
                    f"the alert {rule.name!r} is about consumers, which --no-consumers leaves out",
                    "use one of them",
                )

    def add(self, places: Sequence[Place], at: float) -> list[Event]:
        """Add a round; return what changed, and begin to deliver it. at: seconds since 1970. Raises
        JsctlError when states cannot be written."""
        states, events = step(
            *(self.file, self._store.states),
            seconds_to_ns(round(at, 3)),  # as a recording has it, so that its replay gives the same
            collect_seen(places),
        )
        self._store.add(states, self._courier.list_messages(events))
        self._courier.start()
        return events

    async def close(self) -> None:
        """End delivering, and let another process use the states."""
        await self._courier.close()
        self._store.close()


def _find_state_file(env: Env, path: str, targets: Sequence[Settings], pattern: str) -> Path:
    """Return the file of states of a file of alerts on these places."""
    if path == "-":
        raise BadInput("alerts from stdin have no name for their states", "add --alert-state FILE")
    places = [[target.context, *target.place] for target in targets]
    name = hashlib.sha256(repr([str(expand_home(path).resolve()), places, pattern]).encode()).hexdigest()[:16]
    return find_state_folder(env.environ) / "jsctl" / "alerts" / f"{name}.json"
