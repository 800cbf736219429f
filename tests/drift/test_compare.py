"""The report on a project: its status, what is unknown and why, and which containers no file knows."""

from __future__ import annotations

from typing import Any

from bcon_exporter.drift import find_projects, find_untracked
from bcon_exporter.model.container_facts import ContainerState
from bcon_exporter.model.desired import ProjectProblem
from bcon_exporter.model.reports import DriftStatus
from tests.drift.builders import drift, host, project, replica, service
from tests.factories import ago, container


def test_an_unreadable_project_is_unknown_with_its_reason() -> None:
    desired = project(services=None, problem=ProjectProblem.NOT_FOUND, problem_detail="The file is gone.")
    report = drift(desired, replica())
    assert (report.status, report.unknown_reason) == (DriftStatus.UNKNOWN, ProjectProblem.NOT_FOUND)
    assert "The file is gone." in report.summary
    assert not (report.differences)
    assert not (report.services)
    assert not (report.untracked)


def test_an_unread_configuration_is_unknown_not_synced() -> None:
    report = drift(project(service()), replica(config=None))
    assert report.status is DriftStatus.UNKNOWN
    assert "shop-web-1" in str(report.unknown_detail)


def test_unread_networks_or_volumes_that_the_project_defines_are_unknown_not_synced() -> None:
    desired = project(service(), network_hashes={"shop_default": "n"}, volume_hashes={"shop_data": "v"})
    read: dict[str, Any] = {"networks": (), "volumes": ()}
    assert drift(desired, replica(), **read).status is DriftStatus.SYNCED
    for kind in read:
        report = drift(desired, replica(), **{**read, kind: None})
        assert report.status is DriftStatus.UNKNOWN
        assert report.unknown_detail == f"The host's {kind} could not be read."
    assert drift(project(service()), replica()).status is DriftStatus.SYNCED, "nothing to compare"


def test_what_is_seen_in_spite_of_an_unread_configuration_is_drift() -> None:
    report = drift(project(service(), service("db")), replica(config=None))
    assert report.status is DriftStatus.DRIFTED
    assert report.unknown_detail is not None


def test_a_service_whose_configuration_is_unread_says_so() -> None:
    desired = project(service(), service("db"), network_hashes={"shop_default": "n"})
    other = replica("db")
    report = drift(desired, replica(config=None), other, networks=())
    assert {each.service_name: each.unread for each in report.services} == {"web": True, "db": False}
    report = drift(desired, replica(), other, networks=None)
    assert {each.service_name: each.unread for each in report.services} == {"web": True, "db": True}


def test_two_directories_that_claim_one_name_are_said() -> None:
    report = drift(project(service()), replica(claim={"working_dir": "/elsewhere"}))
    assert "/elsewhere" in str(report.unknown_detail)


def test_the_summary_counts_differences_by_type() -> None:
    report = drift(project(service(fields={"user": "5", "tty": "true"}), service("db")), replica())
    assert report.summary == "shop: 3 differences in 2 services: 1 missing_service, 2 config_mismatch."


def test_untracked_are_those_of_no_project_and_of_services_the_file_does_not_know() -> None:
    loose = container(name="loose", compose=None)
    stopped = container(name="stopped", compose=None, state=ContainerState.EXITED)
    other = replica("api", claim={"project": "blog"}, name="blog-api-1")
    orphan = replica("old")
    found = host(replica(), loose, stopped, other, orphan)
    names = [one.name for one in find_untracked(project(service()), found)]
    assert names == ["loose", "stopped", "shop-old-1"]
    assert drift(project(service()), *found.containers).untracked == ("loose", "shop-old-1")
    assert len(find_untracked(None, found)) == 5


def test_the_container_of_a_service_is_known_where_it_is_the_only_one() -> None:
    two = [replica("many", number, id=f"many-{number}") for number in (1, 2)]
    runs = [replica(id="web-id"), replica("web", 9, claim={"oneoff": True}), *two]
    (found,) = find_projects(host(*runs))
    assert found.only_containers == {"web": "web-id"}


def test_projects_are_found_by_label_and_the_newest_container_names_the_files() -> None:
    old = replica(claim={"config_files": ("/old.yaml",)}, created_at=ago(days=2))
    new = replica("db", claim={"config_files": ("/a.yaml", "/b.yaml")}, created_at=ago(days=1))
    claimed = replica("x", claim={"project": "claimed", "config_hash": None}, name="c")
    (found,) = find_projects(host(old, new, claimed))
    assert (found.name, found.config_files) == ("shop", ("/a.yaml", "/b.yaml"))
    assert found.newest_created_at == ago(days=1)


def test_a_hand_made_container_that_claims_a_project_and_names_no_file_does_not_hide_the_files() -> None:
    made = replica(created_at=ago(days=2))
    claimed = replica("db", claim={"config_files": (), "working_dir": None}, created_at=ago(days=1))
    (found,) = find_projects(host(made, claimed))
    assert found.config_files == ("/srv/shop/compose.yaml",)


def test_a_value_on_an_unknown_variable_is_a_doubt_that_makes_the_status_unknown() -> None:
    desired = project(service(fields={"user": ""}, config_hash=None, doubtful=("user",)), unresolved=("WHO",))
    report = drift(desired, replica(fields={"user": "5"}))
    assert (report.status, report.differences) == (DriftStatus.UNKNOWN, ())
    assert [(one.field, one.confidence) for one in report.doubts] == [("user", 0.3)]
    assert report.summary == (
        "shop: unknown whether it runs as its files say: no value is known here for WHO, on which hangs: web user."
    )


def test_a_doubt_hides_no_drift() -> None:
    desired = project(service(fields={"user": "", "tty": "true"}, config_hash=None, doubtful=("user",)))
    report = drift(desired, replica(fields={"user": "5"}))
    assert report.status is DriftStatus.DRIFTED
    assert [one.field for one in report.differences] == ["tty"]
    assert [one.field for one in report.doubts] == ["user"]


def test_in_the_shell_of_the_user_who_asks_an_unset_variable_is_unset_for_up_too() -> None:
    desired = project(service(fields={"user": ""}, config_hash=None, doubtful=("user",)), own_shell=True)
    report = drift(desired, replica(fields={"user": "5"}))
    assert (report.status, report.doubts) == (DriftStatus.DRIFTED, ())
    assert [(one.field, one.confidence) for one in report.differences] == [("user", 0.6)]


def test_a_value_on_an_unknown_variable_that_fits_is_synced() -> None:
    desired = project(service(fields={"user": "5"}, config_hash=None, doubtful=("user",)), unresolved=("WHO",))
    assert drift(desired, replica(fields={"user": "5"})).status is DriftStatus.SYNCED


def test_several_projects_that_claim_one_name_are_said_so() -> None:
    mine, other = replica(), replica("old", claim={"working_dir": "/elsewhere"})
    assert drift(project(service()), mine).unknown_detail is None
    report = drift(project(service()), mine, other)
    assert "/elsewhere claim this project's name too" in (report.unknown_detail or "")
    unreadable = project(service()).model_copy(update={"services": None, "problem": ProjectProblem.PARSE_ERROR})
    assert "/elsewhere" in (drift(unreadable, mine, other).unknown_detail or "")


def test_a_swarm_stack_is_a_project_without_files() -> None:
    label = "com.docker.stack.namespace"
    tasks = [replica(f"t{number}", name=f"t{number}", labels={label: "front"}, compose=None) for number in (1, 2)]
    named_alike = replica("t3", name="t3", labels={label: "shop"}, compose=None)
    found = find_projects(host(*tasks, named_alike, replica()))
    assert [(one.name, one.is_stack) for one in found] == [("front", True), ("shop", False)]
