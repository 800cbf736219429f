"""An alert says what one needs to act, short, masked and in one piece."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from bcon_exporter.model.findings import Severity, Suggestion, Urgency
from bcon_exporter.model.incidents import Incident, IncidentChange, IncidentMember, IncidentRoot, SeenBefore
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.outputs.addresses import Addresses
from bcon_exporter.outputs.alertmanager.wording import describe_incident, label_incident
from tests.factories import NOON
from tests.outputs.scenes import cause

SECRET = "hunter2hunter2"


def incident(**more: Any) -> Incident:
    root = IncidentRoot(container="shop-db-1", project="shop", service="db", code="oom_killed")
    web = IncidentMember(container="shop-web-1", role="suffers", since=NOON)
    made: dict[str, Any] = {
        "id": "2026-01-01-shop-db-1-oom_killed-1",
        "started_at": NOON,
        "severity": Severity.CRITICAL,
    }
    made |= {"root": root, "title": "shop-db-1 was killed for want of memory; shop-web-1 suffers from it"}
    return Incident(**{**made, "members": (web,), **more})


def say(told: Incident, *addresses: str) -> dict[str, str]:
    return describe_incident(told, "h1", Addresses(*addresses))


def test_it_says_what_where_since_when_why_what_changed_and_what_to_do() -> None:
    change = IncidentChange(
        kind=JournalKind.IMAGE_CHANGE,
        at=NOON - timedelta(seconds=40),
        seconds_before=40,
        project="shop",
        text="image changed",
    )
    told = incident(
        causes=(cause("other", 0.5), cause("memory_limit_low", 0.8)),
        suggestions=(Suggestion(urgency=Urgency.IMMEDIATE, action="Raise the limit.", rationale="because"),),
        changes=(change,),
        evidence=("exit codes, newest last: 1", "b"),
        log_line="b",
        seen_before=SeenBefore(count=2),
    )

    assert say(told, "https://bcon.example", "https://wiki.example/") == {
        "summary": "shop-db-1 was killed for want of memory; shop-web-1 suffers from it (on h1)",
        "description": "The root is shop-db-1 (oom killed). Explained by it: shop-web-1."
        " The same happened 2 times in 90 days.",
        "since": "2026-01-01 12:00:00 UTC",
        "cause": "shop-db-1: because [memory_limit_low, confidence 80%]",
        "suggestion": "Raise the limit.",
        "changed": "40 s before: shop: image changed",
        "incident": "2026-01-01-shop-db-1-oom_killed-1",
        "code": "oom_killed",
        "page": "https://bcon.example/i/2026-01-01-shop-db-1-oom_killed-1",
        "log": "b",
        "runbook_url": "https://wiki.example/BconIncident.md",
    }


def test_a_time_is_that_of_the_clock_on_the_wall_and_a_name_that_is_said_is_not_said_twice() -> None:
    named = cause("memory_limit_low", 0.8).model_copy(update={"description": "shop-db-1 has too little memory."})
    change = IncidentChange(
        kind=JournalKind.CONFIG_CHANGE, at=NOON, seconds_before=40, project="shop", container="shop-db-1", text="memory"
    )
    told = incident(causes=(named,), changes=(change,))
    texts = describe_incident(told, "h1", Addresses(), lambda at: at.astimezone(ZoneInfo("Europe/Berlin")))
    assert texts["since"] == "2026-01-01 13:00:00 CET"
    assert texts["cause"] == "shop-db-1 has too little memory. [memory_limit_low, confidence 80%]"
    assert texts["changed"] == "40 s before: shop-db-1: memory"


def test_what_is_not_known_is_left_out() -> None:
    assert set(say(incident())) == {"summary", "description", "since", "incident", "code"}


def test_labels_name_the_root_alone_so_that_an_exporter_without_memory_gives_the_same_fingerprint() -> None:
    root = {"container": "shop-db-1", "project": "shop", "service": "db"}
    assert dict(label_incident(incident())) == root
    later = incident(id="2026-01-02-shop-db-1-restart_loop-1")
    assert label_incident(
        later.model_copy(update={"root": later.root.model_copy(update={"code": "restart_loop"})})
    ) == (label_incident(incident()))
    assert label_incident(incident(root=IncidentRoot(container=None, code="host"))) == ()
    long = incident(root=IncidentRoot(container="x" * 300, code="oom_killed"))
    assert len(dict(label_incident(long))["container"]) == 128


def test_of_a_restart_of_the_engine_all_that_did_not_come_back_is_named() -> None:
    names = [f"job-{number:02}" for number in range(30)]
    left = [IncidentMember(container=one, role="suffers", symptoms=("not_started_again",), since=NOON) for one in names]
    failing = IncidentMember(container="web", role="suffers", symptoms=("exit_error",), since=NOON)
    host = incident(root=IncidentRoot(container=None, code="host"), members=(*left, failing))
    assert say(host)["description"] == f"Not started again: {', '.join(names)}. Failing since: web."


def test_long_lines_are_clipped_and_secrets_masked() -> None:
    many = tuple(IncidentMember(container=f"web-{n}", role="suffers", since=NOON) for n in range(200))
    texts = say(
        incident(
            members=many,
            log_line=f"password={SECRET} " + "x" * 5000,
            causes=(cause("c", 0.9).model_copy(update={"description": f"PASSWORD={SECRET}"}),),
            suggestions=(Suggestion(urgency=Urgency.IMMEDIATE, action=f"use token={SECRET}", rationale="because"),),
        )
    )

    assert SECRET not in str(texts)
    assert "and 190 more" in texts["description"]
    assert len(texts["log"]) <= 240
    assert sum(len(text) for text in texts.values()) < 4000
