"""A message says what, where, since when, why and what to do, in a few lines, and none of a container's secrets."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bcon_exporter.model.findings import LikelyCause, Severity, Suggestion, SymptomType, Urgency
from bcon_exporter.model.incidents import EndedBy, FirstLook, IncidentChange, IncidentMember, IncidentRoot
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.messages import Notice, NoticeKind
from bcon_exporter.outputs.messages import Wording
from tests.factories import NOON, container, snapshot
from tests.incidents.test_quiet import incident
from tests.outputs.scenes import diagnosis, scan_of, symptom

MINUTE = timedelta(minutes=1)
DB = container(name="db")
REPORT = diagnosis(
    DB, symptoms=(symptom(SymptomType.OOM_KILLED, Severity.CRITICAL, description="killed at 64 of 64 MiB"),)
)
WORDING = Wording(
    host="host1",
    external_url="https://bcon.example",
    to_local=lambda at: at.astimezone(ZoneInfo("Europe/Berlin")),
    hide=lambda text: text.replace("hunter2", "***"),
    scan=scan_of(snapshot(DB), REPORT),
)
CHANGE = IncidentChange(
    kind=JournalKind.IMAGE_CHANGE, at=NOON, seconds_before=180, project="shop", service="db", container="db",
    text="runs another image",
)  # fmt: skip


def suggestion(action: str) -> Suggestion:
    return Suggestion(action=action, rationale="because", urgency=Urgency.IMMEDIATE)


FULL: dict[str, Any] = {
    "id": "2026-01-01-db-oom_killed-1",
    "title": "db was killed for want of memory; api suffers from it",
    "causes": (LikelyCause(id="limit", description="the memory limit is too small", confidence=0.9),),
    "suggestions": (suggestion("raise the memory limit"), suggestion("look at the log")),
    "changes": (CHANGE,),
    "evidence": ("exit codes, newest last: 1, 1", "FATAL cannot fork, password=hunter2hunter2"),
    "log_line": "FATAL cannot fork, password=hunter2hunter2",
}


def notice(kind: NoticeKind, of: Any) -> Any:
    return Notice(incident_id=of.id, kind=kind, severity=of.severity), of


def test_it_says_all_one_needs_to_act_in_a_few_lines() -> None:
    message = WORDING.write("k" * 32, (notice(NoticeKind.OPENED, incident("db", "api", **FULL)),), NOON + MINUTE)

    assert message.title == "db was killed for want of memory; api suffers from it [host1]"
    assert message.body.splitlines() == [
        "Severity: critical",
        "Project: shop",
        "Since: 2026-01-01 13:00:00 (60 s)",
        "Why: the memory limit is too small",
        "Seen: killed at 64 of 64 MiB",
        "Changed before: db: runs another image (3 min before)",
        "Do: raise the memory limit",
        "Log: FATAL cannot fork, password=******",
        "https://bcon.example/i/2026-01-01-db-oom_killed-1",
    ]
    assert (message.key, message.kind) == ("k" * 32, "failure")
    assert len(message.title) + len(message.body) < 1000


def test_an_end_says_when_and_how() -> None:
    over = incident("db", "api", **FULL, ended_at=NOON + 12 * MINUTE, ended_by=EndedBy.RESTARTED)
    message = WORDING.write("k", (notice(NoticeKind.ENDED, over),), NOON + 20 * MINUTE)

    assert message.title.startswith("OVER: db was killed")
    assert message.kind == "success"
    assert "Until: 13:12:00 (after 12 min, it was restarted on request)" in message.body
    assert "Do:" not in message.body


def test_without_an_address_it_names_the_command_and_what_is_unknown_is_left_out() -> None:
    bare = replace(WORDING, external_url=None, scan=None)
    message = bare.write("k", (notice(NoticeKind.OPENED, incident("db")),), NOON)
    assert message.body.splitlines() == [
        "Severity: critical",
        "Project: shop",
        "Since: 2026-01-01 13:00:00 (0 s)",
        "bcon-exporter incidents 1",
    ]


@pytest.mark.parametrize(("count", "in_full"), [(2, True), (4, True), (5, False), (20, False)])
def test_several_are_told_in_one_message_short_when_they_are_many(count: int, *, in_full: bool) -> None:
    many = (incident("db", **{**FULL, "id": f"i{number}", "title": f"db{number} failed"}) for number in range(count))
    message = WORDING.write("k", tuple(notice(NoticeKind.OPENED, one) for one in many), NOON)

    assert message.title == f"{count} incidents [host1]"
    assert all(f"db{number} failed" in message.body for number in range(count))
    assert all(f"/i/i{number}" in message.body for number in range(count)) is in_full
    assert ("Do: raise" in message.body) is in_full


def test_of_many_each_has_its_cause_or_the_line_of_its_log() -> None:
    many = [
        incident(f"db{number}", **{**FULL, "id": f"i{number}", "title": f"db{number} failed"}) for number in range(5)
    ]
    many[1] = many[1].model_copy(update={"causes": (), "log_line": "FATAL: no space left, password=hunter2hunter2"})
    message = WORDING.write("k", tuple(notice(NoticeKind.OPENED, one) for one in many), NOON)
    lines = message.body.splitlines()
    assert lines[1] == "Failed: db1. Log: FATAL: no space left, password=******"
    assert lines[0].endswith(" Likely: the memory limit is too small")


def many_ill(count: int) -> list[Any]:
    """Failures of four kinds, each with its own cause; the first has who suffers from it."""
    kinds = (
        ("exit_error", "has failed", "The program reports an error."),
        ("log_error", "reports errors", "The disk is full."),
        ("start_failed", "could not be started", "Another container has this port."),
        ("exit_error", "has failed", "The disk is full."),
    )
    made = []
    for number in range(count):
        code, said, why = kinds[number % len(kinds)]
        name = f"svc-{number}"
        suffering = "; api suffers from it" if not number else ""
        causes = (LikelyCause(id=code, description=why, confidence=0.9),)
        root = IncidentRoot(container=name, code=code)
        made.append(incident(name, root=root, id=f"i{number}", title=f"{name} {said}{suffering}", causes=causes))
    return made


def test_what_was_ill_before_the_first_look_is_one_short_message_that_names_all_by_kind_and_cause() -> None:
    ill = many_ill(12)
    scan = scan_of(snapshot(DB), REPORT)
    scan = replace(scan, report=scan.report.model_copy(update={"total_containers": 40}))
    look = FirstLook(at=NOON, is_over=True)
    message = replace(WORDING, scan=scan, first_look=look).write(
        "k", tuple(notice(NoticeKind.OPENED, one) for one in ill), NOON
    )
    assert message.title == "12 of 40 have been ill since before the first look [host1]"
    assert message.body.splitlines() == [
        "Has failed: svc-0 (api suffers from it), svc-4, svc-8. Likely: The program reports an error.",
        "Reports errors: svc-1, svc-5, svc-9. Likely: The disk is full.",
        "Could not be started: svc-2, svc-6, svc-10. Likely: Another container has this port.",
        "Has failed: svc-3, svc-7, svc-11. Likely: The disk is full.",
        "Nothing is remembered from before this start: these may have been told already.",
        "https://bcon.example/incidents",
    ]


@pytest.mark.parametrize("count", [5, 30, 100, 300])
def test_a_message_about_many_fits_a_phone_and_says_how_much_it_leaves_out(count: int) -> None:
    why = "it is so, for a reason of its own that takes some words to tell; " * 3
    ill = [
        incident(
            f"a-service-with-a-name-{number}", id=f"i{number}", title=f"a-service-with-a-name-{number} has failed",
            causes=(LikelyCause(id="x", description=f"{number}: {why}", confidence=0.9),),
        )
        for number in range(count)
    ]  # fmt: skip
    message = WORDING.write("k", tuple(notice(NoticeKind.OPENED, one) for one in ill), NOON)

    assert len(message.body.encode()) < 3600
    named = message.body.count("Has failed: a-service-with-a-name-")
    assert named == count or f"And {count - named} line" in message.body
    assert named >= min(count, 25)


def test_what_an_engine_did_not_start_again_is_named_whole_and_no_exit_code_stands_for_a_log_line() -> None:
    names = [f"job-with-a-rather-long-name-{number}" for number in range(20)]
    members = (
        IncidentMember(container=None, role="root", since=NOON),
        *(
            IncidentMember(container=name, role="suffers", symptoms=("not_started_again",), since=NOON)
            for name in names
        ),
    )
    root = IncidentRoot(container=None, code="host")
    host = incident("db", root=root, members=members, severity=Severity.WARNING, title="the engine was restarted")
    message = WORDING.write("k", (notice(NoticeKind.OPENED, host),), NOON)

    assert all(name in message.body for name in names)
    assert message.body.count("Not started again: ") > 1
    assert max(map(len, message.body.splitlines())) <= 330
    assert "Log:" not in message.body


def test_what_nothing_has_mended_is_not_said_to_be_over() -> None:
    old = incident("db", "api", **FULL, ended_at=NOON + 24 * 60 * MINUTE)
    message = WORDING.write("k", (notice(NoticeKind.ENDED, old),), NOON + 25 * 60 * MINUTE)

    assert message.title.startswith("TOLD NO MORE: db ")
    assert "it is as it was, and history by now" in message.body


@pytest.mark.parametrize("place", ["cause", "suggestion", "change", "evidence", "title", "symptom"])
def test_no_secret_and_no_line_break_of_a_container_leaves(place: str) -> None:
    bad = "token=ghp_0123456789abcdefghijABCDEFGHIJ012345\nForged: line\x1b[31m hunter2 \u202e postgres://u:p4ssw0rdXY@db/x"
    cases: dict[str, dict[str, Any]] = {
        "cause": {"causes": (LikelyCause(id="x", description=bad, confidence=0.9),)},
        "suggestion": {"suggestions": (suggestion(bad),)},
        "change": {"changes": (CHANGE.model_copy(update={"text": bad}),)},
        "evidence": {"evidence": (bad,)},
        "title": {"title": bad},
        "symptom": {},
    }
    changed = cases[place]
    report = diagnosis(DB, symptoms=(symptom(SymptomType.OOM_KILLED, description=bad),))
    wording = replace(WORDING, scan=scan_of(snapshot(DB), report)) if place == "symptom" else WORDING
    for count in (1, 2):
        about = incident("db", **{**FULL, **changed})
        message = wording.write("k", tuple(notice(NoticeKind.OPENED, about) for _ in range(count)), NOON)
        text = message.title + "\n" + message.body
        assert "\n" not in message.title
        for secret in ("ghp_0123456789", "hunter2", "p4ssw0rdXY", "\x1b", "\u202e"):
            assert secret not in text
        assert not any(line.startswith("Forged") for line in text.splitlines())
