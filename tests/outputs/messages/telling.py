"""A program that tells a receiver of incidents as the daemon does, from a real state file: to be killed at any moment.

Arguments: STATE_FILE WORLD_FILE ADDRESS. The world is JSON: which incidents go on, and which are over.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

from pydantic import SecretStr

from bcon_exporter import clock
from bcon_exporter.incidents import FoldedIncidents
from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.model.incidents import Incident, IncidentState, TrackedIncident
from bcon_exporter.model.receivers import Receiver
from bcon_exporter.outputs.messages import MessageSender
from tests.factories import container, snapshot
from tests.outputs.scenes import make_context, scan_of


def _replace(folded: FoldedIncidents, _before: IncidentState) -> FoldedIncidents:
    return folded


def main(state_file: str, world_file: str, address: str) -> None:
    """Fold the world in, and tell, without an end."""
    keeper = MemoryKeeper.open(Path(state_file), retention_seconds=32 * 86400, now=clock.utc_now())
    host = snapshot(container(name="db"))
    context = make_context(host, memory=keeper)
    sender = MessageSender(Receiver(name="phone", url=SecretStr(address)), lambda: context, lambda: 0.0)
    print("ready", flush=True)  # noqa: T201 -- who started it waits for this
    while True:
        world = [Incident.model_validate(one) for one in json.loads(Path(world_file).read_text())]
        going_on = tuple(TrackedIncident(incident=one, members=("db",)) for one in world if one.is_open)
        known = {one.incident.id for one in keeper.memory.incidents.open}
        ended = tuple(one for one in world if not one.is_open and one.id in known)
        if known != {one.incident.id for one in going_on}:
            folded = FoldedIncidents(IncidentState(open=going_on), ended)
            keeper.fold_incidents(partial(_replace, folded), clock.utc_now())
        context.scans.publish_diagnosis(scan_of(host, finished_at=clock.utc_now()))
        sender.tell()


if __name__ == "__main__":
    main(*sys.argv[1:])
