"""An alert says what the diagnosis found, short, masked and in one piece; of what cannot be seen what it said last."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from bcon_exporter.alerting import Tracked
from bcon_exporter.errors import DockerConnectionError
from bcon_exporter.model.findings import DriftType, Suggestion, SymptomType, Urgency
from bcon_exporter.outputs.alertmanager.samples import read_diagnosis
from bcon_exporter.outputs.alertmanager.wording import Wording
from bcon_exporter.store import Store
from tests.factories import NOON, compose, container, logs, snapshot
from tests.outputs.scenes import cause, diagnosis, difference, drift_report, drift_scan, scan_of, symptom

LABELS = (("container", "api"), ("project", "shop"), ("service", "web"), ("symptom", "network_error"))
SECRET = "hunter2hunter2"


def alert(rule: str = "BconContainerNetworkError", severity: str = "warning", labels: Any = LABELS) -> Tracked:
    return Tracked(rule=rule, severity=severity, labels=labels, since=NOON)


def store_of(*lines: str, **report: Any) -> Store:
    """A store with one ailing container."""
    facts = container(name="api", compose=compose("web"), logs=logs(*lines))
    store = Store()
    shown = {"symptoms": (symptom(SymptomType.NETWORK_ERROR, description="The log shows 3 errors."),), **report}
    store.publish_diagnosis(scan_of(snapshot(facts), diagnosis(facts, status="error", **shown)))
    return store


def say(store: Store, told: Tracked | None = None) -> dict[str, str]:
    scan = store.diagnosis
    subjects = read_diagnosis(scan, ()).subjects if scan is not None else {}
    return Wording(store, "h1", subjects).annotate(told or alert()).annotations


def suggestion(action: str) -> Suggestion:
    return Suggestion(urgency=Urgency.IMMEDIATE, action=action, rationale="because")


def test_it_says_summary_symptom_cause_suggestion_and_log() -> None:
    seen = cause("peer_down", 0.8, peer="db").model_copy(
        update={"evidence": ("connect to db failed",), "related_symptoms": (SymptomType.NETWORK_ERROR,)}
    )
    store = store_of("a line", likely_causes=(cause("other", 0.9), seen), suggestions=(suggestion("Start db."),))

    assert say(store) == {
        "summary": "api on h1 logs network errors",
        "description": "Connections are refused, reset or time out, or names are not found. The log shows 3 errors.",
        "cause": "because [peer_down, confidence 80%]",
        "suggestion": "Start db.",
        "log": "connect to db failed",
        "runbook_url": "https://github.com/bcon-exporter/bcon-exporter/blob/main/docs/runbooks/BconContainerNetworkError.md",
    }


def test_the_runbook_is_linked_where_it_lies() -> None:
    told = Wording(store_of("a line"), "h1", {}, "https://wiki.example/bcon/").annotate(alert())

    assert told.annotations["runbook_url"] == "https://wiki.example/bcon/BconContainerNetworkError.md"


def test_without_evidence_the_last_lines_stand_there() -> None:
    assert say(store_of("one", "two", "three", "four"))["log"] == "two\nthree\nfour"


def test_long_lines_are_clipped_and_secrets_masked() -> None:
    store = store_of(
        f"password={SECRET}",
        "x" * 5000,
        suggestions=(suggestion(f"use token={SECRET}"),),
        likely_causes=(cause("c", 0.9).model_copy(update={"description": f"PASSWORD={SECRET}"}),),
    )

    texts = say(store)

    assert SECRET not in str(texts)
    assert max(len(line) for line in texts["log"].split("\n")) <= 240
    assert sum(len(text) for text in texts.values()) < 4000


def test_a_name_that_looks_like_a_placeholder_stays_text() -> None:
    labels = (("container", "{instance}"), ("symptom", "network_error"))

    assert say(Store(), alert(labels=labels))["summary"] == "{instance} on h1 logs network errors"


def test_what_cannot_be_seen_keeps_its_texts() -> None:
    told = alert().model_copy(update={"annotations": {"summary": "as it was"}})

    assert say(Store(), told) == {"summary": "as it was"}


def test_what_was_never_seen_has_at_least_a_summary() -> None:
    assert say(Store())["summary"] == "api on h1 logs network errors"


def test_drift_names_what_differs_and_what_compose_would_do() -> None:
    labels = (("drift", "config_mismatch"), ("project", "shop"), ("service", "web"))
    found = [
        difference(DriftType.CONFIG_MISMATCH, "web", message=f"Field {n}.", compose_would="recreate") for n in range(5)
    ]
    store = Store()
    store.publish_drift(drift_scan(drift_report("shop", *found)))

    texts = say(store, alert("BconConfigDrift", labels=labels))

    assert texts["summary"] == "shop/web on h1 is configured otherwise"
    assert texts["description"].endswith("Field 0. Field 1. Field 2. And 2 more.")
    assert texts["suggestion"] == "Bring the files and the host together: docker compose up would recreate it."


def test_an_unreachable_engine_is_told_with_its_reason() -> None:
    store = Store()
    store.record_failure("diagnose", NOON + timedelta(seconds=1), 1.0, DockerConnectionError("no socket"))

    assert say(store, alert("BconDockerUnreachable", "critical", ()))["cause"] == "no socket"
