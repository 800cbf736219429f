"""Promise: what a report of a wrong diagnosis holds is little, says the same, and tells where it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bcon_exporter.app import build_replay
from bcon_exporter.errors import ContainerNotFoundError, InvalidInputError
from bcon_exporter.model.container_facts import ConfigFacts, DiskFacts, EngineFacts, HostSnapshot, Mount, NetworkFacts
from bcon_exporter.model.desired import FieldValue
from bcon_exporter.model.lifecycle import FailedRun
from bcon_exporter.settings import load_settings
from bcon_exporter.tools import run_tool
from bcon_exporter.tools.host_views import HOST_DIAGNOSIS
from bcon_exporter.tools.replay import snapshot_json
from bcon_exporter.tools.report_snapshot import reduce_for_report, tell_report
from tests.agents.recorded import read_recorded
from tests.factories import NOON, compose, container, exited, logs, network, snapshot
from tests.table_rows import table

if TYPE_CHECKING:
    from bcon_exporter.model.reports import DiagnosisReport

SETTINGS = load_settings({}, {"HOME": "/root"})
PRIVATE = "private-word"
API = container(
    name="shop-api-1",
    compose=compose("api", config_files=(f"/home/{PRIVATE}/c.yaml",), working_dir=f"/home/{PRIVATE}"),
    labels={"traefik.rule": f"Host({PRIVATE})", "bcon.threshold.memory_ratio": "0.9"},
    networks=(network("shop_default"),),
)
DB = exited(
    3,
    name="shop-db-1",
    compose=compose("db", environment_files=(f"/home/{PRIVATE}/.env",)),
    logs=logs("panic: no config"),
    config=ConfigFacts(fields={"environment.OWNER": FieldValue(shown=PRIVATE, fingerprint="1")}),
    mounts=(Mount(type="bind", source="/srv/db", target="/data"),),
)
OTHER = exited(4, name="blog-web-1", compose=compose("web", "blog"), logs=logs("panic: other"))
HOST = snapshot(
    API,
    DB,
    OTHER,
    container(name="well"),
    engine=EngineFacts(name=PRIVATE, id=PRIVATE, server_version="28.5", api_version="1.51"),
    networks=(
        NetworkFacts(id="1", name="shop_default", driver="bridge", labels={"owner": PRIVATE}),
        NetworkFacts(id="2", name=f"{PRIVATE}_default", driver="bridge"),
    ),
    disks=(
        DiskFacts(path="/var/lib/docker", used_ratio=0.5, total_bytes=100),
        DiskFacts(path=f"/mnt/{PRIVATE}", used_ratio=0.5, total_bytes=100, containers=("well",)),
        DiskFacts(path="/srv", used_ratio=0.5, total_bytes=100, containers=("shop-db-1", "well")),
    ),
    failed_runs=(
        FailedRun(name="shop-job-run-1", project="shop", ended_at=NOON),
        FailedRun(name=PRIVATE, ended_at=NOON),
    ),
)


def diagnose(part: HostSnapshot) -> tuple[DiagnosisReport, ...]:
    """Every container's report."""
    envelope = run_tool(build_replay(SETTINGS, part), HOST_DIAGNOSIS, {"include_healthy": True})
    assert envelope.error is None
    reports: tuple[DiagnosisReport, ...] = envelope.value.reports
    return reports


def names_of(part: HostSnapshot) -> list[str]:
    """The names of its containers."""
    return [one.name for one in part.containers]


def test_of_a_container_its_project_is_kept_and_the_diagnosis_stays() -> None:
    reduced = reduce_for_report(HOST, diagnose, "shop-db-1")

    assert names_of(reduced.snapshot) == ["shop-api-1", "shop-db-1"]
    assert (reduced.subjects, reduced.differing) == (("shop-db-1",), ())
    assert reduced.snapshot.partial


def test_without_a_name_it_is_about_all_that_ails() -> None:
    assert reduce_for_report(HOST, diagnose).subjects == ("blog-web-1", "shop-db-1")


def test_a_project_can_be_named() -> None:
    reduced = reduce_for_report(HOST, diagnose, "shop")

    assert sorted(reduced.subjects) == ["shop-api-1", "shop-db-1"]


def test_what_no_diagnosis_reads_is_left_out() -> None:
    reduced = reduce_for_report(HOST, diagnose, "shop-db-1").snapshot

    assert PRIVATE not in snapshot_json(reduced).decode()
    assert [one.labels for one in reduced.containers] == [{"bcon.threshold.memory_ratio": "0.9"}, {}]
    assert [one.name for one in reduced.networks or ()] == ["shop_default"]
    assert [(one.path, one.containers) for one in reduced.disks or ()] == [
        ("/var/lib/docker", ()),
        ("/srv", ("shop-db-1",)),
    ]
    assert [one.name for one in reduced.failed_runs] == ["shop-job-run-1"]
    assert reduced.volumes is None


def test_where_nothing_ails_a_name_is_needed() -> None:
    well = snapshot(API)

    with pytest.raises(InvalidInputError, match="name the container or project"):
        reduce_for_report(well, diagnose)
    assert reduce_for_report(well, diagnose, "shop-api-1").subjects == ("shop-api-1",)
    with pytest.raises(ContainerNotFoundError):
        reduce_for_report(well, diagnose, "nobody")


@table("about", ["shop-db-1", "shop"])
def test_what_is_left_out_of_the_diagnosis_has_no_report(about: str) -> None:
    ignored = snapshot(DB.model_copy(update={"labels": {"bcon.ignore": "true"}}))

    with pytest.raises(InvalidInputError, match=f"{about} is left out of the diagnosis"):
        reduce_for_report(ignored, diagnose, about)


def test_where_a_part_says_something_else_all_containers_are_kept_and_what_still_differs_is_named() -> None:
    def depends_on_the_crowd(part: HostSnapshot) -> tuple[DiagnosisReport, ...]:
        return tuple(one.model_copy(update={"summary": str(len(part.containers))}) for one in diagnose(part))

    def depends_on_the_engine(part: HostSnapshot) -> tuple[DiagnosisReport, ...]:
        name = part.engine.name if part.engine is not None else ""
        return tuple(one.model_copy(update={"summary": name}) for one in diagnose(part))

    whole = reduce_for_report(HOST, depends_on_the_crowd, "shop-db-1")
    assert (len(whole.snapshot.containers), whole.differing, whole.snapshot.partial) == (4, (), False)
    assert tell_report(whole, 4, 2048)[0] == (
        "4 of 4 containers, 2.0 KiB; about shop-db-1. The diagnosis says the same as with the whole host at hand."
    )
    other = reduce_for_report(HOST, depends_on_the_engine, "shop-db-1")
    assert other.differing == ("shop-db-1",)
    assert tell_report(other, 4, 2048)[0] == (
        "4 of 4 containers, 2.0 KiB; about shop-db-1. The diagnosis says something else of shop-db-1 than with the "
        "whole host at hand."
    )


def test_of_each_container_that_ails_on_a_recorded_host_a_small_part_says_the_same() -> None:
    host, _ = read_recorded()
    whole = diagnose(host)

    def diagnose_once(part: HostSnapshot) -> tuple[DiagnosisReport, ...]:
        return whole if part is host else diagnose(part)

    ailing = [report.container_name for report in whole if report.status != "healthy"]
    reduced = [reduce_for_report(host, diagnose_once, name) for name in ailing]

    assert len(ailing) == 85
    assert [one.subjects for one in reduced if one.differing] == []
    assert max(len(one.snapshot.containers) for one in reduced) <= 5
