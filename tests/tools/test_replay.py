"""Promise: a snapshot file says the same as the host did, is its owner's alone, and a broken one is refused clearly."""

import json
from pathlib import Path

import pytest

from bcon_exporter.errors import BconError, ContainerNotFoundError, InvalidInputError
from bcon_exporter.model.desired import DesiredProject, DesiredService
from bcon_exporter.tools import call_tool, run_tool
from bcon_exporter.tools.first_seen import drift_key
from bcon_exporter.tools.host_views import HOST_DRIFT, HOST_SNAPSHOT
from bcon_exporter.tools.replay import find_container, read_snapshot, snapshot_json, write_snapshot
from tests.factories import NOON, ago, compose, container, exited, logs, looping, snapshot
from tests.journal.keepers import open_keeper
from tests.table_rows import table
from tests.tools.hosts import context_of

SHOP = DesiredProject(
    name="shop",
    config_files=("/srv/shop/compose.yaml",),
    resolved_at=NOON,
    services=(DesiredService(name="api", image="app:1"), DesiredService(name="db", image="db:1")),
)
HOST = snapshot(
    container(compose=compose("api"), logs=logs("ERROR connection refused")),
    exited(1, name="job", lifecycle=looping()),
    desired=(SHOP,),
)


def test_what_is_written_reads_back_as_the_same(tmp_path: Path) -> None:
    file = tmp_path / "host.json"
    write_snapshot(file, HOST)
    assert read_snapshot(file) == HOST
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["host.json"]


def test_a_replay_diagnoses_as_the_host_itself(tmp_path: Path) -> None:
    file = tmp_path / "host.json"
    write_snapshot(file, HOST)
    live, replayed = context_of(HOST), context_of(read_snapshot(file))
    assert call_tool(live, "diagnose_all", {}).body == call_tool(replayed, "diagnose_all", {}).body


def test_a_replay_knows_the_projects_of_its_time() -> None:
    findings = run_tool(context_of(HOST), HOST_DRIFT, {}).value
    assert [(one.service_name, one.drift_type) for one in findings.reports[0].differences][-1] == (
        "db",
        "missing_service",
    )
    known = call_tool(context_of(HOST), "detect_drift", {"compose_file": "/srv/shop/compose.yaml"})
    assert known.value.project_name == "shop"
    unknown = call_tool(context_of(HOST), "detect_drift", {"compose_file": "/else.yaml"}).data()["error"]
    assert unknown["details"]["files"] == ["/srv/shop/compose.yaml"]


def test_drift_of_the_host_and_of_a_project_tells_since_when(tmp_path: Path) -> None:
    history = open_keeper(tmp_path / "state.db")
    history.conclude_first_seen("drift", dict.fromkeys({drift_key("shop", "db", "missing_service")}), ago(hours=3))
    context = context_of(HOST, memory=history)
    for request in ({}, {"project_name": "shop"}):
        (report,) = run_tool(context, HOST_DRIFT, request).value.reports
        assert {one.service_name: one.first_seen for one in report.differences}["db"] == ago(hours=3)


def test_a_snapshot_of_a_replay_is_the_same_snapshot() -> None:
    assert run_tool(context_of(HOST), HOST_SNAPSHOT, {}).value == HOST


@table(
    ("raw", "said"),
    [
        (b"", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[]", "is not a snapshot"),
        (b"{}", "is not a snapshot"),
        (b'{"schema_version": "1"}', "is not a snapshot"),
        (b'{"schema_version": 2}', "has version 2; this bcon-exporter reads version 1"),
        (b'{"schema_version": 1}', "is broken at taken_at"),
        (b'{"schema_version": 1, "taken_at": "2026-01-01T00:00:00Z", "containers": [{"id": 5}]}', "containers.0"),
    ],
)
def test_a_broken_file_is_refused_clearly(tmp_path: Path, raw: bytes, said: str) -> None:
    file = tmp_path / "host.json"
    file.write_bytes(raw)
    with pytest.raises(InvalidInputError) as caught:
        read_snapshot(file)
    assert said in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.promise("S11")
def test_a_value_of_a_broken_file_is_not_quoted(tmp_path: Path) -> None:
    fields = json.loads(snapshot_json(HOST))
    fields["containers"][0]["created_at"] = "hunter2-very-secret"
    (tmp_path / "host.json").write_text(json.dumps(fields))
    with pytest.raises(InvalidInputError) as caught:
        read_snapshot(tmp_path / "host.json")
    assert "hunter2" not in caught.value.message
    assert "containers.0.created_at" in caught.value.message


def test_missing_and_unwritable_files_are_said_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="No such file"):
        read_snapshot(tmp_path / "none.json")
    with pytest.raises(BconError, match="cannot be written"):
        write_snapshot(tmp_path / "no" / "such" / "folder.json", HOST)


def test_an_ambiguous_prefix_lists_its_matches() -> None:
    facts = snapshot(container(name="a", id="ab" * 32), container(name="b", id="ab" + "cd" * 31))
    with pytest.raises(InvalidInputError) as caught:
        find_container(facts, "ab")
    assert caught.value.details["matches"] == [f"{'ab' * 6} a", f"ab{'cd' * 5} b"]


def test_a_snapshot_is_asked_as_an_engine_is() -> None:
    """By name, id and id prefix, in whatever case; with the same help where nothing is found."""
    facts = snapshot(container(name="shop-api-1", id="ab" * 32), container(name="web", id="cd" * 32))
    assert {find_container(facts, word).name for word in ("web", "cd" * 32, "cdc", "CDC")} == {"web"}
    with pytest.raises(ContainerNotFoundError, match="Did you mean shop-api-1") as caught:
        find_container(facts, "api")
    assert caught.value.details["near_matches"] == ["shop-api-1"]
