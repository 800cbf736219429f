"""Promise: a person reads what is wrong, why and what to do, the worst first; untrusted text stays text."""

import io
import re
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.console import Console

from bcon_exporter.model.findings import (
    DriftType,
    LikelyCause,
    NotEvaluated,
    ServiceDrift,
    Severity,
    Suggestion,
    Symptom,
    SymptomType,
    Urgency,
)
from bcon_exporter.model.incidents import EndedBy, IncidentLine, IncidentRoot, IncidentsReport
from bcon_exporter.model.journal import FoldedHistory, HistoryReport, JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.log_reports import ErrorExplanation, ExplainedCause, SampleLog
from bcon_exporter.model.quantities import show_size
from bcon_exporter.model.reports import (
    ContainerHealthSummary,
    ContainerInfo,
    ContainerLogs,
    ContainerStats,
    CostReport,
    DiagnoseAllReport,
    DiagnosisReport,
    DriftReport,
    DriftStatus,
    HealthCheck,
    LogEntry,
    OperationCost,
    RootCause,
)
from bcon_exporter.model.verify_report import (
    DeployedService,
    DeploymentRecord,
    DeploymentsReport,
    DeploymentVerdict,
    VerifyCode,
)
from bcon_exporter.outputs.text import render_markdown, render_text
from bcon_exporter.outputs.text.listings import show_percent
from bcon_exporter.tools.drift import DriftFindings
from tests.factories import NOON
from tests.table_rows import table

HOSTILE = "\x1b[31m[bold]x[/bold]\x1b]0;title\x07 | `a` ``` <b>\r\u202e\ud800 # *y* [l](http://e)\n- z"


def text_of(value: Any, *, width: int = 120, colour: bool = False, **options: Any) -> str:
    """Render for a terminal of this width, without colour unless asked."""
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=colour, color_system="standard" if colour else None, highlight=False
    )
    console.print(render_text(value, **options))
    return out.getvalue()


def symptom(kind: SymptomType = SymptomType.EXIT_ERROR, **facts: Any) -> Symptom:
    base = {"severity": Severity.ERROR, "description": "It exited with code 3.", "detected_at": NOON}
    return Symptom(type=kind, **{**base, **facts})


def report(name: str = "api", **facts: Any) -> DiagnosisReport:
    base: dict[str, Any] = {
        "container_id": "a" * 12,
        "container_name": name,
        "timestamp": NOON,
        "state": "exited",
        "uptime": None,
        "status": "error",
        "summary": "a summary",
        "detailed_explanation": "",
        "symptoms": (symptom(evidence=("panic: no config",)),),
        "likely_causes": (
            LikelyCause(id="no_config", description="The configuration is missing.", confidence=0.8),
            LikelyCause(id="other", description="Something else.", confidence=0.2),
        ),
        "suggestions": (
            Suggestion(
                urgency=Urgency.IMMEDIATE, action="Read the log.", rationale="It says why.", check="docker logs api"
            ),
            Suggestion(
                urgency=Urgency.LONG_TERM, action="Add a check.", rationale="Sooner seen.", check="docker logs api"
            ),
        ),
        "project": "shop",
        "service": "api",
    }
    return DiagnosisReport(**{**base, **facts})


def host(*reports: DiagnosisReport, **facts: Any) -> DiagnoseAllReport:
    counts = {
        status: sum(one.status == status for one in reports) for status in ("healthy", "warning", "error", "critical")
    }
    return DiagnoseAllReport(timestamp=NOON, total_containers=len(reports), reports=reports, **{**counts, **facts})


def drift(*differences: ServiceDrift, **facts: Any) -> DriftReport:
    base: dict[str, Any] = {
        "timestamp": NOON,
        "project_name": "shop",
        "compose_file": "/srv/compose.yaml",
        "status": DriftStatus.DRIFTED if differences else DriftStatus.SYNCED,
        "summary": "a summary",
        "differences": differences,
    }
    return DriftReport(**{**base, **facts})


def difference(**facts: Any) -> ServiceDrift:
    base: dict[str, Any] = {
        "service_name": "web",
        "drift_type": DriftType.CONFIG_MISMATCH,
        "expected": "128m",
        "actual": "64m",
        "message": "mem_limit differs",
        "field": "mem_limit",
        "container_name": "shop-web-1",
    }
    return ServiceDrift(**{**base, **facts})


HEALTHY = report(
    "fine", status="healthy", symptoms=(), likely_causes=(), suggestions=(), state="running", uptime=7200.0
)


def test_a_container_tells_what_why_and_what_to_do_in_this_order() -> None:
    shown = text_of(report())
    words = ["ERROR", "api", "shop/api", "exited", "It exited with code 3.", "exit_error", "panic: no config"]
    words += [
        "The configuration is missing.",
        "80%",
        "Something else.",
        "Read the log.",
        "It says why.",
        "Add a check.",
    ]
    places = [shown.index(word) for word in words]
    assert places == sorted(places)


def test_a_command_that_several_hints_share_stands_once() -> None:
    assert text_of(report()).count("docker logs api") == 1


def test_the_host_starts_with_counts_and_ends_with_the_healthy() -> None:
    lines = text_of(host(report("worst", status="critical"), report(), HEALTHY)).splitlines()
    assert re.split(r"\s{2,}", lines[0].strip()) == [
        "3 containers",
        "1 critical",
        "1 error",
        "1 healthy",
        "2026-01-01 12:00:00 UTC",
    ]
    assert lines[-1].split() == ["HEALTHY", "fine"]


def test_the_host_says_where_to_begin_in_both_forms() -> None:
    root = RootCause(container_id="d" * 12, container_name="db", status="error", issue=None, explains=("api", "web"))
    facts = host(report()).model_copy(update={"roots": (root,)})
    assert "begin with db: its trouble explains that of api, web" in text_of(facts)
    assert "**begin with db: its trouble explains that of api, web**" in render_markdown(facts)


def test_a_host_without_full_reports_shows_its_summaries_in_both_forms() -> None:
    """`call diagnose_all` has a line of each container and no more."""
    one = ContainerHealthSummary(container_id="a" * 12, container_name="api", status="error", top_issue="it *ended*")
    facts = host(report()).model_copy(update={"reports": (), "summaries": (one,)})
    assert text_of(facts).splitlines()[-1].split() == ["ERROR", "api", "it", "*ended*"]
    assert render_markdown(facts).endswith("\n- error: **api** it \\*ended\\*\n")
    assert "it \\*ended" not in render_markdown(host(report()).model_copy(update={"summaries": (one,)}))


def test_markdown_shows_values_as_people_write_them() -> None:
    """No Python and no JSON: yes and no, times as everywhere, labels and ports one by one."""
    info = ContainerInfo.model_validate(
        {
            "id": "a" * 12,
            "name": "web",
            "image": "shop:1",
            "state": "running",
            "status": "Up",
            "created": NOON,
            "ports": {"80/tcp": "8080", "53/udp": None},
            "labels": {"team": "<b>shop"},
            "oom_killed": False,
        }
    )
    lines = render_markdown(info).splitlines()
    assert lines[0] == "# web"
    assert "- created: 2026-01-01 12:00:00 UTC" in lines
    assert lines[-3:] == ["- port: 53/udp → not published", "- port: 80/tcp → 8080", "- label: team=\\<b\\>shop"]
    assert "- OOM-killed: no" in lines
    health = HealthCheck.model_validate(
        {
            "status": "healthy",
            "docker_connected": True,
            "docker_version": "20",
            "timestamp": NOON,
            "message": "well",
            "version": "1",
            "endpoints": {"stats": False, "list": True},
            "state_database": "file",
            "last_diagnose_age_seconds": 90.0,
        }
    )
    lines = render_markdown(health).splitlines()
    assert lines[0] == "# healthy: well"
    assert "- hanging: stats" in lines
    assert "- diagnosis: 90 s ago" in lines


def test_the_host_view_is_brief_and_one_container_is_told_in_full() -> None:
    assert "Something else." not in text_of(host(report()))
    assert "Something else." in text_of(report())


def test_healthy_containers_are_shown_in_full_on_request() -> None:
    assert "running for 2 h" in text_of(host(HEALTHY), healthy_too=True)
    assert "running for 2 h" not in text_of(host(HEALTHY))


def test_what_could_not_be_judged_or_read_is_said() -> None:
    blind = NotEvaluated(symptom=SymptomType.HIGH_CPU, missing=("usage",), reason="stats hang")
    shown = text_of(host(report(not_evaluated=(blind,)), unread={"events": "no stream"}, incomplete=("api",)))
    assert "high_cpu not judged: stats hang" in shown
    assert "not read: events: no stream" in shown
    assert "incomplete facts of: api" in shown


def test_since_when_and_how_sure_is_said() -> None:
    shown = text_of(report(symptoms=(symptom(confidence=0.7, first_seen=NOON - timedelta(hours=3)),)))
    assert "exit_error, 70% sure, since 3 h 0 min ago" in shown


def test_a_line_that_two_symptoms_quote_stands_once() -> None:
    quoted = symptom(SymptomType.NETWORK_ERROR, evidence=("3 times: dial db: refused",))
    again = symptom(SymptomType.LOG_ERROR, evidence=("3 times: dial db: refused", "other"))
    shown = text_of(report(symptoms=(quoted, again)))
    assert (shown.count("dial db: refused"), shown.count("other")) == (1, 1)


def test_the_worst_symptom_stands_first() -> None:
    shown = text_of(report(symptoms=(symptom(), symptom(SymptomType.START_FAILED, severity=Severity.CRITICAL))))
    assert shown.index("start_failed") < shown.index("exit_error")


def test_what_could_not_be_judged_on_containers_that_look_healthy_is_told() -> None:
    blind = NotEvaluated(symptom=SymptomType.EXIT_ERROR, missing=("lifecycle",), reason="history does not tell")
    names = [f"one{number}" for number in range(7)]
    shown = text_of(
        host(*(HEALTHY.model_copy(update={"container_name": name, "not_evaluated": (blind,)}) for name in names))
    )
    assert "not judged: exit_error of one0, one1, one2, one3, one4 and 2 more: history does not tell" in shown


def test_one_reason_for_several_rules_is_told_once_for_the_same_containers() -> None:
    reason = "the log driver none cannot be read back"
    blind = tuple(
        NotEvaluated(symptom=symptom, missing=("logs",), reason=reason)
        for symptom in (SymptomType.LOG_ERROR, SymptomType.NETWORK_ERROR)
    )
    other = NotEvaluated(symptom=SymptomType.HIGH_CPU, missing=("usage",), reason="stats hang")
    healthy = [
        HEALTHY.model_copy(update={"container_name": name, "not_evaluated": rules})
        for name, rules in (("a", blind), ("b", (*blind, other)), ("c", blind[:1]))
    ]
    told = [line.strip() for line in text_of(host(*healthy)).splitlines() if "not judged" in line]
    assert told == [
        f"not judged: log_error, network_error of a, b: {reason}",
        "not judged: high_cpu of b: stats hang",
        f"not judged: log_error of c: {reason}",
    ]
    assert render_markdown(host(*healthy)).count("not judged: ") == len(told)


def stats(name: str) -> ContainerStats:
    return ContainerStats(
        container_id="a",
        container_name=name,
        timestamp=NOON,
        cpu_percent=100.0,
        cpu_count=0.2,
        throttled_percent=99.9,
        memory_usage_bytes=345_678_901,
        memory_limit_bytes=1_234_567_890,
        memory_percent=28.0,
        network_rx_bytes=None,
        network_tx_bytes=None,
        block_read_bytes=None,
        block_write_bytes=None,
        pids=12345,
    )


def info(name: str) -> ContainerInfo:
    return ContainerInfo.model_validate(
        {
            "id": "a" * 12,
            "name": name,
            "image": "registry.example/shop/api:1.2.3",
            "state": "running",
            "health": "healthy",
            "status": "Up 2 hours (healthy)",
            "created": NOON,
            "compose_project": "shop",
        }
    )


@pytest.mark.parametrize(("width", "columns"), [(40, 2), (60, 5), (90, 8), (140, 12)])
def test_a_narrow_terminal_loses_columns_and_never_digits(width: int, columns: int) -> None:
    head, row = text_of((stats("shop-database-1"),), width=width).splitlines()
    assert len(head.replace("NET IN", "NET").replace("NET OUT", "NET").split()) == columns
    assert "shop-database-1" in row
    assert "100.0 %" in row


LONG = "shop-" + "x" * 140 + "-17"
"""Longer than any terminal is wide; the engine takes names of any length."""


@pytest.mark.parametrize("width", [40, 60, 80, 160])
def test_one_long_name_cuts_no_number_of_any_container(width: int) -> None:
    """It loses its middle, so that its beginning and its number are still seen."""
    head, short, long = (line.rstrip() for line in text_of((stats("db"), stats(LONG)), width=width).splitlines())
    assert short.split()[:3] == ["db", "100.0", "%"]
    assert re.match(r"shop-x+…x+-17 +100.0 %", long)
    assert head.split()[:2] == ["NAME", "CPU"]
    assert ("MEMORY" in head) == (width >= 80)


@pytest.mark.parametrize("width", [60, 80, 160])
def test_one_long_name_hides_no_state_of_any_container(width: int) -> None:
    head, short, long = text_of((info("db"), info(LONG)), width=width).splitlines()
    for line in (short, long):
        assert re.search(r"running healthy +Up 2 hours \(healthy\)", line)
    assert head.split()[:3] == ["NAME", "STATE", "STATUS"]
    assert re.match(r"shop-x+…x+-17 ", long)


def test_a_name_of_ordinary_length_stands_whole_though_columns_are_lost_for_it() -> None:
    name = "n" * 64
    assert f"{name}  running healthy" in text_of((info(name),), width=110)
    assert name in text_of((stats(name),), width=80)


@pytest.mark.parametrize(
    ("width", "columns"),
    [
        (40, ["OPERATION", "CALLS", "USD"]),
        (60, ["OPERATION", "CALLS", "SECONDS", "USD"]),
        (80, ["OPERATION", "CALLS", "TOKENS IN", "TOKENS OUT", "SECONDS", "USD"]),
        (100, ["OPERATION", "CALLS", "TOKENS IN", "TOKENS OUT", "ENGINE CALLS", "SECONDS", "USD"]),
    ],
)
def test_the_cost_on_a_narrow_terminal_loses_columns_and_never_digits(width: int, columns: list[str]) -> None:
    sums = OperationCost(operations=12, input_tokens=345, output_tokens=67890, docker_calls=24, seconds=1.29)
    ledger = CostReport(
        period_start=NOON,
        period_end=NOON,
        total_cost_usd=0.0,
        total_operations=12,
        by_operation={"get_untracked_containers": sums},
        cache_hit_rate=0.0,
        estimated_savings_usd=0.0,
        note="free",
    )
    shown = [re.split(r"\s{2,}", line.strip()) for line in text_of(ledger, width=width).splitlines()]
    place = next(index for index, cells in enumerate(shown) if cells[0] == "OPERATION")
    whole = {"TOKENS IN": "345", "TOKENS OUT": "67890", "ENGINE CALLS": "24", "SECONDS": "1.29", "USD": "0.00"}
    assert shown[place] == columns
    assert shown[place + 1] == ["get_untracked_containers", "12", *(whole[name] for name in columns[2:])]


def test_drift_shows_file_and_reality_aligned() -> None:
    shown = text_of(DriftFindings(reports=(drift(difference()), drift(project_name="ok")), untracked=("stray",)))
    lines = [line.rstrip() for line in shown.splitlines()]
    expected, actual = (next(line for line in lines if line.endswith(value)) for value in ("128m", "64m"))
    assert expected.index("128m") == actual.index("64m")
    assert lines[0].startswith("2 Compose projects  1 drifted  1 synced")
    assert lines[-1] == "1 running container in no Compose file: stray"


def test_deployments_are_listed_with_what_failed_and_what_had_changed() -> None:
    waits = DeployedService(
        service="web", verdict=DeploymentVerdict.BAD, code=VerifyCode.WAITS_FOR, root="db", message="It waits for db."
    )
    crashed = waits.model_copy(
        update={
            "service": "db",
            "code": VerifyCode.CRASHED,
            "root": None,
            "message": "It ended with code 1.",
            "changes": ("environment: STORE removed",),
        }
    )
    well = DeployedService(service="cache", verdict=DeploymentVerdict.GOOD, message="1 container running.")
    record = DeploymentRecord(
        project="shop",
        at=NOON,
        since=NOON,
        verdict=DeploymentVerdict.BAD,
        summary="shop: 2 services of 3 failed: db, web. Begin with db.",
        services=(crashed, waits, well),
    )
    value = DeploymentsReport(total=4, deployments=(record,), known_since=None)
    assert [line.strip() for line in text_of(value).splitlines()] == [
        "1 of 4 deployments",
        "BAD   shop: 2 services of 3 failed: db, web. Begin with db.  deployed 2026-01-01 12:00:00 UTC",
        "crashed   db: It ended with code 1.",
        "changed  environment: STORE removed",
        "waits_for   web: It waits for db.  suffers from db",
        "No daemon has watched here: see --state.path.",
    ]
    assert "crashed: **db**: It ended with code 1." in render_markdown(value)
    assert text_of(DeploymentsReport(total=0, deployments=(), known_since=NOON)).strip() == "No deployment."


def test_an_unknown_drift_tells_its_reason() -> None:
    unknown = drift(status=DriftStatus.UNKNOWN, unknown_reason="not_found", unknown_detail="the file is not here")
    assert "the file is not here" in text_of(unknown)
    assert "UNKNOWN" in text_of(unknown)


def test_doubts_remarks_and_changes_behind_composes_back_are_told_in_both_forms() -> None:
    value = drift(
        difference(outside_compose=True, compose_would="nothing"),
        doubts=(difference(field="user", confidence=0.3, compose_would="recreate"),),
        remarks=(difference(message="Compose would recreate web-1.", field=None, confidence=0.3),),
        unresolved=("WHO", "WHERE"),
        untracked=("stray",),
        rule_errors=(DriftType.NOT_RUNNING,),
    )
    for shown in (text_of(value), render_markdown(value).replace("\\", "")):
        for said in (
            "changed behind Compose's back",
            "docker compose up would leave it as it is",
            "the unknown variables decide",
            "30% sure",
            "Compose would recreate web-1.",
            "Variables without a value: WHO, WHERE.",
            "Rules that failed: not_running",
            "stray",
        ):
            assert said in shown


def test_colour_comes_by_severity_and_only_where_asked() -> None:
    assert "\x1b[1;31m" in text_of(report(), colour=True)
    assert "\x1b" not in text_of(report())


HOSTILE_VALUES = [
    host(
        report(
            HOSTILE,
            summary=HOSTILE,
            project=HOSTILE,
            symptoms=(symptom(description=HOSTILE, evidence=(HOSTILE,)),),
            likely_causes=(LikelyCause(id="x", description=HOSTILE, confidence=1),),
            suggestions=(Suggestion(urgency=Urgency.SHORT_TERM, action=HOSTILE, rationale=HOSTILE, check=HOSTILE),),
        ),
        unread={HOSTILE: HOSTILE},
        incomplete=(HOSTILE,),
    ),
    DriftFindings(
        reports=(
            drift(
                difference(service_name=HOSTILE, expected=HOSTILE, actual=HOSTILE, field=HOSTILE),
                difference(field=None, message=HOSTILE, container_name=HOSTILE),
                unresolved=(HOSTILE,),
                doubts=(difference(service_name=HOSTILE, field=HOSTILE),),
                remarks=(difference(message=HOSTILE),),
                unknown_reason="parse_error",
                unknown_detail=HOSTILE,
                project_name=HOSTILE,
            ),
        ),
        untracked=(HOSTILE,),
    ),
    ContainerLogs(
        container_id="a",
        container_name=HOSTILE,
        entries=(LogEntry(timestamp=NOON, stream="stderr", message=HOSTILE),),
        tail=1,
    ),
    ErrorExplanation(
        container_id="a",
        container_name=HOSTILE,
        pattern=HOSTILE,
        occurrences=1,
        first_seen=NOON,
        last_seen=NOON,
        explanation=HOSTILE,
        samples=(SampleLog(timestamp=NOON, lines=(HOSTILE, "b"), match_index=0),),
    ),
]


@pytest.mark.parametrize(
    ("occurrences", "shown"),
    [(0, "not found: "), (1, "once "), (2, "2 times ")],
)
def test_one_is_counted_as_one(occurrences: int, shown: str) -> None:
    found = ErrorExplanation(
        container_id="a",
        container_name="api",
        pattern="refused",
        occurrences=occurrences,
        first_seen=None,
        last_seen=None,
        explanation="It occurs.",
    )
    assert text_of(found).startswith(f"{shown}'refused' in api")
    assert render_markdown(found).startswith(f"# {shown}'refused' in api\n")


def test_an_explanation_marks_what_is_history() -> None:
    cause = ExplainedCause(id="peer_down", description="The peer is down.", confidence=0.5, history=True)
    found = ErrorExplanation(
        container_id="a",
        container_name="api",
        pattern="refused",
        occurrences=3,
        history_occurrences=2,
        first_seen=NOON,
        last_seen=NOON,
        explanation="It occurs.",
        causes=(cause,),
        samples=(
            SampleLog(timestamp=NOON, lines=("refused at first",), match_index=0, history=True),
            SampleLog(timestamp=NOON, lines=("refused now",), match_index=0),
        ),
    )
    shown, markdown = text_of(found), render_markdown(found)
    assert "3 times (2 of them history) 'refused' in api" in shown
    assert "The peer is down.  50%  history" in shown
    assert re.search(r"history *\n +> refused at first", shown)
    assert shown.count("history") == 3
    assert "(50%, history)" in markdown
    assert markdown.count("\nhistory\n") == 1
    assert "> refused at first" in markdown


@pytest.mark.parametrize("value", HOSTILE_VALUES, ids=lambda value: type(value).__name__)
def test_untrusted_text_controls_no_terminal_and_is_no_markup(value: Any) -> None:
    shown = text_of(value)
    assert not set("\x1b\x07\r\u202e\ud800") & set(shown)
    assert "[bold]x[/bold]" in shown


@pytest.mark.parametrize("value", HOSTILE_VALUES, ids=lambda value: type(value).__name__)
def test_untrusted_text_is_no_markup_in_markdown(value: Any) -> None:
    shown = render_markdown(value)
    assert not set("\x1b\x07\r\u202e\ud800") & set(shown)
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(shown)
    inline = [token for outer in tokens for token in (outer, *(outer.children or ()))]
    ours = {"strong_open", "code_inline", "fence", "heading_open", "bullet_list_open", "table_open"}
    kinds = {token.type for token in inline if not token.type.endswith("_close")}
    theirs = kinds - ours - {"text", "inline", "softbreak", "paragraph_open", "list_item_open"}
    assert not theirs - {"thead_open", "tbody_open", "tr_open", "th_open", "td_open"}
    assert "z" not in [token.content for token in inline if token.type == "inline"], "its list is no list"


@table("raw", ["- z", "+ z", "* z", "1. z", "12) z", "# z", "> z", "    z", "===", "| z |", "<z>", "```"])
def test_what_begins_a_line_begins_no_list_and_no_heading(raw: str) -> None:
    shown = render_markdown(drift(status=DriftStatus.UNKNOWN, unknown_detail=raw))
    tokens = MarkdownIt("commonmark").parse(shown)
    assert [token.type for token in tokens] == [
        *("heading_open", "inline", "heading_close"),
        *("paragraph_open", "inline", "paragraph_close"),
    ]
    item = render_markdown(host(report(symptoms=(), summary=raw)))
    assert [token.tag for token in MarkdownIt("commonmark").parse(item) if token.nesting == 1][-4:] == ["li", "p"] * 2


@pytest.mark.parametrize("message", ["```", "z\n````\n- z", "~~~", " ```"])
def test_a_log_stays_one_block_whatever_it_says(message: str) -> None:
    entries = (LogEntry(timestamp=None, stream="stdout", message=message),)
    shown = render_markdown(ContainerLogs(container_id="a", container_name="api", entries=entries, tail=1))
    (block,) = MarkdownIt("commonmark").parse(shown)
    assert (block.type, block.content) == ("fence", f"{message}\n")


@pytest.mark.parametrize("check", ["a ` *z*", "`a``b`", "`", "a | b"])
def test_a_command_stays_one_block_whatever_it_says(check: str) -> None:
    advice = Suggestion(urgency=Urgency.IMMEDIATE, action="Look.", rationale="", check=check)
    tokens = MarkdownIt("commonmark").parse(render_markdown(report(suggestions=(advice,))))
    codes = [child.content for token in tokens for child in token.children or () if child.type == "code_inline"]
    assert codes[-1] == check


@settings(deadline=None)
@given(st.text(max_size=60))
def test_no_text_breaks_a_face(raw: str) -> None:
    value = report(raw, symptoms=(symptom(description=raw, evidence=(raw,)),))
    assert text_of(value, width=30)
    assert render_markdown(value).endswith("\n")


@pytest.mark.parametrize("width", [10, 20, 40, 200])
def test_every_width_is_survived(width: int) -> None:
    for value in (host(report(), HEALTHY), DriftFindings(reports=(drift(difference()),), untracked=())):
        assert all(len(line) <= width for line in text_of(value, width=width).splitlines())


@pytest.mark.parametrize("value", [5, "text", None, {"a": 1}, (5,), [None]])
def test_what_no_tool_returns_has_no_form(value: object) -> None:
    with pytest.raises(TypeError):
        render_text(value)
    with pytest.raises(TypeError):
        render_markdown(value)


@pytest.mark.parametrize(
    ("size", "shown"),
    [(None, "-"), (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (2**20, "1.0 MiB"), (2**40, "1.0 TiB")],
)
def test_sizes_are_binary(size: int | None, shown: str) -> None:
    assert show_size(size) == shown


def test_an_unknown_percent_is_a_dash_and_never_0() -> None:
    assert (show_percent(None), show_percent(0.0)) == ("-", "0.0 %")


def happened(minutes: float, text: str, kind: JournalKind = JournalKind.CRASH, **facts: Any) -> JournalEntry:
    given = {"container": "shop-web-1", "project": "shop", "service": "web", **facts}
    return JournalEntry(at=NOON + timedelta(minutes=minutes), kind=kind, text=text, **given)


CRASHES = [happened(minute, f"crashed after {minute} s, exit code 1", data={"exit_code": 1}) for minute in range(43)]
IMAGE = happened(-14 * 60, "another image: registry.example/team/web:2.1, before registry.example/team/web:2.0",
                 JournalKind.IMAGE_CHANGE)  # fmt: skip


def folded(**facts: Any) -> FoldedHistory:
    window = {"since": NOON - timedelta(days=1), "until": NOON + timedelta(hours=1), "known_since": NOON}
    counts = {"rows": 44, "rows_read": 44, "lines": 2, "entries": ()}
    return FoldedHistory.model_validate({**window, **counts, **facts})


def test_a_history_has_dates_as_headings_and_whole_times_at_80_columns() -> None:
    report = HistoryReport(since=NOON - timedelta(days=1), until=NOON + timedelta(hours=1), total=44,
                           entries=(*reversed(CRASHES), IMAGE), known_since=NOON - timedelta(days=9))  # fmt: skip
    assert [shown.rstrip() for shown in text_of(report, width=80).splitlines()] == [
        "44 rows in 2 lines  2025-12-31 12:00:00 UTC to 2026-01-01 13:00:00 UTC",
        "TIME UTC    WHO         PROJECT  WHAT",
        "2026-01-01",
        "12:42:00    shop-web-1  shop     crashed 43 times, 12:00 to 12:42 UTC, exit code",
        "                                 1",
        "2025-12-31",
        "22:00:00    shop-web-1  shop     another image: registry.example/team/web:2.1,",
        "                                 before registry.example/team/web:2.0",
    ]


def test_changes_tell_images_and_configuration_first_and_what_was_left_out() -> None:
    shown = text_of(folded(setup=(IMAGE,), entries=(CRASHES[-1],), lines=7, rows=12_000, rows_read=10_000), width=80)
    places = [shown.index(part) for part in ("Images, conf", "another image", "Starts, ends", "crashed after 42 s")]
    assert places == sorted(places)
    assert "12000 rows in 7 lines" in shown
    assert "5 lines more: see --limit and --since." in shown
    assert "Read were the newest 10,000 rows" in shown


@table("width", [40, 60, 80, 120])
def test_times_stand_whole_however_long_the_names_are(width: int) -> None:
    long_name = "a-project-with-a-name-that-is-much-too-long-for-any-terminal-of-today-1"
    entries = (happened(0, "crashed, exit code 1", container=long_name, project=long_name[:60]), *CRASHES[:1])
    shown = text_of(folded(entries=entries, rows=2, lines=2), width=width)
    assert shown.split("WHAT")[1].count("\n12:00:00  ") == 2
    assert max(map(len, shown.splitlines()[1:])) <= width


def test_incidents_have_dates_as_headings_and_whole_ids_at_80_columns() -> None:
    root = IncidentRoot(container="shop-database-1", project="shop", service="database", code="missing_service")
    title = "the database of shop was removed by hand; api, web and worker look its name up in vain"
    going_on = IncidentLine(
        id="2026-01-01-shop-database-missing_service-1",
        started_at=NOON,
        ended_at=None,
        severity=Severity.ERROR,
        root=root,
        suffers=(),
        ended_by=None,
        merged_into=None,
        acknowledged_at=None,
        title=title,
    )
    over = going_on.model_copy(update={"id": "2025-12-31-shop-database-missing_service-1",
                                       "started_at": NOON - timedelta(days=1), "ended_at": NOON,
                                       "ended_by": EndedBy.STARTED})  # fmt: skip
    left = over.model_copy(update={"ended_by": None})
    report = IncidentsReport(since=NOON - timedelta(days=7), total=1, incidents=(left,), known_since=NOON)
    assert "told no more after 24 h 0 min" in text_of(report, width=80)
    report = IncidentsReport(since=NOON - timedelta(days=7), total=2, incidents=(going_on, over), known_since=NOON)
    assert [shown.rstrip() for shown in text_of(report, width=80).splitlines()] == [
        "2 incidents  since 2025-12-25 12:00:00 UTC",
        "2026-01-01  UTC",
        "12:00:00  the database of shop was removed by hand; api, web and worker look its",
        "          name up in vain",
        "          open  2026-01-01-shop-database-missing_service-1",
        "2025-12-31  UTC",
        "12:00:00  the database of shop was removed by hand; api, web and worker look its",
        "          name up in vain",
        "          over after 24 h 0 min  2025-12-31-shop-database-missing_service-1",
    ]
