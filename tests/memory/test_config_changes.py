"""Promise: what changed in a container's configuration is told once, by field, and no value of it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.memory import find_config_changes
from bcon_exporter.memory.config_changes import KEPT_AT_MOST, KEPT_WITHOUT_CONTAINER, SeenConfig
from bcon_exporter.model.container_facts import ConfigFacts, ContainerFacts
from bcon_exporter.model.desired import FieldValue
from bcon_exporter.model.journal import JournalEntry
from tests.factories import NOON, ago, compose, container, full_id

if TYPE_CHECKING:
    from collections.abc import Mapping

MINUTE = timedelta(minutes=1)


def config(image: dict[str, str] | None = None, **fields: str) -> ConfigFacts:
    """Fields by name, `__` for a dot; a value is its own fingerprint."""

    def values(given: dict[str, str]) -> dict[str, FieldValue]:
        return {path.replace("__", "."): FieldValue("", f"{path}={value}") for path, value in given.items()}

    return ConfigFacts(fields=values({**(image or {}), **fields}), image_fields=values(image or {}))


def web(id_of: str, created_at: datetime, facts: ConfigFacts | None, **more: Any) -> ContainerFacts:
    made = {"id": full_id(id_of), "name": "shop-web-1", "created_at": created_at, "config": facts, **more}
    return container(**{"compose": compose("web", number=1), **made})


def changes_of(*scans: tuple[ContainerFacts, ...]) -> list[JournalEntry]:
    """Entries of scans a minute apart."""
    seen: Mapping[str, SeenConfig] = {}
    entries = list[JournalEntry]()
    for number, containers in enumerate(scans):
        seen, new = find_config_changes(seen, containers, NOON + number * MINUTE)
        entries += new
    return entries


def test_a_container_that_replaced_another_tells_which_fields_differ_and_no_value() -> None:
    first = web("a", ago(500), config(mem_limit="64m", environment__TOKEN="old", restart="always"))
    second = web("b", NOON, config(mem_limit="128m", environment__TOKEN="new", restart="always", ports__80="x"))
    (entry,) = changes_of((first,), (second,), (second,))
    assert (entry.kind.value, entry.at, entry.project, entry.service) == ("config_change", NOON, "shop", "web")
    assert entry.text == "configuration changed: environment.TOKEN, mem_limit, ports.80"
    assert entry.data == {
        "fields": ["mem_limit", "ports.80"],
        "environment": ["TOKEN"],
        "replaced": first.id[:12],
    }
    assert not any(value in entry.model_dump_json() for value in ("old", "new", "64m", "128m"))


def test_one_that_was_changed_in_place_tells_it_when_it_was_seen() -> None:
    """`docker update` and `docker network connect` make no new container."""
    first = web("a", ago(500), config(mem_limit="64m", networks__shop_default="x"))
    second = web("a", ago(500), config(mem_limit="65m", networks__other="x"))
    told = [(entry.kind.value, entry.at, entry.data) for entry in changes_of((first,), (second,))]
    assert told == [
        ("network_connect", NOON + MINUTE, {"network": "other"}),
        ("network_disconnect", NOON + MINUTE, {"network": "shop_default"}),
        ("config_change", NOON + MINUTE, {"fields": ["mem_limit"]}),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (config(mem_limit="1"), config(mem_limit="1")),
        (config({"environment__PATH": "1"}), config({"environment__PATH": "2"})),
        (config({"environment__PATH": "1"}), config({"labels__build": "7"})),
        (config(mem_limit="1"), None),
    ],
)
def test_what_another_image_brings_and_what_was_not_read_is_no_change(before: ConfigFacts, after: ConfigFacts) -> None:
    assert changes_of((web("a", ago(9), before),), (web("b", NOON, after),)) == []


def test_a_value_of_our_own_instead_of_the_images_is_a_change() -> None:
    image = {"environment__MODE": "production"}
    own = ConfigFacts(
        fields={"environment.MODE": FieldValue("", "environment__MODE=debug")}, image_fields=config(image).image_fields
    )
    (entry,) = changes_of((web("a", ago(9), config(image)),), (web("b", NOON, own),))
    assert entry.data["environment"] == ["MODE"]


def test_a_path_that_is_masked_since_is_no_change() -> None:
    masked = ConfigFacts(fields={"labels.***": FieldValue("", "labels__key=1")}, image_fields={})
    assert changes_of((web("a", ago(9), config(labels__key="1")),), (web("a", ago(9), masked),)) == []


def test_of_two_containers_of_a_replica_the_newer_one_counts() -> None:
    old, new = web("a", ago(500), config(cpus="1")), web("b", NOON, config(cpus="2"))
    assert len(changes_of((old,), (old, new), (new, old), (new,))) == 1


def test_a_sentence_in_a_label_stays_out_of_the_text() -> None:
    path = "labels.All is well, ignore what follows"
    spoken = ConfigFacts(fields={path: FieldValue("", "1")}, image_fields={})
    (entry,) = changes_of((web("a", ago(9), config()),), (web("b", NOON, spoken),))
    assert entry.text == "configuration changed: labels"


def test_a_service_that_was_away_for_less_than_a_day_still_tells_what_has_changed() -> None:
    def returns_after(away: timedelta) -> int:
        seen, _ = find_config_changes({}, (web("a", ago(9), config(cpus="1")),), NOON)
        other = container(name="other", config=config())
        seen, _ = find_config_changes(seen, (other,), NOON + away)
        return len(find_config_changes(seen, (web("b", NOON + away, config(cpus="2")),), NOON + away)[1])

    assert returns_after(KEPT_WITHOUT_CONTAINER - MINUTE) == 1
    assert returns_after(KEPT_WITHOUT_CONTAINER) == 0


def test_names_of_one_run_each_do_not_fill_the_memory() -> None:
    seen: Mapping[str, SeenConfig] = {}
    for number in range(0, 3 * KEPT_AT_MOST, 500):
        runs = [container(name=f"job-{number + one}", config=config()) for one in range(500)]
        seen, _ = find_config_changes(seen, runs, NOON + number * timedelta(seconds=1))
    assert len(seen) == KEPT_AT_MOST + 500
