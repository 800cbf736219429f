"""The API gives every tool and the latest reports; every error comes in the envelope with the fitting status."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bcon_exporter import errors
from bcon_exporter.errors import BconError, ErrorCode
from bcon_exporter.latest_scans import AlertRound
from bcon_exporter.model.alerts import Alert, AlertsReport
from bcon_exporter.model.findings import DriftType
from bcon_exporter.outputs.http.replies import STATUS_BY_CODE
from bcon_exporter.tools import TOOLS
from bcon_exporter.tools.replay import SnapshotHost
from tests.factories import NOON, compose, container, exited, snapshot
from tests.outputs.http.asking import ask, error_of, site_of
from tests.outputs.scenes import ENGINE, Clock, difference, drift_report, drift_scan, make_context, scan_of
from tests.table_rows import table

HOST = snapshot(container(name="web", compose=compose("web")), exited(name="job"), engine=ENGINE)


def context_of(**changes: Any) -> Any:
    """A context over two containers."""
    return make_context(HOST, now=lambda: NOON, **changes)


def test_every_tool_is_listed_with_its_schemas() -> None:
    listed = ask(site_of(), "GET", "/api/v1/tools").json()["result"]

    assert [tool["name"] for tool in listed] == [tool.name for tool in TOOLS]
    assert all(tool["input_schema"]["type"] == "object" for tool in listed)


@table(
    ("tool", "payload"),
    [
        ("list_containers", {"all": True}),
        ("get_container_info", {"container_id": "web"}),
        ("get_container_stats", {"container_id": "web"}),
        ("get_container_logs", {"container_id": "web", "tail": 5}),
        ("get_untracked_containers", {}),
        ("diagnose_container", {"container_id": "web"}),
        ("explain_error", {"container_id": "web", "error_pattern": "refused"}),
        ("diagnose_all", {"include_healthy": True}),
        ("health_check", {}),
        ("get_cost_report", {"period": "week"}),
        ("get_disk_usage", {"limit": 5}),
        ("read_logs", {"unit": "web.service", "lines": 5}),
        ("system_status", {"include_disk": True}),
        ("schedule_task", {"task": "drift"}),
    ],
)
def test_every_tool_answers_a_post(tool: str, payload: dict[str, Any]) -> None:
    answer = ask(site_of(context_of()), "POST", f"/api/v1/tools/{tool}", json=payload)

    assert answer.status_code == 200, answer.text
    assert set(answer.json()) == {"result"}


@pytest.mark.parametrize("body", [b"", b"{}", b"null"])
def test_an_empty_body_is_an_empty_input(body: bytes) -> None:
    headers = {"content-type": "application/json"}
    answer = ask(site_of(), "POST", "/api/v1/tools/health_check", content=body, headers=headers)
    assert answer.status_code == 200


@table(
    ("path", "field", "value"),
    [
        ("/api/v1/containers/web", "name", "web"),
        ("/api/v1/containers/web/stats", "container_name", "web"),
        ("/api/v1/containers/web/logs?tail=7", "tail", 7),
        ("/api/v1/containers/web/logs?tail=7&timestamps=off&since=2026-01-31T12:00:00Z", "tail", 7),
        ("/api/v1/containers/web/diagnosis?include_logs=false", "container_name", "web"),
        ("/api/v1/health", "status", "healthy"),
        ("/api/v1/cost?period=month", "total_cost_usd", 0.0),
        ("/api/v1/disk?limit=5", "left_out", 0),
    ],
)
def test_reports_answer_a_get(path: str, field: str, value: object) -> None:
    answer = ask(site_of(context_of()), "GET", path)

    assert answer.status_code == 200, answer.text
    assert answer.json()["result"][field] == value


@pytest.mark.parametrize(
    ("query", "names"),
    [("", ["web"]), ("?all=true", ["web", "job"]), ("?all=true&status=exited", ["job"]), ("?project=shop", ["web"])],
)
def test_containers_are_listed_by_filters(query: str, names: list[str]) -> None:
    listed = ask(site_of(context_of()), "GET", f"/api/v1/containers{query}").json()["result"]

    assert sorted(each["name"] for each in listed) == sorted(names)


@table(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/v1/containers/wib", 404, "container_not_found"),
        ("GET", "/api/v1/containers/wib/logs", 404, "container_not_found"),
        ("GET", "/api/v1/containers/web/logs?tail=-1", 400, "invalid_input"),
        ("GET", "/api/v1/containers/web/logs?tail=many", 400, "invalid_input"),
        ("GET", "/api/v1/containers/web/logs?tial=5", 400, "invalid_input"),
        ("GET", "/api/v1/containers/web?verbose=1", 400, "invalid_input"),
        ("GET", "/api/v1/containers?label=a&label=b", 400, "invalid_input"),
        ("GET", "/api/v1/containers/web/logs?tail=1&tail=2", 400, "invalid_input"),
        ("GET", "/api/v1/containers?colour=red", 400, "invalid_input"),
        ("GET", "/api/v1/containers/" + "a" * 1000, 400, "invalid_input"),
        ("GET", "/api/v1/containers/..%2fimages", 404, "invalid_input"),
        ("GET", "/api/v1/containers/%2e%2e", 400, "invalid_input"),
        ("GET", "/api/v1/cost?period=century", 400, "invalid_input"),
        ("GET", "/api/v1/disk?limit=5001", 400, "invalid_input"),
        ("GET", "/api/v1/nothing", 404, "invalid_input"),
        ("POST", "/api/v1/tools/diagnose_al", 404, "invalid_input"),
        ("GET", "/api/v1/tools/diagnose_all", 405, "invalid_input"),
    ],
)
def test_bad_requests_are_refused_in_the_envelope(method: str, path: str, status: int, code: str) -> None:
    answer = ask(site_of(context_of()), method, path)

    assert answer.status_code == status, answer.text
    assert error_of(answer)["code"] == code


def test_near_matches_help_with_a_wrong_name() -> None:
    site = site_of(context_of())

    missing = error_of(ask(site, "GET", "/api/v1/containers/wib"))
    unknown = error_of(ask(site, "POST", "/api/v1/tools/diagnose_al", json={}))

    assert "web" in missing["details"]["near_matches"]
    assert "diagnose_all" in unknown["details"]["near_matches"]


@pytest.mark.promise("S3")
@table(
    ("body", "content_type", "status"),
    [
        (b"{", "application/json", 400),
        (b"[1]", "application/json", 400),
        (b'"text"', "application/json", 400),
        (b"NaN", "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b"[" * 60_000, "application/json", 400),
        (b'{"container_id": 5}', "application/json", 400),
        (b'{"container_id": "web", "extra": 1}', "application/json", 400),
        (b'{"container_id": "../x"}', "application/json", 400),
        (b'{"container_id": "web"}', "text/plain", 415),
        (b'{"container_id": "web"}', "application/x-www-form-urlencoded", 415),
        (b'{"container_id": "web"}', "", 415),
    ],
)
def test_bodies_that_are_no_input_are_refused(body: bytes, content_type: str, status: int) -> None:
    headers = {"content-type": content_type} if content_type else {}

    answer = ask(site_of(context_of()), "POST", "/api/v1/tools/get_container_info", content=body, headers=headers)

    assert answer.status_code == status, answer.text
    assert error_of(answer)["code"] == "invalid_input"


@pytest.mark.parametrize(
    ("tool", "payload", "field"),
    [
        ("get_container_logs", {"container_id": "web", "tail": "10"}, "tail"),
        ("get_container_logs", {"container_id": "web", "timestamps": "off"}, "timestamps"),
        ("diagnose_all", {"include_healthy": "yes"}, "include_healthy"),
    ],
)
def test_a_body_is_taken_only_as_its_schema_says(tool: str, payload: dict[str, Any], field: str) -> None:
    answer = ask(site_of(context_of()), "POST", f"/api/v1/tools/{tool}", json=payload)

    assert answer.status_code == 400, answer.text
    assert [each["field"] for each in error_of(answer)["details"]["errors"]] == [field]


@pytest.mark.promise("S5")
def test_an_unknown_field_is_named() -> None:
    payload = {"container_id": "web", "tial": 3}

    error = error_of(ask(site_of(context_of()), "POST", "/api/v1/tools/get_container_logs", json=payload))

    assert [each["field"] for each in error["details"]["errors"]] == ["tial"]
    assert "tail" in error["message"]


class BrokenHost(SnapshotHost):
    """A replayed host whose list fails."""

    def __init__(self, error: BconError) -> None:
        super().__init__(snapshot())
        self._error = error

    def observe(self, now: Any, deadline_seconds: float, wants: Any, before: Any = None) -> Any:  # noqa: ARG002
        """Fail."""
        raise self._error

    def resolve(self, container: str) -> str:  # noqa: ARG002
        """Fail."""
        raise self._error


ALL_ERRORS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, BconError)]


@table("kind", ALL_ERRORS)
def test_every_error_has_its_status(kind: type[BconError]) -> None:
    context = replace(make_context(), host=BrokenHost(kind("it went wrong", {"fact": 1})))

    answer = ask(site_of(context), "POST", "/api/v1/tools/diagnose_all", json={})

    assert answer.status_code == STATUS_BY_CODE[kind.code]
    error = error_of(answer)
    assert (error["code"], error["details"]) == (kind.code.value, {"fact": 1})


def test_the_statuses_are_those_of_the_specification() -> None:
    assert set(STATUS_BY_CODE) == set(ErrorCode)
    assert STATUS_BY_CODE[ErrorCode.PERMISSION_DENIED] == 403
    assert STATUS_BY_CODE[ErrorCode.COMPOSE_PARSE_ERROR] == 422
    assert STATUS_BY_CODE[ErrorCode.TIMEOUT] == 504


def test_too_many_requests_say_when_to_come_back() -> None:
    context = replace(make_context(), host=BrokenHost(errors.RateLimitedError("busy")))

    answer = ask(site_of(context), "POST", "/api/v1/tools/diagnose_all", json={})

    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) > 0


@pytest.mark.parametrize("path", ["/api/v1/diagnosis", "/api/v1/drift", "/api/v1/drift/shop"])
def test_before_the_first_scan_reports_are_503(path: str) -> None:
    answer = ask(site_of(), "GET", path)

    assert answer.status_code == 503
    assert "no " in error_of(answer)["message"]


def test_before_the_first_good_scan_the_error_of_the_failed_one_is_told() -> None:
    context = make_context()
    context.scans.record_failure("diagnose", NOON, 1.0, errors.PermissionDeniedError("the socket is forbidden"))

    answer = ask(site_of(context), "GET", "/api/v1/diagnosis")

    assert answer.status_code == 403
    assert error_of(answer)["message"] == "the socket is forbidden"


def test_the_last_diagnosis_has_every_full_report_and_its_age() -> None:
    context = context_of(monotonic=Clock(1012.5))
    context.scans.publish_diagnosis(scan_of(HOST, ended=1000.0))

    result = ask(site_of(context), "GET", "/api/v1/diagnosis").json()["result"]

    assert result["age_seconds"] == 12.5
    assert [each["container_name"] for each in result["reports"]] == ["web", "job"]
    assert result["total_containers"] == 2


def test_a_new_scan_replaces_the_text_of_the_last() -> None:
    context = context_of()
    site = site_of(context)
    context.scans.publish_diagnosis(scan_of(HOST))
    first = ask(site, "GET", "/api/v1/diagnosis").json()["result"]

    context.scans.publish_diagnosis(scan_of(snapshot(container(name="new"))))

    assert first["total_containers"] == 2
    assert ask(site, "GET", "/api/v1/diagnosis").json()["result"]["total_containers"] == 1


def test_the_last_drift_is_given_whole_and_by_project() -> None:
    context = context_of(monotonic=Clock(1001.0))
    report = drift_report("shop", difference(DriftType.IMAGE_MISMATCH))
    context.scans.publish_drift(drift_scan(report, untracked=("job",)))
    site = site_of(context)

    whole = ask(site, "GET", "/api/v1/drift").json()["result"]
    one = ask(site, "GET", "/api/v1/drift/shop").json()["result"]
    none = ask(site, "GET", "/api/v1/drift/shpo")

    assert (whole["untracked"], len(whole["reports"]), whole["age_seconds"]) == (["job"], 1, 1.0)
    assert (one["project_name"], one["status"], one["age_seconds"]) == ("shop", "drifted", 1.0)
    assert none.status_code == 404
    assert error_of(none)["details"]["near_matches"] == ["shop"]


def test_the_openapi_document_describes_every_route_and_the_error_envelope() -> None:
    document = ask(site_of(), "GET", "/openapi.json").json()

    paths = document["paths"]
    assert {f"/api/v1/tools/{tool.name}" for tool in TOOLS} <= set(paths)
    assert {"/", "/metrics", "/-/healthy", "/-/ready", "/openapi.json", "/api/v1/drift/{project}"} <= set(paths)
    assert "ErrorEnvelope" in document["components"]["schemas"]
    info = paths["/api/v1/containers/{container_id}/logs"]["get"]
    assert {"container_id", "tail", "since"} <= {each["name"] for each in info["parameters"]}
    assert info["responses"]["404"]["content"]["application/json"]["schema"]["$ref"].endswith("ErrorEnvelope")


@pytest.mark.parametrize("path", ["/", "/metrics", "/-/healthy", "/-/ready", "/api/v1/drift"])
def test_the_openapi_document_knows_what_the_gate_answers_before_every_address(path: str) -> None:
    described = ask(site_of(), "GET", "/openapi.json").json()["paths"][path]["get"]["responses"]

    for headers in ({"host": "evil.example"}, {"origin": "https://evil.example"}, {"x-many": "x" * 17_000}):
        answer = ask(site_of(), "GET", path, headers=headers)
        assert list(described[str(answer.status_code)]["content"]) == [answer.headers["content-type"]]
    assert ("401" in described) is not path.startswith("/-/")


def test_the_openapi_document_knows_both_formats_of_the_metrics() -> None:
    document = ask(site_of(), "GET", "/openapi.json").json()
    described = document["paths"]["/metrics"]["get"]["responses"]["200"]["content"]

    for accepted in ("text/plain", "application/openmetrics-text; version=1.0.0"):
        answer = ask(site_of(), "GET", "/metrics", headers={"accept": accepted})
        assert answer.headers["content-type"].partition(";")[0] in described


def test_every_reference_in_the_openapi_document_resolves() -> None:
    document = ask(site_of(), "GET", "/openapi.json").json()

    def references(node: Any) -> set[str]:
        if isinstance(node, dict):
            own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
            return own.union(*(references(value) for value in node.values()))
        return set().union(*(references(value) for value in node)) if isinstance(node, list) else set()

    for reference in references(document):
        node = document
        for part in reference.removeprefix("#/").split("/"):
            node = node[part]


def test_a_head_request_is_answered_like_a_get() -> None:
    assert ask(site_of(), "HEAD", "/metrics").status_code == 200
    assert ask(site_of(context_of()), "HEAD", "/api/v1/health").status_code == 200


def test_alerts_are_told_as_they_were_judged_last_with_their_age() -> None:
    clock = Clock()
    context = context_of(monotonic=clock)
    assert ask(site_of(context), "GET", "/api/v1/alerts").status_code == 503
    alert = Alert(name="X", severity="warning", state="firing", since=NOON, fired_at=NOON)
    context.scans.publish_alerts(AlertRound(AlertsReport(timestamp=NOON, alerts=(alert,)), clock.at))
    clock.at += 7

    result = ask(site_of(context), "GET", "/api/v1/alerts").json()["result"]

    assert result["age_seconds"] == 7
    assert [(one["name"], one["state"], one["fired_at"]) for one in result["alerts"]] == [
        ("X", "firing", "2026-01-01T12:00:00Z")
    ]
