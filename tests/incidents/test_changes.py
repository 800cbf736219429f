"""Of all that changed before an incident one is told where there is room for one."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bcon_exporter.incidents import find_telling_change
from bcon_exporter.incidents.changes import Surroundings, began_in_a_pause, find_changes, list_attachments
from bcon_exporter.model.container_facts import Mount
from bcon_exporter.model.incidents import Incident, IncidentChange, IncidentRoot
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.wiring import Wiring
from tests.factories import NOON, container, network
from tests.incidents.test_quiet import incident
from tests.table_rows import table

if TYPE_CHECKING:
    from collections.abc import Sequence


def change(kind: JournalKind, seconds: float, project: str | None = "shop") -> IncidentChange:
    return IncidentChange(
        kind=kind, at=NOON - timedelta(seconds=seconds), seconds_before=seconds, project=project, text=kind.value
    )


def with_changes(*changes: IncidentChange) -> Incident:
    return incident("db", changes=changes)


def test_a_new_image_tells_more_than_the_start_that_comes_with_it() -> None:
    start, image = change(JournalKind.START, 10), change(JournalKind.IMAGE_CHANGE, 12)
    older = change(JournalKind.IMAGE_CHANGE, 900)
    assert find_telling_change(with_changes(start, older, image)) == image


def test_what_changed_in_another_project_is_not_told_but_a_restart_of_the_engine_is() -> None:
    other, restart = change(JournalKind.IMAGE_CHANGE, 5, "blog"), change(JournalKind.ENGINE_RESTART, 300, None)
    assert find_telling_change(with_changes(other)) is None
    assert find_telling_change(with_changes(other, restart)) == restart
    assert find_telling_change(with_changes()) is None


def entry(kind: JournalKind, name: str, project: str | None = None, **data: str | bool) -> JournalEntry:
    at = NOON - timedelta(minutes=1)
    return JournalEntry(at=at, kind=kind, project=project, container=name, text=kind.value, data=dict(data))


VPN = container(name="vpn", networks=(network("bridge"),))
HOST = (
    VPN,
    container(name="torrent", wiring=Wiring(network_mode=f"container:{VPN.id}"), networks=(network("bridge"),)),
    container(name="db", networks=(network("back"),), mounts=(Mount(type="volume", source="data", target="/d"),)),
    container(name="api", networks=(network("back"), network("bridge"))),
    container(name="backup", mounts=(Mount(type="volume", source="data", target="/d"),)),
    container(name="stranger", networks=(network("bridge"),)),
)
K = JournalKind
RELATED: tuple[tuple[str, str, JournalEntry, bool], ...] = (
    ("its own", "db", entry(K.STOP, "db"), True),
    ("of a network", "db", entry(K.CONFIG_CHANGE, "api"), True),
    ("of a volume", "db", entry(K.STOP, "backup"), True),
    ("of its namespace's owner", "torrent", entry(K.START, "vpn"), True),
    ("of one that joined its namespace", "vpn", entry(K.STOP, "torrent"), True),
    ("of one that its cause names", "api", entry(K.REMOVE, "gone"), True),
    ("who left its network", "api", entry(K.NETWORK_DISCONNECT, "cache", network="back"), True),
    ("the engine's", "db", JournalEntry(at=NOON - timedelta(minutes=1), kind=K.ENGINE_RESTART, text="down"), True),
    ("a stranger's start", "db", entry(K.START, "stranger"), False),
    ("in no project as it is", "stranger", entry(K.STOP, "db"), False),
    ("in the engine's own network", "stranger", entry(K.STOP, "api"), False),
    ("in a project, where it is in none", "db", entry(K.STOP, "web-1", "blog"), False),
    ("another one that is gone", "db", entry(K.REMOVE, "other"), False),
    ("a restart by policy", "db", entry(K.START, "db", by_policy=True), False),
)


@table(("row", "root", "told", "is_related"), RELATED)
def test_what_changed_before_is_what_could_have_to_do_with_it(
    row: str, root: str, told: JournalEntry, *, is_related: bool
) -> None:
    surroundings = Surroundings(list_attachments(HOST), frozenset(("gone",) if root == "api" else ()))
    changes = find_changes([told], IncidentRoot(container=root, code="exit_error"), NOON, surroundings)
    assert bool(changes) is is_related, row


def test_a_name_that_compose_gives_for_a_while_is_told_as_the_final_one() -> None:
    removed = entry(K.REMOVE, "8d28f0c1a2b3_shop-web-1", "shop")
    root = IncidentRoot(container="shop-web-1", project="shop", service="web", code="exit_error")
    (told,) = find_changes([removed], root, NOON, Surroundings({}))
    assert told.container == "shop-web-1"


def test_of_a_root_without_a_project_no_other_one_without_is_its_own() -> None:
    alone = with_changes(change(K.IMAGE_CHANGE, 5, None), change(K.START, 300, None))
    own = alone.changes[1].model_copy(update={"container": "db"})
    root = IncidentRoot(container="db", code="exit_error")
    told = alone.model_copy(update={"root": root, "changes": (alone.changes[0], own)})
    assert find_telling_change(told) == own


ASKED = "stopped on request, exit code 0"
BEGAN = 20
BACKUPS: tuple[tuple[str, Sequence[tuple[float, JournalKind, str]], bool], ...] = (
    ("it is back", ((0, K.STOP, ASKED), (19, K.START, "started")), True),
    ("paused and resumed", ((0, K.PAUSE, "paused"), (40, K.UNPAUSE, "resumed")), True),
    ("seen a little later", ((-60, K.STOP, ASKED), (-40, K.START, "started")), True),
    ("long before it", ((-60, K.STOP, ASKED), (-41, K.START, "started")), False),
    ("after it began", ((21, K.STOP, ASKED), (40, K.START, "started")), False),
    ("it is still down", ((0, K.STOP, ASKED),), False),
    ("it is stopped again", ((0, K.STOP, ASKED), (30, K.START, "started"), (40, K.STOP, ASKED)), False),
    ("it went down with the engine", ((0, K.STOP, "ended with the engine"), (30, K.START, "started")), False),
    ("it was killed", ((0, K.KILL, "killed"), (30, K.START, "started")), False),
)


@table(("row", "told", "is_asked"), BACKUPS)
def test_a_failure_within_a_stop_on_request_that_is_over_was_asked_for(
    row: str, told: Sequence[tuple[float, JournalKind, str]], *, is_asked: bool
) -> None:
    entries = [
        JournalEntry(at=NOON + timedelta(seconds=at), kind=kind, project="shop", container="db", text=text)
        for at, kind, text in told
    ]
    root = IncidentRoot(container="api", project="shop", service="api", code="log_error")
    assert began_in_a_pause(entries, root, NOON + timedelta(seconds=BEGAN), Surroundings({})) is is_asked, row
