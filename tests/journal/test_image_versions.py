"""Where an image changes hands, both versions are named wherever the change is told."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bcon_exporter.deployments.verify.changes import find_changes, find_remembered_changes
from bcon_exporter.diagnosis.usage_in_words import name_images
from bcon_exporter.model.image_versions import VERSION_LABEL
from bcon_exporter.model.journal_kinds import JournalKind
from tests.factories import ago, compose
from tests.journal.keepers import batch, container, event, open_keeper, past_of, scan
from tests.journal.test_entries import entries_of
from tests.table_rows import table

if TYPE_CHECKING:
    from pathlib import Path

    from bcon_exporter.journal import MemoryKeeper
    from bcon_exporter.model.container_facts import ContainerFacts

CHANGES = (  # image and label before, image and label after, the versions that must be named
    ("postgres:16.4", None, "postgres:17.0", None, "16.4", "17.0"),
    ("postgres:16", "16.4", "postgres:16", "16.6", "16.4", "16.6"),
    ("postgres:16", "16.4", "postgres:17", "17.0", "16.4", "17.0"),
    ("postgres:latest", "16.4", "postgres:latest", "17.0", "16.4", "17.0"),
    ("postgres", "v16.4", "postgres", "v17.0", "16.4", "17.0"),
    ("postgres:16-alpine", "16.4", "postgres:16-alpine", "16.6", "16.4", "16.6"),
    ("postgres:16-alpine3.19", None, "postgres:16-alpine3.20", None, "16-alpine3.19", "16-alpine3.20"),
    ("redis:7.2.4", None, "redis:7.4.0", None, "7.2.4", "7.4.0"),
    ("mysql:8.0", None, "mariadb:11.4", None, "8.0", "11.4"),
    ("registry.example:5000/team/app:1.0", None, "registry.example:5000/team/app:1.1", None, "1.0", "1.1"),
    ("ghcr.io/x/app:stable", "2024.1.0", "ghcr.io/x/app:stable", "2024.2.0", "2024.1.0", "2024.2.0"),
    ("ghcr.io/x/app:edge", "1.0.0-rc.1", "ghcr.io/x/app:edge", "1.0.0", "1.0.0-rc.1", "1.0.0"),
    ("nginx:1.25", "1.25.3", "nginx:1.25", "1.25.5", "1.25.3", "1.25.5"),
    ("nginx:1.25", "1.25.3", "nginx:1.27.0", None, "1.25.3", "1.27.0"),
    ("app:v1", None, "app:v2", None, "1", "2"),
    ("app:3", "22.04", "app:4", "22.04", "3", "4"),
    ("app:2024-10-01", None, "app:2024-11-01", None, "2024-10-01", "2024-11-01"),
    ("app:nightly", "1+build5", "app:nightly", "1+build6", "1+build5", "1+build6"),
    ("lscr.io/app:latest", "4.0.2-ls12", "lscr.io/app:latest", "4.0.3-ls13", "4.0.2-ls12", "4.0.3-ls13"),
    ("app@sha256:" + "a" * 64, "5.1", "app@sha256:" + "b" * 64, "5.2", "5.1", "5.2"),
)  # fmt: skip


def make(keeper: MemoryKeeper, number: int, image: str, label: str | None) -> ContainerFacts:
    """A service's container of an image, made a while after the one before, and scanned."""
    at = ago(500 - 100 * number)
    service = {"project": "shop", "service": "web", "number": 1}
    name = f"web-{number}"
    keeper.add_events(
        batch(*(event(at, action, name, image=image, **service) for action in ("create", "start"))),
        at + timedelta(seconds=10),
    )
    facts = container(
        name=name,
        image=image,
        image_id=f"sha256:{number}" + "0" * 63,
        created_at=at,
        compose=compose("web", number=1),
        labels={} if label is None else {VERSION_LABEL: label},
    )
    scan(keeper, facts, now=at + timedelta(seconds=10))
    return facts.model_copy(update={"lifecycle": past_of(keeper, facts, now=at + timedelta(seconds=10))})


@table("change", CHANGES)
def test_both_versions_are_named(change: tuple[str, str | None, str, str | None, str, str], tmp_path: Path) -> None:
    before, label, after, new_label, version, new_version = change
    keeper = open_keeper(tmp_path / "state.db")
    old, new = make(keeper, 1, before, label), make(keeper, 2, after, new_label)
    entry = entries_of(keeper, kinds=(JournalKind.IMAGE_CHANGE,))[-1]
    keeper.close()
    previous, own = name_images(new)
    told = {
        "journal": (entry.text.partition(", before ")[2] or entry.text, entry.text.partition(", before ")[0]),
        "diagnosis": (previous or "", own),
        "verify": tuple(find_changes(old, new)[0].split(" → ")),
        "verify of a state file": tuple(next(find_remembered_changes(new)).split(" → ")),
    }
    wrong = {face: words for face, words in told.items() if version not in words[0] or new_version not in words[1]}
    assert wrong == {}


def test_versions_of_predecessors_outlast_the_exporter(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    make(keeper, 1, "postgres:16", "16.4")
    keeper.close()
    again = open_keeper(tmp_path / "state.db")
    seen = make(again, 2, "postgres:16", "16.6")
    again.close()
    assert seen.lifecycle is not None
    assert seen.lifecycle.previous_image_version == "16.4"
    assert seen.image_version == "16.6"
