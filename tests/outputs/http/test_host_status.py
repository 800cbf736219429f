"""The status address: counts and the worst sentence, within 300 bytes, and "unknown" where the host is not known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bcon_exporter.errors import DockerConnectionError
from bcon_exporter.model.findings import Severity, SymptomType
from bcon_exporter.outputs.http.host_status import STATUS_PATH, render_status
from tests.factories import NOON, container, snapshot
from tests.outputs.http.asking import BEYOND, ask, site_of, users
from tests.outputs.scenes import diagnosis, make_context, scan_of, symptom
from tests.pages.stage import dirty_host

if TYPE_CHECKING:
    from bcon_exporter.tools import Context

BYTES_AT_MOST = 300
NEVER = {"total": None, "well": None, "not_checked": None, "warning": None, "error": None, "critical": None}


def status_of(context: Context) -> dict[str, Any]:
    """What a dashboard reads."""
    answer = ask(site_of(context), "GET", STATUS_PATH)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert len(answer.content) <= BYTES_AT_MOST, answer.text
    result: dict[str, Any] = answer.json()["result"]
    return result


def test_before_the_first_scan_nothing_is_counted() -> None:
    assert status_of(make_context()) == {
        "status": "unknown",
        **NEVER,
        "incidents": 0,
        "sentence": "Nothing is known yet: the first scan is under way.",
        "age_seconds": None,
    }


def test_the_status_is_the_worst_of_all_and_the_sentence_what_is_worst() -> None:
    context = dirty_host()
    scan = context.scans.diagnosis
    assert scan is not None
    status = status_of(context)
    report = scan.report
    assert status["status"] == ("critical" if report.critical else "error")
    assert status["total"] == report.total_containers
    assert status["total"] == sum(status[name] for name in NEVER if name != "total")
    assert not status["sentence"].startswith(f"{status['well']} of")


def test_a_host_that_is_well_says_so() -> None:
    context = make_context()
    context.scans.publish_diagnosis(scan_of(snapshot(container())))
    status = status_of(context)
    assert (status["status"], status["sentence"]) == ("healthy", "The one container is well.")


def test_what_may_have_changed_since_is_not_called_healthy() -> None:
    context = make_context()
    context.scans.publish_diagnosis(scan_of(snapshot(container())))
    context.scans.record_failure("diagnose", NOON, 0.1, DockerConnectionError("the engine does not answer"))
    status = status_of(context)
    assert (status["status"], status["total"]) == ("unknown", 1)
    assert status["sentence"].startswith("How the host is now is not known")


def test_the_longest_answer_has_at_most_300_bytes() -> None:
    context = make_context()
    name, words = "n" * 80 + "é" * 20, 'it said "\\\x01" '
    ill = symptom(SymptomType.EXIT_ERROR, Severity.CRITICAL, description=words * 20)
    scan = scan_of(snapshot(), diagnosis(container(name=name), symptoms=(ill,), status="critical", summary=words * 20))
    counts = dict.fromkeys(("total_containers", "healthy", "not_checked", "warning", "error", "critical"), 99_999)
    context.scans.publish_diagnosis(replace(scan, report=scan.report.model_copy(update=counts)))
    assert len(render_status(context, None)) <= BYTES_AT_MOST
    hang = f"{words}{name} " * 20
    assert len(render_status(context, hang)) <= BYTES_AT_MOST


def test_it_is_a_report_not_a_probe() -> None:
    known = users(prometheus="correct horse")
    answers = {
        "stranger beyond loopback": ask(site_of(), "GET", STATUS_PATH, policy=BEYOND, host="example.org"),
        "without a password": ask(site_of(), "GET", STATUS_PATH, known=known),
        "to be written": ask(site_of(), "POST", STATUS_PATH),
    }
    assert [answer.status_code for answer in answers.values()] == [403, 401, 405]
